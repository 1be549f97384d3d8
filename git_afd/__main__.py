"""``python -m git_afd`` is ``git-afd``."""

import sys

from git_afd.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
