"""A server of the SDK for Python, 1 or 2, whose tool asks: `python-sdk-server.py <port>`. Where LangChain's adapters are
installed, the tool is one of LangChain's. What it does, it writes to standard output."""

import sys
from importlib.util import find_spec

from pydantic import BaseModel

port = int(sys.argv[1])


class Stay(BaseModel):
    nights: int


def did(what: str) -> None:
    print(f"did: {what}", flush=True)


async def ask_nights(city: str, ctx) -> str:
    did(f"begin {city}")
    answer = await ctx.elicit(message=f"How many nights in {city}?", schema=Stay)
    if answer.action != "accept":
        return f"not booked: {answer.action}"
    did(f"book {city} for {answer.data.nights}")
    return f"booked {city} for {answer.data.nights}"


if find_spec("langchain_mcp_adapters"):
    from langchain_core.tools import tool
    from langchain_mcp_adapters.tools import to_fastmcp
    from mcp.server.fastmcp import FastMCP

    @tool
    async def book(city: str) -> str:
        """Asks by a push."""
        return await ask_nights(city, mcp.get_context())

    mcp = FastMCP("langchain", port=port, tools=[to_fastmcp(book)])
    options = {}

else:
    if find_spec("mcp.server.mcpserver"):
        from mcp.server.mcpserver import Context, MCPServer

        mcp = MCPServer("python-sdk")
        options = {"port": port}
    else:
        from mcp.server.fastmcp import Context, FastMCP

        mcp = FastMCP("python-sdk", port=port)
        options = {}

    @mcp.tool()
    async def book(city: str, ctx: Context) -> str:
        return await ask_nights(city, ctx)


mcp.run(transport="streamable-http", **options)
