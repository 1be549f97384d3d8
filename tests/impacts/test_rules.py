"""Every rule that proposes a class: a contract that it fits, and one beside it that another rule takes."""

from __future__ import annotations

import json

import pytest
from pair import contract, effect_of
from test_compare import (
    ADDED_THERE,
    CONFIG,
    CORE,
    ENGINE,
    METHOD,
    below,
    call,
    mine,
    name,
    override,
    patch,
    read,
)

from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.uses import Attribute, Copy, Pin
from git_afd.core.impacts.effect import Effect
from git_afd.core.impacts.rows import row_of
from git_afd.core.impacts.rules import RULES, propose
from git_afd.core.workbook.impacts import parse_impacts

BOX = name("up/boxes.py::Box", "up.boxes.Box", place="guarded")
STOP = patch("up/core.py::Engine.renamed_here", ENGINE, mine("self", "a"), METHOD)
COLLIDES = contract("attribute-read", "up/worker/base.py::Base.released", ADDED_THERE)
SET = contract(
    "attribute-read", "up/setter.py::prepare", Attribute(1, "x", "extra", "x.extra", "read", presence="set elsewhere")
)


def copy(symbol: str) -> Contract:
    return contract("copied-body", symbol, Copy(1, 0.9))


# rule, class, a contract that it fits, one that it does not fit
SIDES = [
    ("unknown", "", name("up/broken.py::broken"), name("up/calls.py::same")),
    ("operators", "BEHAVIORAL", call("registers"), call("same", 2)),  # what registers nothing knows no torch
    ("same", "NONE", call("same", 2), call("guarded", 0)),  # not what is there under a condition only
    (
        "copy-moved",
        "NONE",
        contract("shadow-copy", "up/homes.py::moves", Copy(1, 0.9)),
        contract("shadow-copy", "up/homes.py::moves_changed", Copy(1, 0.9)),  # and reads otherwise there
    ),
    (
        "pin",
        "MECHANICAL",
        contract("pin", "", Pin(1, "1.0", "pin"), named="vllm"),
        contract("pin", "", Pin(1, "2.0", "pin"), named="vllm"),
    ),
    ("base-changed", "ARCHITECTURAL", below("Mixed"), below("Base", "mine")),
    ("seam-gone", "ARCHITECTURAL", override("dead_hook", mine("self")), override("hook", mine("self"))),  # still called
    (
        "class-gone",
        "ARCHITECTURAL",
        read("up/config.py::Flags.on", "up.config.Flags"),
        read("up/config.py::Config.dropped", CONFIG),
    ),
    ("seam-replaced", "ARCHITECTURAL", STOP, call("renamed_only", 2)),
    ("provided-for", "BEHAVIORAL", name("up/config.py::Flags", place="guarded"), name("up/config.py::Flags")),
    ("gone", "BEHAVIORAL", call("gone"), call("gone", soft=True)),
    ("collision", "BEHAVIORAL", COLLIDES, BOX),
    ("added", "BEHAVIORAL", BOX, COLLIDES),
    ("binds-wrongly", "BEHAVIORAL", call("renamed_first", 2), call("renamed_only", 2)),
    ("return-shape", "BEHAVIORAL", call("pair", unpacked=2), call("annotated")),
    ("order", "BEHAVIORAL", copy("up/calls.py::order"), call("order")),  # a call does not stand for the body
    ("default", "BEHAVIORAL", call("default"), call("now_optional")),
    ("value", "BEHAVIORAL", name("up/config.py::LIMIT"), name("up/config.py::KEPT")),
    ("body", "BEHAVIORAL", copy("up/calls.py::body"), call("body")),
    ("state-writes", "BEHAVIORAL", call("writes"), call("body")),
    ("words", "MECHANICAL", call("words"), call("body")),
    ("annotations", "MECHANICAL", call("annotated"), call("now_optional")),
    ("moved", "MECHANICAL", name("up/homes.py::moves"), name("up/homes.py::decoy")),
    ("unreachable", "MECHANICAL", name("up/calls.py::guarded"), name("up/calls.py::same")),
    ("signature", "MECHANICAL", call("keyword_gone", keywords=("scale",)), call("same", 2)),
    ("inside", "MECHANICAL", call("body"), patch("up/core.py::Engine.start", ENGINE, mine("self", "config"), METHOD)),
]


@pytest.mark.parametrize(("rule", "class_", "fits", "fits_not"), SIDES, ids=[row[0] for row in SIDES])
def test_a_rule_fits_on_one_side_only(rule: str, class_: str, fits: Contract, fits_not: Contract) -> None:
    found = propose(effect_of(fits))
    assert (found.rule, found.class_) == (rule, class_), effect_of(fits).reason
    assert propose(effect_of(fits_not)).rule != rule


def test_what_the_rules_propose_can_be_recorded() -> None:
    rows = [row_of(effect_of(contract), None, ()).as_json() for _, _, contract, _ in SIDES]
    whole = [{**row, "id": f"I-{place}", "contract": f"C-{place}"} for place, row in enumerate(rows)]
    assert parse_impacts({"impact": json.loads(json.dumps(whole))})[1] == []


def test_every_rule_has_cases() -> None:
    assert [row[0] for row in SIDES] == [rule.id for rule in RULES[:-1]]


def test_what_no_rule_names_is_behavioral() -> None:
    assert propose(Effect(call("same", 2), "body-changed", "somehow")).rule == RULES[-1].id == "differs"


def test_an_attribute_that_is_still_set_is_no_change_though_its_setter_changed() -> None:
    assert propose(effect_of(SET)).class_ == "NONE"


def test_a_patch_of_a_module_that_only_passes_the_name_on_breaks() -> None:
    assert effect_of(patch("up/core.py::local_only", CORE, mine("a"))).breaking
