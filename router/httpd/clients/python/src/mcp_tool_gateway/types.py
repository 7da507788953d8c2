"""What the gateway answers, as types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

Provider = Literal["openai", "openai-responses", "anthropic", "gemini", "xai"]
"""Whose tool calls are answered: "openai" is its Chat Completions."""

Format = Literal["openai", "openai-responses", "anthropic", "gemini", "xai", "mcp"]
"""For whom tools are written."""

Slim = bool | Literal["max"]
"""How much of the tools' definitions is left out."""

JSONObject = dict[str, Any]


class Tool(TypedDict):
    """A tool that may be called."""

    server: str
    tool: str
    description: str
    json_schema: JSONObject
    active: bool
    toolsets: list[str]


class _LogEntry(TypedDict):
    timestamp: str
    server: str
    tool: str
    input: Any
    recorded_by: Literal["toolman", "server", "both"]


class _LogClient(TypedDict):
    name: str


class LogClient(_LogClient, total=False):
    """What a client says about itself."""

    version: str


class LogEntry(_LogEntry, total=False):
    """A call that was made: with its result, or with its error. `truncated` says that something was too long, and is None.

    `era` is missing if the call came without MCP. If only the server has recorded the call, so are `agent` and `client`.
    """

    result: Any
    error: Any
    correlation_id: str
    truncated: bool
    agent: str
    era: Literal["legacy", "modern"]
    client: LogClient


class ServerHealth(TypedDict):
    name: str
    status: str


class _Health(TypedDict):
    ok: bool


class Health(_Health, total=False):
    """Whether the gateway wants requests, and how its servers are. `problem` says why it wants none.

    `servers` are those that the client may know of; with a credential where one is needed.
    """

    problem: str
    servers: list[ServerHealth]


@dataclass(frozen=True)
class CallResult:
    """What a tool answered: `result` is MCP's tool result as the server sent it."""

    result: JSONObject
    correlation_id: str

    @property
    def is_error(self) -> bool:
        """Whether the tool says that it failed."""
        return self.result.get("isError") is True

    @property
    def structured(self) -> Any:
        """The structured content, None if there is none."""
        return self.result.get("structuredContent")

    @property
    def text(self) -> str:
        """The texts of the content, joined by newlines."""
        return "\n".join(block["text"] for block in self.result.get("content", []) if block.get("type") == "text")
