"""Documents that say something a second time are generated or compared (tenet: said once)."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from kit import ROOT

GENERATED = runpy.run_path(str(ROOT / "docs" / "generate.py"))["DOCUMENTS"]


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_a_generated_document_is_as_it_would_be_written_now(name: str) -> None:
    assert (ROOT / "docs" / name).read_text() == GENERATED[name](), "run: python docs/generate.py"


def readme_commands() -> list[str]:
    return re.findall(r"```sh\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)[:2]


def test_ci_runs_the_test_command_of_the_readme_to_the_letter() -> None:
    demo, test = readme_commands()
    assert demo.endswith("git-afd demo")
    assert (ROOT / ".ci/run").read_text().rstrip().endswith(test)


def links() -> list[tuple[Path, str]]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target
    ]


def test_every_link_between_documents_leads_somewhere() -> None:
    broken = [f"{page.relative_to(ROOT)}: {target}" for page, target in links() if not (page.parent / target).exists()]
    assert not broken


def test_nothing_in_the_tree_names_a_home_folder() -> None:
    machine = re.compile(r"(^|[^\w.])/(home|root|work)/\w")
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("git_afd/**/*.py")]
    assert not [page for page in pages if any(machine.search(line) for line in page.read_text().splitlines())]
