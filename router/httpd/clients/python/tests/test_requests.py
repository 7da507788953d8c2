"""What is sent, what is sent again, and what is raised in the end."""

from __future__ import annotations

import pickle
import socket
from datetime import datetime, timezone

import anyio
import httpx
import pytest
from conftest import Connect
from scripted import HANG_UP, NEVER, OK, Scripted, refusal

import mcp_tool_gateway as mtg
from mcp_tool_gateway._retry import retry_after

COME_BACK = {"Retry-After": "0"}


def test_a_call_is_sent_as_the_api_has_it(connect: Connect, scripted: Scripted) -> None:
    scripted.answers = [OK]
    result = connect(scripted.url + "/", token="abc").call_tool("fs", "read", {"path": "x"}, correlation_id="mine")
    path, headers, body = scripted.requests[0]
    assert (path, body) == ("/call_tool", {"server": "fs", "tool": "read", "arguments": {"path": "x"}})
    assert headers["Authorization"] == "Bearer abc"
    assert headers["X-Correlation-Id"] == "mine"
    assert result.correlation_id == "theirs"


def test_each_request_has_a_correlation_id_of_its_own_that_its_repetitions_share(connect: Connect, scripted: Scripted) -> None:
    scripted.answers = [refusal(429, "rate_limited", COME_BACK), OK]
    gateway = connect(scripted.url)
    gateway.call_tool("fs", "read")
    gateway.call_tool("fs", "read")
    first, again, second = [headers["X-Correlation-Id"] for _, headers, _ in scripted.requests]
    assert first == again != second


def test_a_gateway_closes_the_connections_that_it_made(scripted: Scripted) -> None:
    scripted.answers = [OK]

    async def call() -> str:
        async with mtg.AsyncToolGateway(scripted.url) as gateway:
            return (await gateway.call_tool("fs", "read")).correlation_id

    with mtg.ToolGateway(scripted.url) as gateway:
        assert gateway.call_tool("fs", "read").correlation_id == anyio.run(call) == "theirs"
    # what is left open would be a ResourceWarning, which fails the tests


def test_queries_hold_what_is_asked_for_and_no_more(connect: Connect, scripted: Scripted) -> None:
    scripted.answers = [(200, {}, [])]
    gateway = connect(scripted.url)
    gateway.tools()
    gateway.tools("a&b", format="openai", slim=True)
    gateway.tools(format="mcp", slim="max")
    gateway.logs(since=datetime(2026, 1, 2, tzinfo=timezone.utc), limit=3)
    connect(scripted.url, agent="judge").tools("fs")
    assert [path for path, _, _ in scripted.requests] == [
        "/tools",
        "/tools?server=a%26b&format=openai&slim=true",
        "/tools?format=mcp&slim=max",
        "/logs?since=2026-01-02T00%3A00%3A00%2B00%3A00&limit=3",
        "/tools?server=fs&agent=judge",
    ]


@pytest.mark.parametrize(
    ("name", "answer", "reading", "calling"),
    [
        ("too many requests", refusal(429, "rate_limited", COME_BACK), True, True),
        ("not now, by the gateway itself", refusal(503, "unavailable", COME_BACK), True, True),
        ("not now, without saying when", refusal(503, "unavailable"), True, False),
        ("a server that went during the call", refusal(503, "upstream_gone"), True, False),
        ("a tool that took too long", refusal(504, "timeout"), True, False),
        ("a server that was not asked", refusal(503, "upstream_gone", COME_BACK), True, True),
        ("not now, by something before the gateway", (503, COME_BACK, b"<html>"), True, False),
        ("an unknown tool", refusal(404, "unknown_tool", COME_BACK), False, False),
        ("come back tomorrow", refusal(429, "rate_limited", {"Retry-After": "86400"}), False, False),
        ("no answer", (HANG_UP, {}, None), True, False),
    ],
)
def test_only_what_cannot_have_run_is_repeated(
    connect: Connect, scripted: Scripted, name: str, answer: tuple[int, dict[str, str], object], reading: bool, calling: bool
) -> None:
    for repeated, send in ((reading, "logs"), (calling, "execute")):
        scripted.requests.clear()
        scripted.answers = [answer, (200, {}, [] if send == "logs" else {"tool_results": []})]
        gateway = connect(scripted.url)
        try:
            gateway.logs() if send == "logs" else gateway.execute("openai", [])
        except mtg.GatewayError:
            assert not repeated, f"{name}: {send}"
        assert len(scripted.requests) == 1 + repeated, f"{name}: {send}"


