"""Real servers that stand in for vLLM: started, waited for, asked, stopped; whatever they do has a name."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from kit import Kit
from native_bench import SERVER, alive, cell_table, run_cell

from git_afd.adapters.http_exchange import NoReply, exchange
from git_afd.adapters.serving import free_port

# what the server does, how the cell is changed, the codes
CELLS: list[tuple[tuple[str, ...], dict[str, Any], set[str]]] = [
    ((), {}, set()),
    (("die-early",), {}, {"died-before-ready"}),
    (("never-ready",), {"ready": {"timeout-s": 1}}, {"never-ready"}),
    (("die-late",), {}, {"no-answer", "server-died"}),
    (("redirect",), {}, {"http-error"}),
    (("graph",), {}, {"silent-fallback"}),
    (("deaf",), {"stop-timeout-s": 1}, {"process-left"}),  # SIGTERM is not enough
    ((), {"env": {}}, {"plugins-unknown"}),  # a quieter log
]


def test_a_wrapper_that_sets_the_variable_anew_is_seen_through(kit: Kit, tmp_path: Path) -> None:
    wrapper = tmp_path / "serve.sh"
    wrapper.write_text('VLLM_PLUGINS=ascend,afd exec "$@"\n')
    usual = cell_table("one")
    verdict, served, _ = run_cell(kit, tmp_path, {**usual, "run": ["sh", str(wrapper), *usual["run"]]})
    assert {finding.code for finding in verdict.findings} == {"plugin-loaded"}
    assert served.environment["VLLM_PLUGINS"] == "ascend"  # what it was started with says nothing of it


@pytest.mark.parametrize(("tricks", "changed", "codes"), CELLS)
def test_what_a_server_does_is_seen(
    kit: Kit, tmp_path: Path, tricks: tuple[str, ...], changed: dict[str, Any], codes: set[str]
) -> None:
    verdict, served, kept = run_cell(kit, tmp_path, cell_table("one", *tricks, **changed))
    assert {finding.code for finding in verdict.findings} == codes, verdict.findings
    assert not [process for process in served.processes if alive(process.pid)]
    assert set(kept.artifacts) >= {
        "native/one.json",
        "native/one.request.json",
        "native/one.response",
        "log/one.log.gz",
    }
    if not codes:
        assert verdict.facts["text"] == "three two one"
        assert served.ready_s


def test_a_port_that_is_taken_is_said_and_nothing_is_started(kit: Kit, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        table = cell_table("one", f"mark={tmp_path / 'mark'}", port=taken.getsockname()[1])
        verdict, _, _ = run_cell(kit, tmp_path, table)
    assert [finding.code for finding in verdict.findings] == ["port-in-use"]
    assert verdict.status == "BLOCKED"
    assert not (tmp_path / "mark").exists()


def test_an_answer_of_somebody_else_on_the_port_is_not_taken_for_the_servers(kit: Kit, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    table = cell_table("one", "aside", f"mark={mark}", port=free_port())
    argv = [sys.executable, "-S", "-E", str(SERVER), str(table["port"]), "/models/m"]
    others: list[subprocess.Popen[bytes]] = []

    def listen_too() -> None:
        while not mark.exists():
            time.sleep(0.02)
        others.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL))

    thread = threading.Thread(target=listen_too)
    thread.start()
    verdict, _, _ = run_cell(kit, tmp_path, table)
    thread.join()
    with others[0] as other:
        assert other.poll() is None  # it is not ours to end
        other.kill()
    assert {finding.code for finding in verdict.findings} == {"answered-by-another", "port-left-listening"}
    assert verdict.facts["text"] == "three two one"  # a fine answer, and no evidence


class Trickle(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path == "/flood":
            self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
            for _ in range(100):
                self.wfile.write(b"x" * 100_000)
        elif self.path == "/slow":
            self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
            for _ in range(40):
                self.wfile.write(b"x")
                time.sleep(0.05)
        else:
            self.wfile.write(b"SSH-2.0-x\r\n")


def test_an_exchange_is_bounded_in_time_and_bytes_and_knows_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with HTTPServer(("127.0.0.1", 0), Trickle) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign] # the client hangs up on purpose
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        port = server.server_address[1]
        assert len(exchange("127.0.0.1", port, "/flood", body=None, timeout_s=5, limit=1000).body) == 1001
        began = time.monotonic()
        with pytest.raises(NoReply, match=r"no whole answer within 0\.3 s"):
            exchange("127.0.0.1", port, "/slow", body=None, timeout_s=0.3, limit=1000)
        assert time.monotonic() - began < 1
        with pytest.raises(NoReply, match="no HTTP"):
            exchange("127.0.0.1", port, "/odd", body=None, timeout_s=5, limit=1000)
        server.shutdown()
    with pytest.raises(NoReply, match="refused"):
        exchange("127.0.0.1", port, "/", body=None, timeout_s=5, limit=1000)
