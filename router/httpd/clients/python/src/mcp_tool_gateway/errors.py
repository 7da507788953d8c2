"""What can go wrong with a request, each as an exception of its own."""

from __future__ import annotations

from typing import Any


class GatewayError(Exception):
    """A request that was not answered as it should be.

    `code` is the gateway's stable word for what went wrong, or one of this client's own: "unreachable", "no_answer" and
    "bad_answer". `status` is the HTTP status, None without an answer. `details` is what the gateway adds, if anything.
    `correlation_id` finds the request in the gateway's log, trace and audit.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        details: Any = None,
        correlation_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.details = details
        self.correlation_id = correlation_id

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        return f"{text} (correlation id {self.correlation_id})" if self.correlation_id else text

    def __reduce__(self) -> tuple[Any, ...]:
        # BaseException would call the class again without the keywords: exceptions cross processes pickled.
        return _rebuild, (type(self), self.message, self.__dict__)


def _rebuild(kind: type[GatewayError], message: str, facts: dict[str, Any]) -> GatewayError:
    error = kind(message, code=facts["code"])
    error.__dict__.update(facts)
    return error


class NotFoundError(GatewayError):
    """The gateway has no such server, or the server no such tool."""


class DeniedError(GatewayError):
    """The tool may not be called: by policy, because it is held back or not active, or because nobody can be asked for consent."""


class UnauthenticatedError(GatewayError):
    """The gateway does not know the token."""


class InvalidRequestError(GatewayError):
    """The request is wrong, or the arguments are not valid by the tool's schema."""


class TooLargeError(GatewayError):
    """The request or its result is larger than the gateway allows."""


class RateLimitedError(GatewayError):
    """Too many requests. None of them ran."""


class UnavailableError(GatewayError):
    """The gateway has too much to do, or is ending."""


class UpstreamError(GatewayError):
    """The tool's server answered with an error, or is gone."""


class CallTimeoutError(GatewayError):
    """The tool did not answer within the gateway's time limit."""


class UnreachableError(GatewayError):
    """No connection could be made. Nothing was sent."""


class NoAnswerError(GatewayError):
    """The connection broke, or the client's own timeout passed. The call may have run."""


class BadAnswerError(GatewayError):
    """What answered is not the gateway's API, or a newer one than this client knows."""
