from __future__ import annotations

from dataclasses import replace

import pytest
from pair import RENAMES, contract, effect_of, sides

from git_afd.core.contracts.model import Contract
from git_afd.core.contracts.uses import (
    Attribute,
    Call,
    Copy,
    Fake,
    Import,
    Mention,
    Override,
    Patch,
    Pin,
    Subclass,
    Variable,
)
from git_afd.core.impacts.compare import compare
from git_afd.core.source.definitions import Parameter, Signature


def call(symbol: str, positional: int = 1, **more: object) -> Contract:
    use = Call(1, more.pop("bound", "function"), positional, **more)  # type: ignore[arg-type]  # table shorthand
    return contract("call", f"up/calls.py::{symbol}", use)


CALLS = [
    (call("same", 2), "unchanged", False),  # comments, docstring and formatting do not count
    (call("body"), "body-changed", False),
    (call("words"), "body-changed", False),  # only messages differ
    (call("renamed_first", 2), "signature-changed", True),  # it binds, and means something else
    (call("renamed_first", 0, keywords=("size",), star_star=True), "signature-changed", False),  # not by position
    (call("renamed_only", 2), "signature-changed", False),  # the same parameter under another name
    (call("renamed_meaning", 2), "signature-changed", True),  # same body, and upstream passes something else now
    (call("inserted", 2), "signature-changed", True),  # the second argument goes to an inserted parameter
    (call("inserted", 1, keywords=("b",)), "signature-changed", True),  # and a required one is missing
    (call("keyword_gone", keywords=("scale",)), "signature-changed", True),
    (call("keyword_gone"), "signature-changed", False),  # the use does not pass it
    (call("takes_any", keywords=("scale",)), "signature-changed", False),  # **more accepts it
    (call("now_required"), "signature-changed", True),
    (call("now_required", star=True), "signature-changed", False),  # *arguments may bring it
    (call("now_optional"), "signature-changed", False),
    (call("default"), "value-changed", False),
    (call("annotated"), "signature-changed", False),
    (call("pair", unpacked=2), "return-changed", True),
    (call("pair", unpacked=1, unpacked_star=True), "return-changed", False),  # a star takes the rest
    (call("pair", discarded=True), "return-changed", False),
    (call("pair_to_object", unpacked=2), "return-changed", True),
    (call("pair_or_none", unpacked=2), "return-changed", True),
    (call("plain"), "return-changed", True),  # one value became a tuple
    (call("plain", discarded=True), "return-changed", False),
    (call("gives_on"), "return-changed", True),  # what it gives on became a tuple, itself reads as before
    (call("gives_on", discarded=True), "return-changed", False),
    (call("gives_on_changed"), "return-changed", True),  # its annotation says the same, its inside is another
    (call("gives_on_same"), "unchanged", False),
    (contract("call", "up/calls.py::Giver.give", Call(1, "method", 0, unpacked=2)), "return-changed", True),
    (call("listed"), "return-changed", True),  # a list became a generator
    (call("listed", discarded=True), "return-changed", False),
    (call("none_now"), "return-changed", True),
    (call("none_now", discarded=True), "return-changed", False),
    (call("awaited"), "signature-changed", True),  # a coroutine that nobody awaits
    (call("awaited", awaited=True), "signature-changed", False),
    (call("was_async", awaited=True), "signature-changed", True),
    (call("managed", entered=True), "signature-changed", True),  # ``with`` needs a context manager
    (call("managed_later"), "signature-changed", True),
    (call("gives_result", 0, attributes=("cost",)), "return-changed", True),  # read on what comes back
    (call("gives_result", 0, attributes=("tokens",)), "return-changed", False),
    (call("wrong_in_both", 3), "unchanged", False),  # it did not bind in our reading before either
    (call("gone"), "removed", True),
    (call("gone", soft=True), "removed", False),
    (call("guarded", 0), "unchanged", True),  # it is there under a condition only
    (call("relies_on_decorator"), "body-changed", False),
    (contract("call", "up/config.py::Point", Call(1, "constructor", 2)), "signature-changed", True),  # a field is new
    (contract("call", "up/config.py::Plain", Call(1, "constructor", 2)), "signature-changed", True),
    (contract("call", "up/config.py::Plain", Call(1, "constructor", 1)), "signature-changed", False),
    (contract("call", "up/config.py::Config", Call(1, "constructor", 1)), "moved", False),  # the old name leads there
    (contract("call", "up/config.py::Config", Call(1, "constructor", 1, ("dropped",))), "moved", True),
    (contract("call", "up/core.py::Engine.step", Call(1, "method", 1)), "unchanged", False),
    (contract("call", "up/core.py::Engine.stop", Call(1, "method", 0)), "signature-changed", True),
    (contract("call", "up/core.py::Engine.build", Call(1, "class-method", 1)), "unchanged", False),
    (contract("call", "up/core.py::Engine.step", Call(1, "unbound", 2)), "unchanged", False),
    (contract("call", "up/core.py::Engine.lost", Call(1, "method", 0)), "member-removed", True),
    (contract("call", "up/core.py::Engine.lifted", Call(1, "method", 1)), "moved", False),  # into a new base class
    (contract("call", "up/core.py::Engine.renamed_here", Call(1, "method", 1)), "replaced", True),
]


