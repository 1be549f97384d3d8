"""The page of an impact, in a real browser: what it shows, what a click opens, and that quoted text stays text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import needs
from kit import Kit, Repo

from git_afd.actions.demo import plugin, upstreams

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=4000",
)
HOSTILE = '"""</script><script>document.title = "taken"</script><img src=x onerror=alert(1)>"""\n'
LOOK = (
    "diff --at HEAD --source vllm=../vllm --source vllm-ascend=../vllm-ascend "
    "--current vllm=v1.0.0 --current vllm-ascend=v1.0.0 --target vllm=v2.0.0 --target vllm-ascend=v2.0.0 -q"
)


@pytest.fixture
def page(kit: Kit) -> Path:
    """The page of the demo's upgrade, whose target says something hostile."""
    needs("Chromium", bool(BROWSER))
    new = upstreams.VLLM["v2.0.0"]
    hostile = {
        **new,
        "vllm/engine.py": new["vllm/engine.py"].replace("self.graph = graph", f"self.graph = graph\n        {HOSTILE}"),
    }
    kit.upstream("vllm", {"v1.0.0": upstreams.VLLM["v1.0.0"], "v2.0.0": hostile})
    kit.upstream("vllm-ascend", upstreams.VLLM_ASCEND)
    repo = kit.repo("plugin")
    repo.commit("a toy plugin", plugin.FILES)
    repo.afd(f"{LOOK} --html ../impact.html").ok()
    return repo.path.parent / "impact.html"


def dom(page: Path, then: str = "") -> str:
    """The page as the browser has it after running its script, and `then` after it."""
    copy = page.with_name("copy.html")
    copy.write_text(page.read_text().replace("</body>", f"<script>{then}</script></body>"))
    profile = page.with_name("profile")
    command = [BROWSER, *QUIET, f"--user-data-dir={profile}", "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    return done.stdout


def test_it_shows_what_changed_and_a_click_opens_the_difference(page: Path) -> None:
    shown = dom(page)
    assert re.search(r"<output[^>]*>[1-9]\d* shown</output>", shown)
    assert "Engine.start" in shown
    assert '<div class="add">' not in shown
    opened = dom(page, "document.querySelector('main details[data-difference*=\"Engine.start\"] summary').click()")
    assert '<div class="add">+    def start(self, devices: int = 1, *, graph: bool = False)' in opened.replace(
        "&gt;", ">"
    )


def test_quoted_sources_cannot_become_markup(page: Path) -> None:
    text = page.read_text()
    assert text.count("</script>") == 2
    opened = dom(page, "for (const item of document.querySelectorAll('details')) item.open = true;")
    assert "<title>taken" not in opened
    assert "<img" not in opened


def test_filters_hide_what_does_not_fit(page: Path) -> None:
    none = dom(page, "form.elements.text.value = 'no such name'; apply();")
    assert ">0 shown</output>" in none
    everything = dom(page, "form.elements.changed.checked = false; apply();")
    changed = re.search(r">(\d+) shown<", dom(page))
    full = re.search(r">(\d+) shown<", everything)
    assert changed
    assert full
    assert int(full.group(1)) > int(changed.group(1))


def test_nothing_is_fetched_from_elsewhere(page: Path) -> None:
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page.read_text())


def test_a_dry_run_writes_no_page(kit: Kit, repo: Repo) -> None:
    repo.commit("x", {"a.py": "1\n"})
    kit.upstream("vllm", upstreams.VLLM)
    kit.upstream("vllm-ascend", upstreams.VLLM_ASCEND)
    repo.afd(f"{LOOK} --html ../none.html --dry-run").ok()
    assert not (repo.path.parent / "none.html").exists()
