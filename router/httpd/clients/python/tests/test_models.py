"""Models of all providers use the real gateway: their tools, their calls and the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_tool_gateway import Format, Provider, ToolGateway

POEM = "Tyger Tyger, burning bright"


@pytest.mark.parametrize("format", ["openai", "openai-responses", "anthropic", "gemini", "xai", "mcp"])
def test_tools_are_written_for_each_provider(gateway: ToolGateway, format: Format) -> None:
    tools = gateway.tools("fs", format=format)
    assert "mcp__fs__read_text_file" in json.dumps(tools)
    slim = gateway.tools("fs", format=format, slim=True)
    assert len(slim) == len(tools)
    assert len(json.dumps(slim)) <= len(json.dumps(tools))


def call(provider: str, number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A tool call as a model of the provider makes it."""
    if provider == "anthropic":
        return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
    if provider == "gemini":
        return {"functionCall": {"id": f"call_{number}", "name": name, "args": arguments}}
    if provider == "openai-responses":
        return {"type": "function_call", "call_id": f"call_{number}", "name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


REPLIES: dict[Provider, Any] = {
    "openai": lambda calls: {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": calls}}]},
    "xai": lambda calls: {"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": calls}}]},
    "openai-responses": lambda calls: {"output": [{"type": "reasoning", "summary": []}, *calls]},
    "anthropic": lambda calls: {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, *calls]},
    "gemini": lambda calls: {"candidates": [{"content": {"role": "model", "parts": calls}}]},
}


def results(provider: str, turns: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The ids and texts of the results in turns."""
    if provider == "anthropic":
        (turn,) = turns
        assert turn["role"] == "user"
        return [(r["tool_use_id"], json.dumps(r["content"])) for r in turn["content"]]
    if provider == "gemini":
        (turn,) = turns
        assert turn["role"] == "user"
        found = [part["functionResponse"] for part in turn["parts"]]
        return [(r["id"], json.dumps(r["response"])) for r in found]
    if provider == "openai-responses":
        return [(turn["call_id"], json.dumps(turn["output"])) for turn in turns]
    assert {turn["role"] for turn in turns} == {"tool"}
    return [(turn["tool_call_id"], json.dumps(turn["content"])) for turn in turns]


@pytest.mark.parametrize("provider", REPLIES)
def test_a_models_calls_become_the_next_turns(gateway: ToolGateway, files: Path, provider: Provider) -> None:
    entity = {"name": provider, "entityType": "provider", "observations": ["was here"]}
    reply = REPLIES[provider]([
        call(provider, 1, "mcp__fs__read_text_file", {"path": str(files / "root" / "poem.txt")}),
        call(provider, 2, "mcp__memory__create_entities", {"entities": [entity]}),
        call(provider, 3, "mcp__fs__read_minds", {}),
    ])
    (one, poem), (two, _), (three, unknown) = results(provider, gateway.answer(provider, reply))
    assert [one[-2:], two[-2:], three[-2:]] == ["_1", "_2", "_3"]
    assert POEM in poem
    assert "read_minds" in unknown
    assert "was here" in gateway.call_tool("memory", "open_nodes", {"names": [provider]}).text


def test_a_reply_without_calls_ends_the_loop(gateway: ToolGateway) -> None:
    assert gateway.answer("openai", REPLIES["openai"](None)) == []
