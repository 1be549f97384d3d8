"""One door for each thing outside: git, objects, the ledger, worktrees, processes, the host, configuration."""
