"""One bounded HTTP exchange with a server that we started: no proxy, no redirect, no more time or bytes than given."""

from __future__ import annotations

import http.client
import time
from dataclasses import dataclass
from typing import Final

_CHUNK: Final = 1 << 16


class NoReply(Exception):
    """There was no whole answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The status and the body of an answer; the body is cut one byte after the limit that was given."""

    status: int
    body: bytes


def exchange(host: str, port: int, path: str, *, body: bytes | None, timeout_s: float, limit: int) -> Reply:
    """GET `path`, or POST the JSON text `body` to it, and return the answer. Raises NoReply.

    Proxy variables are not looked at, since http.client knows none; a redirect is an answer like any other.
    """
    until = time.monotonic() + timeout_s
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    headers = {"Connection": "close", "Accept": "application/json"}
    try:
        connection.connect()
        socket = connection.sock
        if body is None:
            connection.request("GET", path, headers=headers)
        else:
            connection.request("POST", path, body, {**headers, "Content-Type": "application/json"})
        with connection.getresponse() as response:
            data = b""
            while len(data) <= limit and not response.isclosed():
                socket.settimeout(_left(until))
                piece = response.read1(_CHUNK)
                if not piece:
                    break
                data += piece
            return Reply(response.status, data[: limit + 1])
    except TimeoutError:
        raise NoReply(f"no whole answer within {timeout_s:g} s") from None
    except http.client.HTTPException as error:
        raise NoReply(f"the answer is no HTTP: {error!r}"[:200]) from None
    except OSError as error:
        raise NoReply(error.strerror or str(error)) from None
    finally:
        connection.close()


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
