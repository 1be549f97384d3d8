"""git-afd: upgrade a plugin that sits on two pinned upstream repositories, as a gated state machine inside git.

This module stays empty of imports: the hook path starts here and pays for every one of them.
"""

__version__ = "0.1.0"