def name(symbol: str, named: str = "", **more: object) -> Contract:
    use = Import(1, "x", more.pop("place", "module"), **more)  # type: ignore[arg-type]  # table shorthand
    return contract("import", symbol, use, named=named)


IMPORTS = [
    (name("up/calls.py::same"), "unchanged", False),
    (name("up/calls.py::body"), "unchanged", False),  # the name is there: what stands behind it is its callers' affair
    (name("up/core.py"), "unchanged", False),  # a module
    (name("up/before_rename.py"), "moved", True),
    (name("up/core.py::Engine", "up.Engine"), "moved", True),  # the re-export is gone, the class stays
    (name("up/core.py::run", "up.run_all"), "unchanged", False),  # a re-export under another name
    (name("up/config.py::Config", "up.Lazy"), "moved", False),  # a lazy table follows it
    (name("up/config.py::Config"), "moved", False),  # a re-export keeps the old binding
    (name("up/config.py::Flags", "up.LazyGone"), "removed", True),
    (name("up/config.py::Flags", place="guarded"), "removed", False),  # the plugin has another way
    (name("up/config.py::Flags", place="type-checking"), "removed", False),  # nothing runs
    (name("up/config.py::Flags", place="inline"), "removed", True),
    (name("up/config.py::Flags", runtime=False), "removed", True),  # used in annotations, and still imported
    (name("up/homes.py::Box"), "moved", True),  # it comes under TYPE_CHECKING only now
    (name("up/config.py::LIMIT"), "value-changed", False),
    (name("up/config.py::KEPT"), "unchanged", False),
    (name("up/calls.py::guarded"), "unchanged", True),  # defined under a condition only
    (name("up/worker/base.py::Layer"), "signature-changed", False),  # a function makes the object now
    (name("up/worker/base.py::Layer", held=True), "signature-changed", True),  # and isinstance takes no function
    (name("up/worker/base.py::Base", held=True), "unchanged", False),
    (name("up/broken.py::broken"), "unknown", False),  # never unchanged
]


def read(symbol: str, owner: str, access: str = "read", **more: object) -> Contract:
    attribute = symbol.rpartition(".")[2]
    use = Attribute(1, owner, attribute, f"x.{attribute}", access, **more)  # type: ignore[arg-type]  # shorthand
    return contract("attribute-read", symbol, use)


HOMES = [
    (name("up/homes.py::moves"), "moved", True),  # same name, same body, one candidate
    (name("up/homes.py::moves_changed"), "moved", True),  # same name, alike
    (name("up/homes.py::decoy"), "removed", True),  # the same body under another name elsewhere is no home
    (name("up/homes.py::other_body_same_name"), "removed", True),  # nor is the name alone
    (name("up/homes.py::copied_long_ago"), "removed", True),  # that copy was there before
    (name("up/homes.py::two_homes"), "removed", True),  # two candidates, no reason to prefer one
    (name("up/homes.py::followed"), "moved", True),  # two candidates, and its importer followed one
    (name("up/homes.py::tiny"), "removed", True),  # too small for its body to say anything
    (name("up/homes.py::under_new_name"), "replaced", True),  # the same body in the same place, another name
    (name("up/before_rename.py::in_renamed_file"), "moved", True),  # git sees the file renamed
    (name("up/parser.py"), "removed", True),  # git sees a rename, and the file defines other things
    (read("up/parser.py::logger", "up.parser"), "removed", True),  # every module has one
    (name("up/before_rename.py::changed_beyond_recognition"), "removed", True),
]