def test_it_gives_up(connect: Connect, scripted: Scripted) -> None:
    scripted.answers = [refusal(503, "unavailable")]
    with pytest.raises(mtg.GatewayError):
        connect(scripted.url).tools()
    assert len(scripted.requests) == 3


def test_a_call_to_nobody_was_not_sent(connect: Connect) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        with pytest.raises(mtg.UnreachableError) as raised:
            connect(f"http://127.0.0.1:{taken.getsockname()[1]}").call_tool("fs", "read", correlation_id="mine")
    assert (raised.value.code, raised.value.status, raised.value.correlation_id) == ("unreachable", None, "mine")


def test_a_call_that_is_not_answered_in_time_may_have_run(connect: Connect, scripted: Scripted) -> None:
    scripted.answers = [(NEVER, {}, None)]
    with pytest.raises(mtg.NoAnswerError):
        connect(scripted.url).call_tool("fs", "read", timeout=1)
    assert len(scripted.requests) == 1


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("unknown_server", 404, mtg.NotFoundError),
        ("held", 403, mtg.DeniedError),
        ("invalid_arguments", 400, mtg.InvalidRequestError),
        ("unauthenticated", 401, mtg.UnauthenticatedError),
        ("unconfirmed", 403, mtg.DeniedError),
        ("overloaded", 503, mtg.UnavailableError),
        ("too_large", 413, mtg.TooLargeError),
        ("upstream_error", 502, mtg.UpstreamError),
        ("upstream_gone", 503, mtg.UpstreamError),
        ("timeout", 504, mtg.CallTimeoutError),
        ("of_tomorrow", 418, mtg.GatewayError),
    ],
)
def test_errors_have_a_type_by_their_code(
    connect: Connect, scripted: Scripted, code: str, status: int, kind: type[mtg.GatewayError]
) -> None:
    scripted.answers = [refusal(status, code)]
    with pytest.raises(mtg.GatewayError) as raised:
        connect(scripted.url).call_tool("fs", "read")
    error = raised.value
    assert type(error) is kind
    assert (error.code, error.status, error.details, error.correlation_id) == (code, status, {"at": "/path"}, "theirs")
    assert str(error) == f"{code}: no (correlation id theirs)"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error) and again.details == error.details


@pytest.mark.parametrize(
    ("name", "answer", "kind"),
    [
        ("a web page", (200, {}, b"<html>"), mtg.BadAnswerError),
        ("a proxy's refusal", (401, {}, b"<html>"), mtg.UnauthenticatedError),
        ("JSON-RPC", (403, {}, {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no"}, "id": None}), mtg.DeniedError),
        ("a list", (404, {}, []), mtg.BadAnswerError),
        ("elsewhere", (307, {"Location": "/elsewhere"}, b""), mtg.BadAnswerError),
    ],
)
def test_what_is_not_the_api_is_told_from_it(
    connect: Connect, scripted: Scripted, name: str, answer: tuple[int, dict[str, str], object], kind: type[mtg.GatewayError]
) -> None:
    scripted.answers = [answer]
    with pytest.raises(mtg.GatewayError) as raised:
        connect(scripted.url).call_tool("fs", "read", correlation_id="mine")
    assert (type(raised.value), raised.value.correlation_id) == (kind, "mine"), name
    assert len(scripted.requests) == 1


def test_a_gateway_that_wants_no_requests_says_so(connect: Connect, scripted: Scripted) -> None:
    scripted.answers = [(503, {}, {"ok": False, "problem": "toolman is ending", "servers": []})]
    assert connect(scripted.url).health()["ok"] is False


def test_waits_double_to_a_limit() -> None:
    retry = mtg.Retry(first_wait=1, longest_wait=5)
    for attempt, longest in enumerate((1, 2, 4, 5, 5)):
        waits = [retry.wait(attempt) for _ in range(100)]
        assert longest / 2 <= min(waits) < max(waits) <= longest


def test_retry_after_is_seconds_or_a_date() -> None:
    def asked(text: str) -> float | None:
        return retry_after(httpx.Response(503, headers={"Retry-After": text}))

    assert asked("7") == 7
    assert asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert asked("soon") is None
    assert retry_after(httpx.Response(503)) is None
