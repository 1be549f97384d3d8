"""One self-contained page where one looks at the impact of a whole upgrade: by file and class, the diff on a click.

Nothing is fetched: style and script stand in the page. All that is quoted is escaped, in markup and in the data
that the script reads (``<`` never stands in it, so that no text can end the element).
"""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from git_afd.core.outcome import Outcome

Row = Mapping[str, Any]


def page(outcome: Outcome) -> str:
    """Return the page of a comparison (``git afd diff --html``)."""
    data: Mapping[str, Any] = outcome.data
    rows: Sequence[Row] = data["impacts"]
    files = dict.fromkeys(_path(row) for row in sorted(rows, key=_weight))
    body = "".join(_file(path, [row for row in rows if _path(row) == path]) for path in files)
    title = f"Impact on {len(rows)} contracts"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<header><h1>{title}</h1>\n"
        f"{_summary(data, rows)}\n{_filters(rows)}</header>\n<main>{body}</main>\n{_upstream(data)}\n"
        f'<script type="application/json" id="differences">{_embedded(data["differences"])}</script>\n'
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _path(row: Row) -> str:
    plugin = row.get("plugin")
    return str(plugin["path"]) if plugin else "(not a recorded contract)"


def _weight(row: Row) -> tuple[bool, int, str]:
    order = ("ARCHITECTURAL", "BEHAVIORAL", "MECHANICAL", "", "NONE")
    return (not row["breaking"], order.index(row["class"]) if row["class"] in order else 3, _path(row))


def _summary(data: Mapping[str, Any], rows: Sequence[Row]) -> str:
    states = Counter(str(row["state"]) for row in rows)
    breaking = sum(bool(row["breaking"]) for row in rows)
    flagged = sum(bool(item["flagged"]) for item in data["files"])
    told = ", ".join(f"{count} {_words(state)}" for state, count in states.most_common())
    return f"<p><b>{breaking} break.</b> {told}. {flagged} of {len(data['files'])} files of the plugin need a look.</p>"


def _filters(rows: Sequence[Row]) -> str:
    return (
        '<form id="filters"><input type="search" name="text" placeholder="Find a name, a path, a reason" '
        'aria-label="Find">'
        + _select("class", "any class", (row["class"] or "UNCLASSIFIED" for row in rows))
        + _select("state", "any state", (row["state"] for row in rows))
        + _select("kind", "any kind", (row["kind"] for row in rows))
        + '<label><input type="checkbox" name="breaking"> breaking only</label>'
        + '<label><input type="checkbox" name="changed" checked> changed only</label>'
        + '<output id="count"></output></form>'
    )


def _select(name: str, none: str, values: Iterable[object]) -> str:
    options = "".join(
        f'<option value="{html.escape(value)}">{html.escape(_words(value))} ({count})</option>'
        for value, count in Counter(str(value) for value in values if value).most_common()
    )
    return f'<select name="{name}" aria-label="{name}"><option value="">{none}</option>{options}</select>'


def _file(path: str, rows: Sequence[Row]) -> str:
    items = "".join(_impact(row) for row in sorted(rows, key=_weight))
    breaking = sum(bool(row["breaking"]) for row in rows)
    told = f"{len(rows)} contracts{f', {breaking} break' if breaking else ''}"
    return f"<section><h2>{html.escape(path)} <small>{told}</small></h2>{items}</section>\n"


def _impact(row: Row) -> str:
    plugin, upstream = row.get("plugin") or {}, row.get("upstream") or {}
    class_ = str(row["class"] or "UNCLASSIFIED")
    state = html.escape(_words(row["state"]))
    where = f"{plugin.get('symbol') or ''}:{plugin.get('line') or ''}".strip(":")
    name = "::".join(part for part in (upstream.get("path"), upstream.get("symbol")) if part) or str(row["contract"])
    attributes = {
        "class": class_,
        "state": row["state"],
        "kind": row["kind"],
        "breaking": "yes" if row["breaking"] else "",
    }
    marks = " ".join(f'data-{key}="{html.escape(str(value))}"' for key, value in attributes.items())
    bad = '<b class="breaks">breaks</b> ' if row["breaking"] else ""
    return (
        f'<details {marks} data-difference="{html.escape(str(row.get("difference") or ""))}">'
        f'<summary><span class="tag {class_}">{html.escape(class_)}</span> <span class="state">{state}</span> {bad}'
        f"<code>{html.escape(name)}</code> <small>{html.escape(str(row['kind']))}: {html.escape(where)}</small>"
        "</summary>"
        f"{''.join(_facts(row))}</details>\n"
    )