CONFIG = "up.config.Config"
READS = [
    (read("up/config.py::Config.untouched", CONFIG), "moved", False),  # the class moved, the object has it
    (read("up/config.py::Config.limit", CONFIG), "moved", False),
    (read("up/config.py::Config.dropped", CONFIG), "member-removed", True),
    (read("up/config.py::Config.dropped", CONFIG, soft=True), "member-removed", False),  # getattr with a default
    (read("up/config.py::Config.dropped", CONFIG, "written"), "member-removed", True),  # nobody reads it
    (read("up/config.py::Config.mode", CONFIG), "moved", False),  # a default that is spelt as a field is the same
    (read("up/config.py::Config.total", CONFIG), "moved", True),  # a property became a method
    (read("up/config.py::Config.turned", CONFIG, "called"), "moved", True),  # a method became a property
    (read("up/config.py::Config.describe", CONFIG), "moved", False),
    (read("up/config.py::Flags.on", "up.config.Flags"), "removed", True),  # its class is gone
    (read("up/core.py::Engine.ready", "up.core.Engine"), "value-changed", False),
    (read("up/core.py::Engine.config", "up.core.Engine"), "unchanged", False),
    (read("up/config.py::LIMIT", "up.config"), "value-changed", False),
    (read("up/brackets.py::SPELT", "up.brackets"), "unchanged", False),  # the same expression in brackets
    (read("up/setter.py::prepare", CONFIG, presence="set elsewhere"), "member-removed", True),  # of that name
]

PENDING = 47  # the line of plug.py on which the holder reads what it has not given itself yet


def shared(attribute: str, line: int = PENDING) -> Contract:
    use = Attribute(line, "plug.Holder", attribute, f"self.{attribute}", "read")
    return contract("inherited-read", f"up/worker/base.py::Stateful.{attribute}", use, plugin="plug.py::Holder.run")


SHARED = [
    (shared("pending"), "member-removed", True),  # the base does not give it any more, the plugin only afterwards
    (shared("pending", PENDING + 2), "member-removed", False),  # read after the plugin's own assignment
    (shared("sized"), "member-removed", False),  # another method of the plugin gives it
    (shared("kept"), "unchanged", False),  # the value is the plugin's own
    (shared("only_read"), "value-changed", False),
]

SET = Attribute(1, "up.config.Plain", "extra", "x.extra", "read", presence="set elsewhere")
LOST = Attribute(1, "up.config.Plain", "lost_extra", "x.lost_extra", "read", presence="set elsewhere")
OTHER = Attribute(1, "up.config.Plain", "other_extra", "x.other_extra", "read", presence="set elsewhere")
TAKEN = Attribute(1, "up.config.Plain", "ready", "x.ready", "read", presence="set elsewhere")
OWNERLESS = Attribute(1, "up.config.Flags", "extra", "x.extra", "read", presence="set elsewhere")
TOLD = Attribute(1, "up.config.Plain", "told_extra", "x.told_extra", "read", presence="set elsewhere")
ADDED = Attribute(1, "up.config.Plain", "mine", "x.mine", "written", presence="added")
ADDED_THERE = Attribute(1, "up.worker.base.Base", "released", "x.released", "written", presence="added")
PROVIDED = Attribute(1, "up.worker.base.Base", "released", "x.released", "written", soft=True, presence="added")
ELSEWHERE = [
    (contract("attribute-read", "up/setter.py::prepare", SET), "unchanged", False),  # the function still sets it
    (contract("attribute-read", "up/setter.py::prepare", LOST), "member-removed", True),
    (contract("attribute-read", "up/setter.py::prepare", OTHER), "moved", False),  # another function sets it
    (contract("attribute-read", "up/setter.py::prepare", TAKEN), "member-removed", True),  # on self: another object's
    (contract("attribute-read", "up/setter.py::prepare", OWNERLESS), "removed", True),  # its class is gone
    (contract("attribute-read", "up/setter.py::prepare", TOLD), "member-removed", True),  # on an object of another name
    (contract("attribute-read", "up/config.py::Plain.mine", ADDED), "unchanged", False),  # the plugin's own
    (contract("attribute-read", "up/worker/base.py::Base.released", ADDED_THERE), "member-added", True),
    (contract("attribute-read", "up/worker/base.py::Base.released", PROVIDED), "member-added", False),  # where it is
]


