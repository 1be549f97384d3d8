"""A verb's lines and tables as Markdown, and as one HTML page. Nothing that they quote can become markup."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from git_afd.render.document import Piece, Table
from git_afd.render.table import visible


def markdown(title: str, pieces: Iterable[Piece]) -> str:
    """Return the pieces as a Markdown document; nothing in them can become markup."""
    parts = [f"# {_escaped(title)}", ""]
    for piece in pieces:
        parts += _markdown_table(piece) if isinstance(piece, Table) else [_escaped(piece) + "  " if piece else ""]
    apart = [part for part, before in zip(parts, ["x", *parts], strict=False) if part or before]
    return "\n".join(apart).rstrip() + "\n"


def page(title: str, pieces: Iterable[Piece]) -> str:
    """Return the pieces as one self-contained HTML page; everything in them is escaped."""
    body = "\n".join(_html(piece) for piece in pieces)
    name = html.escape(title)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{name}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n{body}\n</body>\n</html>\n"
    )


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0}"
    "th,td{border:1px solid #bbb;padding:.2rem .6rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}"
    "th{background:#eee}p{margin:.2rem 0}"
    ".PASS{color:#060}.FAIL,.STOPPED{color:#a00}.BLOCKED,.stale{color:#850}"
)


def _html(piece: Piece) -> str:
    if not isinstance(piece, Table):
        return f"<p>{html.escape(visible(piece))}</p>" if piece else ""
    head = "".join(f"<th>{html.escape(visible(cell))}</th>" for cell in piece.head)
    rows = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in piece.rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _cell(text: str) -> str:
    name = f' class="{text}"' if text in ("PASS", "FAIL", "STOPPED", "BLOCKED", "stale") else ""
    return f"<td{name}>{html.escape(visible(text))}</td>"


def _markdown_table(table: Table) -> list[str]:
    rule = "|" + " --- |" * len(table.head)
    return ["", _markdown_row(table.head), rule, *map(_markdown_row, table.rows), ""]


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>()#+!|~&" else char for char in visible(text))
