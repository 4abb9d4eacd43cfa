"""A client: `python-client.py <fastmcp|mcp|langchain> <initialize|auto> <url> <token> <form|none>`. Calls come in as lines,
questions and results go out."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from importlib.metadata import version

library, lifecycle, url, token, shows = sys.argv[1:6]
headers = {"Authorization": f"Bearer {token}"}
lines: asyncio.Queue = asyncio.Queue()


def tell(said: dict) -> None:
    print(json.dumps(said), flush=True)


async def read_lines() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        lines.put_nowait(json.loads(line))
    lines.put_nowait(None)


async def ask(params) -> dict:
    question = {"message": params.message, "mode": getattr(params, "mode", "form") or "form"}
    if getattr(params, "url", None):
        question["url"] = str(params.url)
    tell({"asked": question})
    answer = await lines.get()
    if "trouble" in answer:
        raise RuntimeError(answer["trouble"])
    return answer


@asynccontextmanager
async def fastmcp():
    from fastmcp import Client
    from fastmcp.client.elicitation import ElicitResult

    async def elicit(message, response_type, params, context):
        return ElicitResult(**await ask(params))

    options = {"elicitation_handler": elicit} if shows == "form" else {}
    async with Client(url, auth=token, **options) as client:
        yield client.call_tool_mcp


async def elicit(context, params, *_):
    from mcp.types import ElicitResult

    return ElicitResult(**await ask(params))


@asynccontextmanager
async def mcp1():
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    options = {"elicitation_callback": elicit} if shows == "form" else {}
    async with streamablehttp_client(url, headers=headers) as (read, write, _):
        async with ClientSession(read, write, **options) as session:
            await session.initialize()
            yield session.call_tool


@asynccontextmanager
async def mcp2():
    from httpx2 import AsyncClient, Timeout
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    options = {"elicitation_callback": elicit} if shows == "form" else {}
    async with AsyncClient(headers=headers, timeout=Timeout(30, read=300)) as http:
        wire = streamable_http_client(url, http_client=http)
        mode = "legacy" if lifecycle == "initialize" else "auto"
        async with Client(wire, mode=mode, **options) as client:
            yield client.call_tool


@asynccontextmanager
async def langchain():
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient

    raw = []

    async def keep(request, handler):
        raw[:] = [await handler(request)]
        return raw[0]

    client = MultiServerMCPClient(
        {"interlude": {"transport": "streamable_http", "url": url, "headers": headers}},
        callbacks=Callbacks(on_elicitation=elicit if shows == "form" else None),
        tool_interceptors=[keep],
    )
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def call(name, arguments):
        await tools[name].ainvoke(arguments)
        return raw[0]

    yield call


connectors = {
    "fastmcp": fastmcp,
    "mcp": mcp1 if version("mcp").startswith("1.") else mcp2,
    "langchain": langchain,
}


async def main() -> None:
    reading = asyncio.create_task(read_lines())
    async with connectors[library]() as call_tool:
        tell({"ready": version("mcp")})
        while call := await lines.get():
            try:
                result = await call_tool(call["tool"], call["arguments"])
                tell({"result": result.model_dump(mode="json", by_alias=True)})
            except Exception as error:
                tell({"trouble": f"{type(error).__name__}: {error}"})
    reading.cancel()


asyncio.run(main())