def mine(*names: str, returns: str | None = None, extra: str = "") -> Signature:
    kinds = [Parameter(item, "positional") for item in names]
    rest = [Parameter(extra, "var-keyword")] if extra else []
    return Signature((*kinds, *rest), returns)


def patch(
    symbol: str, owner: str, signature: Signature | None, form: str = "module-attribute", **more: object
) -> Contract:
    use = Patch(1, owner, form, "plug.x", signature=signature, **more)  # type: ignore[arg-type]  # table shorthand
    plugin = f"plug.py::{symbol.rpartition('::')[2].rpartition('.')[2]}"
    return contract("monkeypatch", symbol, use, plugin=plugin)


def standing(upstream: str, own: str) -> Contract:
    use = Patch(1, "up.pump", "module-attribute", f"plug.{own}")
    return contract("monkeypatch", f"up/pump.py::{upstream}", use, plugin=f"plug.py::{own}")


CORE, ENGINE = "up.core", "up.core.Engine"
METHOD = "class-attribute"
PREPARED = "up.worker.base.Prepared"
PATCHES = [
    (patch("up/core.py::seam_required", CORE, mine("batch")), "signature-changed", True),
    (patch("up/core.py::seam_required", CORE, mine("batch", extra="more")), "signature-changed", True),  # by position
    (patch("up/core.py::seam_optional", CORE, mine("batch")), "signature-changed", True),  # and upstream passes it
    (patch("up/core.py::seam_optional", CORE, mine("batch", extra="more")), "signature-changed", False),
    (patch("up/core.py::seam_optional_unpassed", CORE, mine("batch")), "signature-changed", False),  # nobody passes it
    (patch("up/core.py::seam_pair", CORE, mine("batch")), "return-changed", True),  # callers unpack three
    (patch("up/core.py::seam_float", CORE, mine("batch", returns="float")), "return-changed", True),
    (patch("up/core.py::local_only", CORE, mine("a")), "moved", True),  # only passed on: looked up elsewhere now
    (patch("up/core.py::calls_local", CORE, mine("a")), "moved", True),  # not even bound there any more
    (patch("up/core.py::helper", CORE, mine("a")), "unchanged", True),  # another upstream assigns it as well now
    (patch("up/core.py::helper", CORE, mine("a"), "alias"), "unchanged", True),
    (patch("up/core.py::seam", CORE, mine("batch", "size")), "unchanged", False),  # it always did
    (
        patch("up/follower.py::seam_optional", "up.follower", mine("batch"), "alias"),
        "signature-changed",
        False,
    ),  # not here
    (standing("Pump", "MyPump"), "unchanged", True),  # upstream passes ready where it makes one
    (standing("Pump", "AnyPump"), "unchanged", False),
    (standing("Valve", "MyPump"), "unchanged", True),  # kind is required now
    (standing("Valve", "AnyPump"), "unchanged", False),
    (patch("up/core.py::unused_alias", CORE, mine("a"), "alias"), "removed", True),  # the alias is gone
    (patch("up/core.py::Engine.start", ENGINE, mine("self", "config"), METHOD), "body-changed", True),  # in every case
    (patch("up/core.py::Derived.start", "up.core.Derived", mine("self", "config"), METHOD), "body-changed", False),
    (patch("up/core.py::Engine.stop", ENGINE, mine("self"), METHOD), "signature-changed", True),
    (
        patch("up/core.py::Engine.build", ENGINE, mine("cls", "config"), METHOD, wrapped="classmethod"),
        "unchanged",
        False,
    ),
    (patch("up/worker/base.py::Prepared.__init__", PREPARED, mine("self", "size"), METHOD), "body-changed", True),
    (
        patch("up/worker/base.py::Prepared.__init__", PREPARED, mine("self", "size"), METHOD, saved="x"),
        "body-changed",
        False,
    ),  # the original is kept, and called
    (patch("up/core.py::Engine.lost", ENGINE, mine("self"), METHOD), "member-removed", True),
    (patch("up/core.py::Derived.stop", "up.core.Derived", mine("self", "force"), METHOD), "signature-changed", False),
    (patch("up/core.py::Engine.lifted", ENGINE, mine("self", "a"), METHOD), "moved", False),  # still found through it
    (patch("up/config.py::Flags.on", "up.config.Flags", None, METHOD), "removed", True),
    (patch("up/config.py::LIMIT", "up.config", None), "value-changed", False),
    (patch("up/core.py::Engine.mine", ENGINE, mine("self"), METHOD, added=True), "unchanged", False),
]


