"""The client that blocks."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, overload

import httpx

from . import _request, errors, providers
from ._retry import Retry
from .types import CallResult, Format, Health, JSONObject, LogEntry, Provider, Slim, Tool


class ToolGateway:
    """A gateway's tools. Every method raises a `GatewayError` when it is not answered as it should be.

    `url` is where the gateway serves, without a path. `token` is the bearer token, if it wants one. `agent` is whose tools
    these are, where that is for the program to say. `timeout` is how many seconds each step of an attempt may take: to
    connect, to send, to hear the next bytes. `http` is an httpx client to use, for certificates, proxies and limits of its
    own; it stays the caller's to close. Threads may share a gateway.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        agent: str | None = None,
        timeout: float = 60.0,
        retry: Retry = Retry(),
        http: httpx.Client | None = None,
    ) -> None:
        self._to = _request.Endpoint(url, token, agent, timeout, retry)
        self._own = http is None
        self._http = http or httpx.Client()

    def call_tool(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        correlation_id: str | None = None,
        timeout: float | None = None,
    ) -> CallResult:
        """Calls a tool by its server's own name for it. That the tool says it failed is a result, not an exception."""
        return _request.call_result(self._send(_request.call_tool(server, tool, arguments, correlation_id, timeout)))

    @overload
    def tools(self, server: str | None = None) -> list[Tool]: ...

    @overload
    def tools(self, server: str | None = None, *, format: Format, slim: Slim = False) -> list[JSONObject]: ...

    def tools(self, server: str | None = None, *, format: Format | None = None, slim: Slim = False) -> Any:
        """The tools of one server or of all; with a format, as the provider's API takes them. `slim` shortens
        descriptions, `slim="max"` leaves them out; neither changes which arguments are valid."""
        return self._send(_request.tools(server, format, slim))

    def logs(
        self, server: str | None = None, *, since: datetime | str | None = None, limit: int | None = None
    ) -> list[LogEntry]:
        """The latest calls, the newest last."""
        entries: list[LogEntry] = self._send(_request.logs(server, since, limit))
        return entries

    def health(self) -> Health:
        """How the gateway and its servers are. One that wants no requests is an answer, not an exception."""
        health: Health = self._send(_request.health())
        return health

    def execute(
        self,
        provider: Provider,
        tool_calls: Sequence[Any],
        *,
        correlation_id: str | None = None,
        timeout: float | None = None,
    ) -> list[JSONObject]:
        """Makes calls given as the provider's own objects, and returns its own result objects in their order. A call that
        fails has a result that says so to the model."""
        results: list[JSONObject] = self._send(_request.execute(provider, tool_calls, correlation_id, timeout))["tool_results"]
        return results

    def answer(self, provider: Provider, reply: Any, *, leave: Collection[str] = ()) -> list[JSONObject]:
        """Makes the tool calls of a model's reply, and returns what to add to the conversation after it: nothing when it
        calls no tool. See `providers.tool_calls` for what a reply may be, and for `leave`."""
        calls = providers.tool_calls(provider, reply, leave)
        return providers.turns(provider, self.execute(provider, calls) if calls else [])

    def close(self) -> None:
        """Closes the connections."""
        if self._own:
            self._http.close()

    def __enter__(self) -> ToolGateway:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _send(self, request: _request.Request) -> Any:
        sending = _request.Sending(request, self._to.retry)
        while True:
            try:
                response = self._http.request(**self._to.options(request))
                return request.answer(response)
            except httpx.TransportError as error:
                wait = sending.after_error(error)
            except errors.GatewayError as error:
                wait = sending.after_answer(error, response)
            time.sleep(wait)
