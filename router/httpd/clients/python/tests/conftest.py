"""What the tests share: the real gateway, a scripted one, and both clients behind one face."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from contract import Contract
from scripted import Scripted

from mcp_tool_gateway import AsyncToolGateway, Retry, ToolGateway

# Reading certificates, which nobody needs here, is most of the time that it takes to make a client.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

QUICK = Retry(first_wait=0.001, longest_wait=0.5)

Connect = Callable[..., ToolGateway]
Check = Callable[[httpx.Response], None]


class Awaited:
    """An AsyncToolGateway that is used as if it blocked."""

    def __init__(self, call: Callable[..., Any], gateway: AsyncToolGateway) -> None:
        self._call, self._gateway = call, gateway

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._gateway, name)
        return lambda *args, **options: self._call(partial(method, *args, **options))


@pytest.fixture(params=["sync", "async"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes clients: each test runs with both kinds."""
    with ExitStack() as ended:
        yield partial(blocking, ended) if request.param == "sync" else partial(awaiting, ended.enter_context(start_blocking_portal()), ended)


def blocking(ended: ExitStack, url: str, check: Check | None = None, **options: Any) -> ToolGateway:
    http = httpx.Client(verify=NO_TLS, event_hooks={"response": [check] if check else []})
    ended.callback(http.close)
    return ToolGateway(url, retry=QUICK, http=http, **options)


def awaiting(portal: BlockingPortal, ended: ExitStack, url: str, check: Check | None = None, **options: Any) -> Any:
    async def read_and_check(response: httpx.Response) -> None:
        await response.aread()
        if check:
            check(response)

    http = httpx.AsyncClient(verify=NO_TLS, event_hooks={"response": [read_and_check]})
    ended.callback(portal.call, http.aclose)
    return Awaited(portal.call, AsyncToolGateway(url, retry=QUICK, http=http, **options))


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    with Scripted() as server:
        yield server


@pytest.fixture(scope="session")
def url() -> str:
    """Where the real gateway serves."""
    if "GATEWAY_URL" not in os.environ:
        pytest.skip("THE REAL GATEWAY IS NOT TESTED: go test -run Clients ./fixtures/interop starts one")
    return os.environ["GATEWAY_URL"]


@pytest.fixture(scope="session")
def files() -> Path:
    """The folder that the gateway's server fs may use."""
    return Path(os.environ["GATEWAY_FILES"])


@pytest.fixture(scope="session")
def contract(url: str) -> Contract:
    return Contract(httpx.get(url + "/openapi.json", headers={"Authorization": f"Bearer {os.environ['GATEWAY_TOKEN']}"}).json())


@pytest.fixture
def gateway(connect: Connect, url: str, contract: Contract) -> ToolGateway:
    """A client of the real gateway. Whatever that answers is checked against its description."""
    return connect(url, contract.check, token=os.environ["GATEWAY_TOKEN"], timeout=20)
