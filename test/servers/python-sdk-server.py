"""A server of the SDK for Python whose tools ask: `python-sdk-server.py <port>`. What it does, it writes to standard output."""

import sys

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

mcp = MCPServer("python-sdk")


class Stay(BaseModel):
    nights: int


def did(what: str) -> None:
    print(f"did: {what}", flush=True)


@mcp.tool()
async def book(city: str, ctx: Context) -> str:
    did(f"begin {city}")
    answer = await ctx.elicit(message=f"How many nights in {city}?", schema=Stay)
    if answer.action != "accept":
        return f"not booked: {answer.action}"
    did(f"book {city} for {answer.data.nights}")
    return f"booked {city} for {answer.data.nights}"


mcp.run(transport="streamable-http", port=int(sys.argv[1]))
