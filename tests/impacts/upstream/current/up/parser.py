import logging

logger = logging.getLogger(__name__)


class OldParser:
    def read(self, text): ...


def helper_of_old(text): ...
