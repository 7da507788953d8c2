"""When a request is sent again, and after how long."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx

# Nothing has left the machine.
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

# With these and a Retry-After the gateway has refused a request before it asked a server: a call has not run.
NOT_RUN = frozenset({"rate_limited", "overloaded", "unavailable", "upstream_gone"})


@dataclass(frozen=True)
class Retry:
    """How often a request is sent again, and how long is waited before that, in seconds.

    Reads are repeated whenever that may help. A call is repeated only when it cannot have run: when no connection was made, or
    when the gateway refused it and said when to come back.
    """

    times: int = 2
    first_wait: float = 0.25
    longest_wait: float = 10.0

    def wait(self, attempt: int) -> float:
        """The wait after an attempt, the first being 0: it doubles, and half of it is by chance so that clients spread."""
        wait: float = min(self.longest_wait, self.first_wait * 2**attempt)
        return wait * random.uniform(0.5, 1)

    def after_error(self, attempt: int, error: httpx.TransportError, reading: bool) -> float | None:
        """The wait after no answer, None to give up."""
        if attempt >= self.times or not (reading or isinstance(error, UNSENT)):
            return None
        return self.wait(attempt)

    def after_answer(self, attempt: int, response: httpx.Response, code: str, reading: bool) -> float | None:
        """The wait after an answer that is an error, None to give up."""
        asked = retry_after(response)
        if attempt >= self.times or (asked or 0) > self.longest_wait:
            return None
        if reading:
            return max(asked or 0, self.wait(attempt)) if response.status_code in (429, 502, 503, 504) else None
        if asked is None or response.status_code not in (429, 503) or code not in NOT_RUN:
            return None
        return max(asked, self.wait(attempt))


def retry_after(response: httpx.Response) -> float | None:
    """The seconds of Retry-After, which may be a date."""
    text = response.headers.get("Retry-After", "")
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