def override(
    member: str,
    signature: Signature | None,
    *supers: Call,
    of: str = "Base",
    own: str = "",
    klass: str = "Mine",
    file: str = "plug.py",
) -> Contract:
    use = Override(1, f"up.worker.base.{of}", 1, signature, supers)
    return contract("override", f"up/worker/base.py::{of}.{member}", use, plugin=f"{file}::{klass}.{own or member}")


SIZED = mine("self", "size")
OVERRIDES = [
    (override("load", mine("self", "path")), "signature-changed", True),  # upstream must pass what it lacks
    (override("load", mine("self", "path", "strict")), "signature-changed", False),
    (override("forward", mine("self", "batch")), "body-changed", False),
    (override("called_with_more", mine("self", "batch")), "signature-changed", True),  # a caller passes stream
    (override("called_with_more", mine("self", "batch", extra="more")), "signature-changed", False),
    (override("narrow", mine("self", "batch", "extra")), "signature-changed", True),  # upstream passes less
    (override("hook", mine("self")), "member-removed", False),  # gone from the base, and still called
    (override("hook", mine("self"), Call(1, "super", 0)), "member-removed", True),  # super() has none
    (override("dead_hook", mine("self")), "member-removed", True),  # nobody calls it any more
    (override("shape", mine("self")), "return-changed", True),  # callers unpack three
    (override("warm", mine("self", returns="float")), "return-changed", True),  # an object is promised now
    (override("warm", mine("self", returns="Times"), own="promised"), "return-changed", False),
    (override("value", mine("self")), "signature-changed", False),
    (override("__init__", mine("self", "size"), of="Made"), "signature-changed", True),  # who makes one passes ready
    (
        override("__init__", mine("self", "size"), of="MadeQuietly"),
        "signature-changed",
        False,
    ),  # it makes its own class
    (override("told", mine("self", "a"), of="Made"), "signature-changed", False),  # only super() passes loud
    (override("planned", mine("self"), of="Made"), "signature-changed", True),  # a caller passes one more by position
    (override("inner_step", mine("self", "a"), of="Made", own="other"), "signature-changed", True),
    (override("inner_step", mine("self", "a"), of="Made", klass="Steps"), "signature-changed", False),  # own outer_step
    (override("use", mine("self"), of="Left"), "removed", True),  # its base is gone
    (override("__init__", SIZED, of="Prepared", klass="HalfPrepared"), "body-changed", True),  # run() reads checked
    (override("__init__", SIZED, of="Prepared", klass="OwnRun"), "body-changed", False),  # its own run() does not
    (override("__init__", SIZED, Call(1, "super", 1), of="Prepared", klass="HalfPrepared"), "body-changed", False),
    (
        override("__init__", SIZED, of="Prepared", klass="Stub", file="stub.py"),
        "body-changed",
        False,
    ),  # it sets nothing
    (override("load", mine("self", "path", "strict"), Call(1, "super", 1)), "signature-changed", True),
]


def below(symbol: str, *own: str, plugin: str = "plug.py::Below") -> Contract:
    return contract("inherited-read", f"up/worker/base.py::{symbol}", Subclass(1, (), own), plugin=plugin)


FAMILIES = [
    (below("Base", "mine"), "unchanged", False),  # it gained members, none of which the plugin has
    (below("Base", "shutdown"), "member-added", True),  # the plugin's own method hides a new one
    (below("Base", "released"), "member-added", True),  # also an attribute that a method sets
    (below("Mixed"), "member-removed", False),  # a base of the base is gone
    (below("Shaped"), "member-added", True),  # a new abstract method that the plugin lacks
    (below("Shaped", "dtype"), "member-added", True),  # which it has by chance
    (below("Left"), "removed", True),
    (below("Layer"), "signature-changed", True),  # nothing can stand below a function
]


def carried(attribute: str) -> Contract:
    use = Attribute(1, "carrier.Carrier", attribute, f"self.{attribute}", "read")
    symbol = f"up/before_rename.py::Carried.{attribute}"
    return contract("inherited-read", symbol, use, plugin="carrier.py::Carrier.own")


