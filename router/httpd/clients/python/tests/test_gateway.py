"""The real gateway, in front of real servers. The fixture `gateway` checks each of its answers against /openapi.json."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Connect
from contract import Contract

import mcp_tool_gateway as mtg
from mcp_tool_gateway import ToolGateway

POEM = "Tyger Tyger, burning bright"


def test_a_call_is_answered_with_the_tools_own_result(gateway: ToolGateway, files: Path) -> None:
    answer = gateway.call_tool("fs", "read_text_file", {"path": str(files / "root" / "poem.txt")}, correlation_id="poem-1")
    assert answer.text.startswith(POEM)
    assert answer.structured["content"] == answer.text
    assert (answer.is_error, answer.correlation_id) == (False, "poem-1")


def test_a_tool_that_says_it_failed_is_a_result(gateway: ToolGateway, files: Path) -> None:
    answer = gateway.call_tool("fs", "read_text_file", {"path": str(files / "nothing.txt")})
    assert answer.is_error and "ENOENT" in answer.text


@pytest.mark.parametrize(
    ("server", "tool", "arguments", "kind", "code"),
    [
        ("nobody", "read_text_file", {}, mtg.NotFoundError, "unknown_server"),
        ("fs", "read_minds", {}, mtg.NotFoundError, "unknown_tool"),
        ("memory", "delete_entities", {"entityNames": []}, mtg.DeniedError, "denied"),
        ("fs", "read_text_file", {"path": 7}, mtg.InvalidRequestError, "invalid_arguments"),
        ("fs", "write_file", {"path": "x", "content": "x" * 200_000}, mtg.TooLargeError, "too_large"),
        ("odd", "fail", {}, mtg.UpstreamError, "upstream_error"),
        ("frail", "die", {}, mtg.UpstreamError, "upstream_gone"),
        ("slow", "hang", {}, mtg.CallTimeoutError, "timeout"),
    ],
)
def test_what_goes_wrong_is_told_apart(
    gateway: ToolGateway, server: str, tool: str, arguments: dict[str, Any], kind: type[mtg.GatewayError], code: str
) -> None:
    with pytest.raises(mtg.GatewayError) as raised:
        gateway.call_tool(server, tool, arguments, correlation_id=f"wrong-{code}")
    assert (type(raised.value), raised.value.code) == (kind, code)
    assert raised.value.correlation_id == f"wrong-{code}"


def test_invalid_arguments_are_named(gateway: ToolGateway) -> None:
    with pytest.raises(mtg.InvalidRequestError) as raised:
        gateway.call_tool("fs", "read_text_file", {"path": 7})
    assert "/path" in json.dumps(raised.value.details)


def test_who_has_no_token_is_not_let_in(connect: Connect, url: str, contract: Contract) -> None:
    for method in ("tools", "logs"):
        with pytest.raises(mtg.UnauthenticatedError):
            getattr(connect(url, contract.check, token="wrong"), method)()


def test_tools_are_listed_with_their_schemas(gateway: ToolGateway) -> None:
    tools = {(tool["server"], tool["tool"]): tool for tool in gateway.tools()}
    read = tools["fs", "read_text_file"]
    assert read["active"] and read["json_schema"]["properties"]["path"]["type"] == "string"
    assert not tools["memory", "create_entities"]["active"]
    assert ("memory", "delete_entities") not in tools
    assert {tool["server"] for tool in gateway.tools("memory")} == {"memory"}


def test_an_inactive_tool_may_be_called_and_is_logged(gateway: ToolGateway) -> None:
    before = datetime.now(timezone.utc) - timedelta(seconds=1)
    gateway.call_tool("memory", "search_nodes", {"query": "first"})
    gateway.call_tool("memory", "search_nodes", {"query": "second"})
    entries = gateway.logs("memory", since=before)
    assert [entry["input"]["query"] for entry in entries if entry["tool"] == "search_nodes"][-2:] == ["first", "second"]
    assert gateway.logs("memory", limit=1) == entries[-1:]
    assert gateway.logs("memory", since=datetime.now(timezone.utc) + timedelta(hours=1)) == []


def test_health_names_the_servers(gateway: ToolGateway) -> None:
    health = gateway.health()
    assert health["ok"]
    assert {"name": "fs", "status": "ready"} in health["servers"]


def test_many_callers_share_a_gateway(gateway: ToolGateway, files: Path) -> None:
    def read(number: int) -> tuple[str, str]:
        answer = gateway.call_tool("fs", "read_text_file", {"path": str(files / "root/sub/leaf.txt")}, correlation_id=f"many-{number}")
        return answer.text, answer.correlation_id

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(read, range(64))) == [("leaf", f"many-{n}") for n in range(64)]


def test_the_answers_were_checked(contract: Contract) -> None:
    """The last test: a check that nobody runs would pass, too."""
    assert {("/call_tool", 200), ("/call_tool", 404), ("/tools", 200), ("/logs", 200), ("/health", 200)} <= contract.checked


def test_the_description_is_of_this_api(contract: Contract) -> None:
    answer = httpx.Response(200, json={"result": {}}, request=httpx.Request("POST", "http://x/call_tool"))
    with pytest.raises(Exception, match="correlation_id"):
        contract.check(answer)
