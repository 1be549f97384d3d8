"""Options, help and exit codes. Does no work."""