CARRIED = [
    (carried("load"), "moved", False),  # the import of its base breaks: what the base gives is at its new home
    (carried("dropped"), "member-removed", True),  # the new home does not give it
]


def group(symbol: str, text: str) -> Contract:
    return contract("string-reference", f"up/groups.py::{symbol}", Mention(1, text, "entry point"), named=text)


OTHERS = [
    (group("SAME", "up.same"), "unchanged", False),  # the text is no dotted name, and leads nowhere
    (group("ELSEWHERE", "up.elsewhere"), "moved", False),  # said in another place now
    (group("OTHER", "up.other"), "value-changed", True),  # upstream asks for another group
    (group("GONE", "up.gone"), "removed", True),
    (
        contract("string-reference", "up/core.py::Engine", Mention(1, "up.core.Engine", "class path")),
        "unchanged",
        False,
    ),
    (contract("string-reference", "up/config.py::Flags", Mention(1, "up.config.Flags", "class path")), "removed", True),
    (contract("test-fake", "up/config.py::Flags", Fake(1, "patch target")), "removed", True),
    (contract("test-fake", "up/config.py::Flags", Fake(1, "sys.modules")), "removed", False),  # nothing is looked up
    (contract("test-fake", "up/core.py::Engine", Fake(1, "patch target")), "unchanged", False),
    (contract("copied-body", "up/core.py::Engine.start", Copy(1, 0.9)), "body-changed", False),
    (contract("copied-body", "up/calls.py::gone", Copy(1, 0.9)), "removed", False),  # a copy calls nothing
    (contract("shadow-copy", "up/calls.py::order", Copy(1, 0.9)), "body-changed", False),
    (contract("shadow-copy", "up/calls.py::same", Copy(1, 0.9)), "unchanged", False),
    (contract("copied-body", "up/dual.py::dual", Copy(1, 0.9)), "body-changed", False),  # each side's live branch
    (contract("copied-body", "up/dual.py::dual_same", Copy(1, 0.9)), "unchanged", False),  # only dead code differs
    (contract("environment", "up/envs.py::UP_SAME", Variable(1, "UP_SAME", "read")), "unchanged", False),
    (contract("environment", "up/envs.py::UP_DEFAULT", Variable(1, "UP_DEFAULT", "read")), "value-changed", False),
    (contract("environment", "up/envs.py::UP_GONE", Variable(1, "UP_GONE", "written")), "removed", True),
    (contract("environment", "up/envs.py::UP_GONE", Variable(1, "UP_GONE", "read", "0")), "removed", False),
    (contract("pin", "", Pin(1, "1.0", "pin"), named="vllm"), "value-changed", True),
    (contract("pin", "", Pin(1, "2.0", "pin"), named="vllm"), "unchanged", False),
    (contract("pin", "", Pin(1, "1.0", "recipe"), named="vllm"), "value-changed", False),  # a recipe may be historical
    (name("up/later.py::thing", place="guarded"), "unchanged", False),  # absent at both
    (name("up/boxes.py::Box", "up.boxes.Box", place="guarded"), "member-added", False),  # there only now
]

ALL = [*CALLS, *IMPORTS, *HOMES, *READS, *SHARED, *ELSEWHERE, *PATCHES, *OVERRIDES, *FAMILIES, *CARRIED, *OTHERS]


@pytest.mark.parametrize(
    ("item", "state", "breaking"), ALL, ids=lambda value: value.id if isinstance(value, Contract) else ""
)
def test_a_contract_is_compared_at_the_target(item: Contract, state: str, breaking: bool) -> None:
    found = effect_of(item)
    assert (found.state, found.breaking) == (state, breaking), found.reason
    assert found.reason


# what is written down, where, and whether a target that no release names breaks it (the current release is 1.0)
UNTAGGED = [
    (Pin(1, "1.0", "pin"), True),
    (Pin(1, "v1.0", "constant"), True),
    (Pin(1, "1.0", "annotation"), False),  # words bind nothing
    (Pin(1, "0.9", "pin"), False),  # it did not ask for the current one either
]


@pytest.mark.parametrize(("pin", "breaking"), UNTAGGED)
def test_a_pin_is_compared_with_a_target_that_no_release_names(pin: Pin, breaking: bool) -> None:
    before, after = sides()
    item = contract("pin", "", pin, named="vllm")
    found = compare(item, (before, replace(after, versions={})), RENAMES)
    assert (found.state, found.breaking) == ("value-changed", breaking)