def _facts(row: Row) -> Iterator[str]:
    yield f"<p>{html.escape(str(row['reason']))}</p>" if row["reason"] else ""
    if row.get("old") or row.get("new"):
        yield '<div class="signatures">'
        yield f"<pre><b>current</b>\n{html.escape(str(row.get('old') or '(not there)'))}</pre>"
        yield f"<pre><b>target</b>\n{html.escape(str(row.get('new') or '(not there)'))}</pre></div>"
    target = row.get("target")
    now = "::".join(part for part in (target["path"], target["symbol"]) if part) if target else ""
    facts = {
        "at the target": now,
        "rule": row.get("rule"),
        "consumers": ", ".join(row["consumers"]),
        "invariant": row["invariant"],
        "tests": ", ".join(row["tests"]),
        "order": row["order"],
        "decided": _decision(row),
    }
    entries = "".join(f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>" for name, value in facts.items() if value)
    yield f"<dl>{entries}</dl>"
    yield '<div class="difference"></div>'


def _decision(row: Row) -> str:
    told = row.get("decided")
    if told:
        return f"{row['class']} by {told['by']}: {told['why']}"
    return "nobody yet" if row["class"] and row["class"] != "NONE" else ""


def _upstream(data: Mapping[str, Any]) -> str:
    rows = data.get("upstream_files") or []
    mapped = [item for item in rows if item["contracts"]]
    lines = "".join(
        f"<tr><td>{html.escape(item['upstream'])}</td><td>{html.escape(item['status'])}</td>"
        f"<td><code>{html.escape(item['path'])}</code></td><td>{len(item['contracts'])}</td></tr>"
        for item in mapped
    )
    return (
        f"<aside><details><summary>{len(mapped)} changed upstream files carry contracts; "
        f"{len(rows) - len(mapped)} were dismissed</summary><table><thead><tr><th>upstream</th><th>status</th>"
        f"<th>file</th><th>contracts</th></tr></thead><tbody>{lines}</tbody></table></details></aside>"
    )


def _words(value: object) -> str:
    return str(value).replace("-", " ") if str(value).islower() else str(value)


def _embedded(value: object) -> str:
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_STYLE: Final = """
:root{color-scheme:light dark;--line:#8884;--soft:#8882}
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:76rem;padding:1rem 1.5rem}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1rem;margin:1.4rem 0 .3rem;font-family:ui-monospace,monospace}
small{opacity:.7;font-weight:normal}header{border-bottom:1px solid var(--line);padding-bottom:.6rem}
form{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center;margin-top:.6rem;position:sticky;top:0}
input[type=search]{flex:1 1 16rem}input,select{font:inherit;padding:.2rem .4rem}
details{border:1px solid var(--line);border-radius:.3rem;margin:.25rem 0;padding:.15rem .6rem}
summary{cursor:pointer;overflow-wrap:anywhere}details[open]{background:var(--soft)}
.tag{display:inline-block;min-width:8.2rem;font-size:.75rem;font-weight:600;letter-spacing:.03em}
.ARCHITECTURAL{color:#b0279f}.BEHAVIORAL{color:#b26a00}.MECHANICAL{color:#1769aa}.NONE{opacity:.6}
.breaks{color:#c62828}.state{display:inline-block;min-width:9rem}
pre{overflow:auto;margin:.3rem 0;padding:.5rem;background:var(--soft);border-radius:.3rem;white-space:pre-wrap}
.difference pre{white-space:pre}.signatures{display:grid;grid-template-columns:1fr 1fr;gap:.6rem}
.signatures pre{overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.4rem 0}
dt{opacity:.7}dd{margin:0;overflow-wrap:anywhere}
.add{background:#2e7d3230}.del{background:#c6282830}.hunk{opacity:.6}
table{border-collapse:collapse}th,td{text-align:left;padding:.15rem .8rem;border-bottom:1px solid var(--line)}
[hidden]{display:none}@media(max-width:48rem){.signatures{grid-template-columns:1fr}}
"""

_SCRIPT: Final = """
"use strict";
const texts = JSON.parse(document.getElementById("differences").textContent);
const form = document.getElementById("filters");
const items = [...document.querySelectorAll("main details")];
const words = new Map(items.map(item => [item, item.textContent.toLowerCase()]));
function apply() {
  const asked = new FormData(form), find = (asked.get("text") || "").toLowerCase();
  let shown = 0;
  for (const item of items) {
    const kept = ["class", "state", "kind"].every(key => !asked.get(key) || item.dataset[key] === asked.get(key))
      && (!asked.get("breaking") || item.dataset.breaking)
      && (!asked.get("changed") || item.dataset.state !== "unchanged" || item.dataset.breaking)
      && (!find || words.get(item).includes(find));
    item.hidden = !kept;
    shown += kept ? 1 : 0;
  }
  for (const part of document.querySelectorAll("main section"))
    part.hidden = ![...part.querySelectorAll("details")].some(item => !item.hidden);
  document.getElementById("count").textContent = shown + " shown";
}
function paint(item) {
  const place = item.querySelector(".difference"), text = texts[item.dataset.difference];
  if (!text || place.firstChild) return;
  const block = document.createElement("pre");
  for (const line of text.split("\\n")) {
    const row = document.createElement("div");
    row.textContent = line || " ";
    row.className = line.startsWith("@@") || line.startsWith("---") || line.startsWith("+++") ? "hunk"
      : line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "";
    block.append(row);
  }
  place.append(block);
}
for (const item of items) item.addEventListener("toggle", () => item.open && paint(item));
form.addEventListener("input", apply);
form.addEventListener("submit", event => event.preventDefault());
apply();
"""
