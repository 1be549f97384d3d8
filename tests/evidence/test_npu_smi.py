"""Tables in the shapes that products and drivers print; the figures are made up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_afd.core.evidence.npu_smi import NpuTable, Unknown, left_on, not_released, parse_npu_smi

LINE = "+---------------------------+---------------+----------------------------------------------------+"
BOLD = LINE.replace("-", "=")

A2 = f"""
{LINE}
| npu-smi 25.5.2                   Version: 25.5.2                                               |
{LINE}
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
{BOLD}
| 2     910B2               | OK            | 91.5        35                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3397 / 65536         |
{BOLD}
| 5     910B2               | Warning       | 170.3       52                15   / 15            |
| 0                         | 0000:41:00.0  | 71          839  / 15170      31877/ 65536         |
{BOLD}
{LINE}
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
{BOLD}
| No running processes found in NPU 2                                                            |
{BOLD}
| 5       0                 | 1333928       | VLLM::EngineCor          | 28400                   |
| 5       0                 | 1333931       |                          | 122                     |
{BOLD}
"""

A3 = f"""
{LINE}
| npu-smi 26.0.rc1                            Version: 26.0.rc1                                  |
{LINE}
| NPU   Name                | Health        | Power(W)             Temp(C)   Hugepages-Usage(page) |
| Chip  Phy-ID              | Bus-Id        | AICore(%)            Memory-Usage(MB)  HBM-Usage(MB) |
{BOLD}
| 0     Ascend910           | OK            | 163.9                34        0    / 0              |
| 0     0                   | 0000:9D:00.0  | 0                    0    / 0  3130 / 65536          |
{LINE}
| 0     Ascend910           | OK            | -                    33        0    / 0              |
| 1     1                   | 0000:9F:00.0  | 0                    0    / 0  2887 / 65536          |
{BOLD}
{LINE}
| NPU     Chip              | Process id    | Process name    | Process memory(MB)   | Container ID |
{BOLD}
| 0       1                 | 4242          | python3         | NA                   | 3f2a9c       |
{BOLD}
"""

P310 = f"""
{LINE}
| NPU     Name              | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device            | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
{BOLD}
| 3       310P3             | OK              | NA           41                0     / 0             |
| 0       0                 | 0000:3B:00.0    | 0            1620 / 44280                            |
{BOLD}
| NPU ID                    | Process id      | Process name             | Process memory(MB)        |
{BOLD}
| No running processes found in NPU 3                                                                |
{BOLD}
"""


def read(text: str) -> NpuTable:
    table = parse_npu_smi(text)
    assert isinstance(table, NpuTable), table
    return table


def test_a_card_with_one_chip_is_read() -> None:
    table = read(A2)
    assert table.version == "25.5.2"
    assert [(c.npu, c.chip, c.physical, c.name, c.health, c.power_w, c.hbm_mb) for c in table.chips] == [
        (2, 0, None, "910B2", "OK", 91.5, (3397, 65536)),
        (5, 0, None, "910B2", "Warning", 170.3, (31877, 65536)),
    ]
    assert [(p.npu, p.pid, p.name, p.memory_mb) for p in table.processes] == [
        (5, 1333928, "VLLM::EngineCor", 28400),
        (5, 1333931, "", 122),
    ]


def test_two_chips_a_physical_id_no_power_and_a_container_column_are_read() -> None:
    table = read(A3)
    assert [(c.chip, c.physical, c.power_w, c.used_mb) for c in table.chips] == [
        (0, 0, 163.9, 3130),
        (1, 1, None, 2887),
    ]
    assert table.processes[0].as_json() == {
        "npu": 0,
        "chip": 1,
        "pid": 4242,
        "name": "python3",
        "memory_mb": None,
        "container": "3f2a9c",
    }


def test_a_product_without_hbm_counts_its_memory() -> None:
    table = read(P310)
    assert (table.chips[0].hbm_mb, table.chips[0].used_mb) == (None, 1620)
    assert table.processes == ()
    assert table.version == ""


def test_noise_around_the_table_is_passed_over() -> None:
    assert read("root@host:~# npu-smi info\nwarning: old firmware\n" + A2 + "root@host:~#\n") == read(A2)


# text, why it is unknown
UNKNOWN = [
    ("", "no table was printed; it said: nothing"),
    ("dcmi module initialize failed. ret is -8005\n", "it said: dcmi module initialize failed"),
    (A2[: A2.index("| NPU     Chip")], "not one table of devices and one of processes"),  # killed half-way
    (A2.replace("| No running processes found in NPU 2", "| 5  0 | 7 | x | 1 |\n| ", 1), "process row is unknown"),
    ("\n".join(A2.splitlines()[:-1]), "the table is cut off"),
    (A2.replace("| 0                         | 0000:C1:00.0", "| 0                         ", 1), "other columns"),
    (A2.replace("3397 / 65536", ""), "other memory columns than its header"),
    (A2.replace("0    / 0          3397 / 65536", "a lot"), "a device row is unknown"),
    (A2.replace("| 5     910B2", "| 2     910B2"), "a chip is listed twice"),
    (A2.replace("| 5     910B2", "| five  910B2"), "'five' stands where a number was expected"),
    (A2.replace("1333928", "13339*8"), "'13339*8' stands where a number"),
    (A2.replace("Process name   ", "Wer ist das    "), "process table's header is unknown"),
    (A2.replace("| Chip     ", "| Die      "), "device table's header is unknown"),
    # nobody said that NPU 2 is idle: silence is not idleness
    (A2.replace("No running processes found in NPU 2", "No running processes found in NPU 7"), "differ about NPU 2, 7"),
    ("\n".join(line for line in A2.splitlines() if "found in NPU 2" not in line), "differ about NPU 2"),
    (A2.replace("OK            | 91.5", "              | 91.5"), "a device row is unknown"),  # no health at all
    (A2.replace("| 2     910B2               |", "|                           |"), "'' stands where a number"),
    (A2 + A2, "not one table of devices"),
]


@pytest.mark.parametrize(("text", "why"), UNKNOWN)
def test_what_is_not_understood_whole_is_unknown_and_says_why(text: str, why: str) -> None:
    answer = parse_npu_smi(text)
    assert isinstance(answer, Unknown)
    assert why in answer.reason


# after the run, what is left
AFTER = [
    (A2, ()),
    (A2.replace("3397 /", "3600 /"), ()),  # idle memory breathes
    (A2.replace("3397 /", "9000 /"), ("NPU 2 chip 0: 9000 MB in use, 3397 MB before",)),  # held without a process
    (
        A2.replace(
            "| No running processes found in NPU 2 ", "| 2 0 | 77 | VLLMWorker | 5 |\n| 5 0 | 1333928 | x | 5 |#"
        ),
        ("77 VLLMWorker",),
    ),
    (A2.replace("| OK ", "| Alarm "), ("NPU 2 chip 0: Alarm, was OK",)),
    (A2.replace("2     910B2", "4     910B2").replace("in NPU 2", "in NPU 4"), ("NPU 4 chip 0: OK, was not there",)),
]


@pytest.mark.parametrize(("text", "left"), AFTER)
def test_cleaning_up_is_judged_against_the_state_before(text: str, left: tuple[str, ...]) -> None:
    after = read("\n".join(line.partition("#")[0] for line in text.splitlines()))
    chips = (f"NPU {npu} chip {chip}: {said}" for npu, chip, said in not_released(read(A2), after))
    found = (*(f"{one.pid} {one.name}" for one in left_on(read(A2), after)), *chips)
    assert found[: len(left)] == left
    assert bool(found) is bool(left)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(A2.splitlines() + A3.splitlines())).map("\n".join)))
def test_any_text_is_a_table_or_unknown(text: str) -> None:
    answer = parse_npu_smi(text)
    if isinstance(answer, NpuTable):
        assert answer.chips
    else:
        assert answer.reason
