"""One file per verb: gather, decide, apply; each returns an Outcome."""
