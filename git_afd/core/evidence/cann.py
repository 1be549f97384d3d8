"""Reads ``ascend_toolkit_install.info``, the key=value file in which a CANN toolkit says its version."""

from __future__ import annotations


def parse_cann_info(text: str) -> dict[str, str] | None:
    """Return the file's keys and values, None when it names no version: then nobody knows it."""
    pairs = [line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#")]
    values = {key.strip(): value.strip() for key, _, value in pairs}
    return values if values.get("version") else None
