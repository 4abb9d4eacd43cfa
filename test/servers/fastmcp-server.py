"""A server of FastMCP whose tools ask: `fastmcp-server.py <port> <events|plain>`. What it does, it writes to standard output."""

import sys
from dataclasses import dataclass
from importlib.metadata import version

import uvicorn
from fastmcp import Context, FastMCP

port, events = int(sys.argv[1]), sys.argv[2] == "events"
mcp = FastMCP("fastmcp")
is_fourth = version("fastmcp").startswith("4.")


@dataclass
class Stay:
    nights: int


def did(what: str) -> None:
    print(f"did: {what}", flush=True)


def booked(city: str, nights: object) -> str:
    did(f"book {city} for {nights}")
    return f"booked {city} for {nights}"


async def book_by_push(city: str, ctx: Context) -> str:
    did(f"begin {city}")
    answer = await ctx.elicit(f"How many nights in {city}?", response_type=Stay)
    if answer.action != "accept":
        return f"not booked: {answer.action}"
    return booked(city, answer.data.nights)


if is_fourth:
    from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

    @mcp.tool
    async def book(city: str, ctx: Context) -> str | InputRequiredResult:
        responses = ctx.input_responses
        if responses is None:
            schema = {
                "type": "object",
                "properties": {"nights": {"type": "integer", "title": "Nights"}},
                "required": ["nights"],
            }
            params = ElicitRequestFormParams(message=f"How many nights in {city}?", requested_schema=schema)
            return InputRequiredResult(
                input_requests={"stay": ElicitRequest(params=params)}, request_state=f"asked about {city}"
            )
        answer = responses["stay"]
        did(f"state {ctx.request_state}")
        if answer.action != "accept":
            return f"not booked: {answer.action}"
        return booked(city, answer.content["nights"])

    mcp.tool(book_by_push)

else:
    from fastmcp.server.event_store import EventStore

    mcp.tool(book_by_push, name="book")

options = {"event_store": EventStore()} if events and not is_fourth else {}
app = mcp.http_app(path="/mcp", **options)
print(f"fastmcp {version('fastmcp')}", flush=True)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="info")
