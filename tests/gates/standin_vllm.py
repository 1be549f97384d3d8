"""A stand-in for `vllm serve`: it prints what vLLM prints, answers like an OpenAI-compatible server, and can misbehave.

Arguments: the port, the model, tricks by name. It is started with ``-S -E``: nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT, MODEL, TRICKS = int(sys.argv[1]), sys.argv[2], set(sys.argv[3:])


def say(line: str) -> None:
    print(f"(EngineCore pid={os.getpid()}) {line}", flush=True)


def load_plugins() -> None:
    """Say what vLLM says while it loads its plugins: of the general group only at the loudest level."""
    allowed = os.environ.get("VLLM_PLUGINS")
    loud = os.environ.get("VLLM_LOGGING_LEVEL") == "DEBUG"
    for group, name, shown in (("platform", "ascend", True), ("general", "afd", loud)):
        if shown:
            say(f"INFO Available plugins for group vllm.{group}_plugins:")
            say(f"INFO - {name} -> x:register")
            if allowed is None:
                say("INFO All plugins in this group will be loaded. Set `VLLM_PLUGINS` to control it.")
            elif name in allowed.split(","):
                say(f"INFO Loading plugin {name}")


def start_engine() -> None:
    say(f"INFO non-default args: {{'model_tag': '{MODEL}', 'port': {PORT}}}")
    eager, graph = ("False", "FULL_DECODE_ONLY") if "graph" in TRICKS else ("True", "NONE")
    say(
        f"INFO Initializing a V1 LLM engine (v0.26.0) with config: model='{MODEL}', tensor_parallel_size=2, "
        "pipeline_parallel_size=1, data_parallel_size=1, quantization=None, "
        f"enforce_eager={eager}, device_config=npu, compilation_config={{'cudagraph_mode': <CUDAGraphMode.{graph}: 0>}}"
    )


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing: vLLM's access log is of no use here."""

    def do_GET(self) -> None:
        self.answer(503 if "never-ready" in TRICKS else 200, b"")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "die-late" in TRICKS:
            os._exit(9)
        if "redirect" in TRICKS:
            self.answer(307, b"", Location=f"http://127.0.0.1:{PORT}/v1/elsewhere")
            return
        text = " ".join(asked["prompt"].split()[::-1])
        usage = {"prompt_tokens": 3, "completion_tokens": asked["max_tokens"]}
        choices = [{"index": 0, "text": text, "finish_reason": "length"}]
        self.answer(200, json.dumps({"model": asked["model"], "choices": choices, "usage": usage}).encode())

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in (body[:10], body[10:]):  # an answer that comes in pieces is one answer
            self.wfile.write(piece)
            self.wfile.flush()


def main() -> None:
    for name in [trick for trick in TRICKS if trick.startswith("mark=")]:
        Path(name.removeprefix("mark=")).write_text(str(os.getpid()))
    signal.signal(signal.SIGTERM, signal.SIG_IGN if "deaf" in TRICKS else lambda *_: os._exit(0))
    load_plugins()
    if "die-early" in TRICKS:
        sys.exit("RuntimeError: no device")
    start_engine()
    if "aside" in TRICKS:  # it never listens, and whoever does is somebody else
        time.sleep(60)
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()


main()
