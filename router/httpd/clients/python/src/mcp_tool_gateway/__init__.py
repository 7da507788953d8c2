"""Calls MCP tools through toolman's plain HTTP API.

    with ToolGateway("http://127.0.0.1:8900") as gateway:
        print(gateway.call_tool("fs", "read_text_file", {"path": "README.md"}).text)

`AsyncToolGateway` is the same with `await`. `answer` runs the tool calls of a model's reply.
"""

from . import providers
from ._async import AsyncToolGateway
from ._retry import Retry
from ._sync import ToolGateway
from .errors import (
    BadAnswerError,
    CallTimeoutError,
    DeniedError,
    GatewayError,
    InvalidRequestError,
    NoAnswerError,
    NotFoundError,
    RateLimitedError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnreachableError,
    UpstreamError,
)
from .types import CallResult, Format, Health, JSONObject, LogClient, LogEntry, Provider, ServerHealth, Slim, Tool

__all__ = [
    "AsyncToolGateway",
    "BadAnswerError",
    "CallResult",
    "CallTimeoutError",
    "DeniedError",
    "Format",
    "GatewayError",
    "Health",
    "InvalidRequestError",
    "JSONObject",
    "LogClient",
    "LogEntry",
    "NoAnswerError",
    "NotFoundError",
    "Provider",
    "RateLimitedError",
    "Retry",
    "ServerHealth",
    "Slim",
    "Tool",
    "ToolGateway",
    "TooLargeError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnreachableError",
    "UpstreamError",
    "providers",
]
