"""What a target does to a contract: both sides are read as facts and the use is held against the new ones."""
