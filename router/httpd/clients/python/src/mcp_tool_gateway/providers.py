"""What a model's reply asks for, and how the results go back to it, by provider. Nothing here sends anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .types import JSONObject, Provider

# What the items that are calls say they are. Gemini's have a member of their own.
_TYPES = {"openai": "function", "openai-responses": "function_call", "xai": "function", "anthropic": "tool_use"}

# Where a reply, or the part of one that is a message, has the list with the calls in it.
_CHAT = (("choices", 0, "message", "tool_calls"), ("message", "tool_calls"), ("tool_calls",))
_CALLS: dict[str, tuple[tuple[str | int, ...], ...]] = {
    "openai": _CHAT,
    "openai-responses": (("output",),),
    "xai": _CHAT,
    "anthropic": (("content",),),
    "gemini": (("candidates", 0, "content", "parts"), ("content", "parts"), ("parts",)),
}


def tool_calls(provider: Provider, reply: Any, leave: Collection[str] = ()) -> list[JSONObject]:
    """The tool calls of a model's reply, as the provider's own objects.

    The reply is an object of the provider's SDK or its JSON: a whole response, a message or a list of items. xAI's is
    that of its HTTP API. Calls of the tools named in `leave` are left out: they are the program's own.
    """
    if provider not in _CALLS:
        raise ValueError(f"{provider!r} is none of {', '.join(_CALLS)}")
    items = _items(_CALLS[provider], _plain(reply))
    return [item for item in items if _is_call(provider, item) and _name(item) not in leave]


def turns(provider: Provider, results: Sequence[JSONObject]) -> list[JSONObject]:
    """The results of tool calls as what the conversation goes on with: empty when there were none."""
    if not results or provider not in ("anthropic", "gemini"):
        return list(results)
    return [{"role": "user", "parts" if provider == "gemini" else "content": list(results)}]


def _plain(value: Any) -> Any:
    """The JSON of a value: the SDKs' objects are Pydantic's."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [_plain(item) for item in value]
    return value


def _items(paths: tuple[tuple[str | int, ...], ...], reply: Any) -> list[Any]:
    if isinstance(reply, list):
        return reply
    for path in paths:
        found = reply
        for step in path:
            found = _member(found, step)
        if isinstance(found, list):
            return found
    return []


def _member(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and len(value) > step else None
    return value.get(step) if isinstance(value, dict) else None


def _is_call(provider: Provider, item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    if provider == "gemini":
        return "functionCall" in item
    return bool(item.get("type") == _TYPES[provider])


def _name(item: JSONObject) -> Any:
    for holder in ("function", "functionCall"):
        item = item.get(holder, item)
    return item.get("name")
