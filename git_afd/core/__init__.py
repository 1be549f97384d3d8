"""Pure rules: no files, clocks, processes, git or click in here."""
