"""Requests and their answers, without sending anything: both clients share it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx

from . import errors
from ._retry import UNSENT, Retry
from .types import CallResult, Slim

_KINDS: dict[str, type[errors.GatewayError]] = {
    "unknown_server": errors.NotFoundError,
    "unknown_tool": errors.NotFoundError,
    "denied": errors.DeniedError,
    "held": errors.DeniedError,
    "inactive": errors.DeniedError,
    "unconfirmed": errors.DeniedError,
    "forbidden": errors.DeniedError,
    "unauthenticated": errors.UnauthenticatedError,
    "invalid_arguments": errors.InvalidRequestError,
    "bad_request": errors.InvalidRequestError,
    "not_found": errors.InvalidRequestError,
    "method_not_allowed": errors.InvalidRequestError,
    "too_large": errors.TooLargeError,
    "rate_limited": errors.RateLimitedError,
    "overloaded": errors.UnavailableError,
    "unavailable": errors.UnavailableError,
    "upstream_error": errors.UpstreamError,
    "upstream_gone": errors.UpstreamError,
    "timeout": errors.CallTimeoutError,
}

# Whatever stands before the API may refuse a request in words of its own.
_BY_STATUS = {401: "unauthenticated", 403: "forbidden", 413: "too_large", 429: "rate_limited"}


def new_id() -> str:
    return uuid.uuid4().hex


@dataclass(frozen=True)
class Request:
    """One request of the API."""

    method: str
    path: str
    params: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    correlation_id: str = field(default_factory=new_id)
    accepted: tuple[int, ...] = (200,)  # statuses whose answer is no error
    timeout: float | None = None  # seconds, None for the client's

    @property
    def reading(self) -> bool:
        return self.body is None

    def answer(self, response: httpx.Response) -> Any:
        """The answer's JSON. Raises what the answer says."""
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if response.status_code in self.accepted and answer is not None:
            return answer
        raise self.error(response, answer)

    def error(self, response: httpx.Response, answer: Any) -> errors.GatewayError:
        told = answer.get("error") if isinstance(answer, dict) else None
        told = told if isinstance(told, dict) else {}
        code = told.get("code")
        if not isinstance(code, str):
            code = _BY_STATUS.get(response.status_code, "bad_answer")
        unknown = errors.BadAnswerError if code == "bad_answer" else errors.GatewayError
        return _KINDS.get(code, unknown)(
            str(told.get("message") or f"{response.request.url.copy_with(query=None)} answers {response.status_code} with no JSON of the API"),
            code=code,
            status=response.status_code,
            details=told.get("details"),
            correlation_id=answer.get("correlation_id", self.correlation_id) if told else self.correlation_id,
        )

    def no_answer(self, error: httpx.TransportError) -> errors.GatewayError:
        """What no answer is raised as."""
        why = str(error) or type(error).__name__
        if isinstance(error, UNSENT):
            return errors.UnreachableError(f"no connection: {why}", code="unreachable", correlation_id=self.correlation_id)
        return errors.NoAnswerError(f"no answer: {why}", code="no_answer", correlation_id=self.correlation_id)


class Endpoint:
    """Where requests go, and how."""

    def __init__(self, url: str, token: str | None, agent: str | None, timeout: float, retry: Retry) -> None:
        self._url, self._timeout, self.retry = url.rstrip("/"), timeout, retry
        self._params = _given(agent=agent)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def options(self, request: Request) -> dict[str, Any]:
        """What httpx is given for a request."""
        return {
            "method": request.method,
            "url": self._url + request.path,
            "params": {**request.params, **self._params},
            "json": request.body,
            "headers": {"X-Correlation-Id": request.correlation_id, **self._headers},
            "timeout": request.timeout or self._timeout,
        }


class Sending:
    """The attempts at one request: what to do after each."""

    def __init__(self, request: Request, retry: Retry) -> None:
        self._request, self._retry, self._attempt = request, retry, -1

    def after_error(self, error: httpx.TransportError) -> float:
        """The wait before the next attempt. Raises the error when there is none."""
        self._attempt += 1
        wait = self._retry.after_error(self._attempt, error, self._request.reading)
        if wait is None:
            raise self._request.no_answer(error) from error
        return wait

    def after_answer(self, error: errors.GatewayError, response: httpx.Response) -> float:
        """As after_error, for an answer."""
        self._attempt += 1
        wait = self._retry.after_answer(self._attempt, response, error.code, self._request.reading)
        if wait is None:
            raise error
        return wait


def call_tool(server: str, tool: str, arguments: Mapping[str, Any] | None, correlation_id: str | None, timeout: float | None) -> Request:
    body = {"server": server, "tool": tool, "arguments": dict(arguments or {})}
    return _call("/call_tool", body, correlation_id, timeout)


def execute(provider: str, tool_calls: Sequence[Any], correlation_id: str | None, timeout: float | None) -> Request:
    return _call("/execute", {"provider": provider, "tool_calls": list(tool_calls)}, correlation_id, timeout)


def _call(path: str, body: dict[str, Any], correlation_id: str | None, timeout: float | None) -> Request:
    return Request("POST", path, body=body, correlation_id=correlation_id or new_id(), timeout=timeout)


def tools(server: str | None, format: str | None, slim: Slim) -> Request:
    return Request("POST", "/tools", _given(server=server, format=format, slim="true" if slim is True else slim or None))


def logs(server: str | None, since: datetime | str | None, limit: int | None) -> Request:
    if isinstance(since, datetime):
        since = since.astimezone().isoformat()  # one without a zone is of this machine's
    return Request("GET", "/logs", _given(server=server, since=since, limit=limit))


def health() -> Request:
    return Request("GET", "/health", accepted=(200, 503))


def _given(**params: Any) -> dict[str, str]:
    return {name: str(value) for name, value in params.items() if value is not None}


def call_result(answer: Any) -> CallResult:
    return CallResult(result=answer["result"], correlation_id=answer["correlation_id"])
