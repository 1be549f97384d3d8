"""The CANN toolkit's own file of key=value lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_afd.core.identity.cann import CannInstall, read_install_info

FULL = (
    "package_name=Ascend-cann-toolkit\nversion=8.5.1\n"
    "innerversion=V100R001C25\narch=aarch64\npath=/usr/local/Ascend/8.5.1\n"
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        # a complete file
        (FULL, CannInstall("8.5.1", "V100R001C25", "aarch64", "/usr/local/Ascend/8.5.1")),
        # white space, quotes, carriage returns and capitals
        (' Version = "9.0.1" \r\n', CannInstall("9.0.1", "", "", "")),
        # an upgrade in place appends: the last line counts
        ("version=8.5.0\nversion=8.5.1\n", CannInstall("8.5.1", "", "", "")),
        # no version, an empty one, a comment, nothing
        ("arch=aarch64\n", None),
        ("version=\n", None),
        ("# version=8.5.1\n", None),
        ("", None),
    ],
)
def test_install_info_states_version(text: str, read: CannInstall | None) -> None:
    assert read_install_info(text) == read


@given(st.text())
def test_any_text_is_read_without_raising(text: str) -> None:
    read = read_install_info(text)
    assert read is None or read.version
