"""The calls in models' replies, and the turns made of their results."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_tool_gateway import Provider, providers

CHAT = {"id": "call_1", "type": "function", "function": {"name": "mcp__fs__read", "arguments": "{}"}}
OWN = {"id": "call_2", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
RESPONSES = {"type": "function_call", "call_id": "call_1", "name": "mcp__fs__read", "arguments": "{}"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "mcp__fs__read", "input": {}}
PART = {"functionCall": {"name": "mcp__fs__read", "args": {}}}
TEXT = {"type": "text", "text": "Let me see."}


class Model:
    """An object of an SDK."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool) -> Any:
        assert (mode, by_alias, exclude_none) == ("json", True, True)
        return self._value


@pytest.mark.parametrize(
    ("name", "provider", "reply", "calls"),
    [
        ("chat, all of it", "openai", {"choices": [{"message": {"tool_calls": [CHAT, OWN]}}]}, [CHAT]),
        ("chat, a message", "xai", {"role": "assistant", "tool_calls": [CHAT]}, [CHAT]),
        ("chat, a choice", "openai", {"message": {"tool_calls": [CHAT]}}, [CHAT]),
        ("chat, only text", "openai", {"choices": [{"message": {"content": "Hello", "tool_calls": None}}]}, []),
        ("chat, no choice", "openai", {"choices": []}, []),
        ("responses", "openai-responses", {"output": [{"type": "reasoning"}, RESPONSES]}, [RESPONSES]),
        ("responses, the items", "openai-responses", [RESPONSES, RESPONSES], [RESPONSES, RESPONSES]),
        ("an object of an SDK", "anthropic", Model({"content": [TEXT, USE]}), [USE]),
        ("a list of an SDK's objects", "anthropic", [Model(TEXT), Model(USE)], [USE]),
        ("a message of an SDK's objects", "anthropic", {"content": [Model(USE)]}, [USE]),
        ("only text, as a string", "anthropic", {"content": "Hello"}, []),
        ("gemini, all of it", "gemini", {"candidates": [{"content": {"parts": [{"text": "Hm"}, PART]}}]}, [PART]),
        ("gemini, a content", "gemini", {"parts": [PART]}, [PART]),
        ("gemini, blocked", "gemini", {"candidates": [{"finishReason": "SAFETY"}]}, []),
    ],
)
def test_calls_are_found(name: str, provider: Provider, reply: Any, calls: list[Any]) -> None:
    assert providers.tool_calls(provider, reply, leave=["weather"]) == calls, name


def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(ValueError, match="'claude' is none of openai, openai-responses, xai, anthropic, gemini"):
        providers.tool_calls("claude", {})  # type: ignore[arg-type]


def test_results_are_turns_of_each_provider() -> None:
    assert providers.turns("openai", [{"a": 1}, {"b": 2}]) == [{"a": 1}, {"b": 2}]
    assert providers.turns("anthropic", [{"a": 1}, {"b": 2}]) == [{"role": "user", "content": [{"a": 1}, {"b": 2}]}]
    assert providers.turns("gemini", [{"a": 1}]) == [{"role": "user", "parts": [{"a": 1}]}]
    assert providers.turns("gemini", []) == []
