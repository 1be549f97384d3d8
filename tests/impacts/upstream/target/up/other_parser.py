import logging

logger = logging.getLogger(__name__)


class OtherParser:
    def read(self, text): ...


def helper_of_other(text): ...
