"""An MCP server whose tool asks the user a form. It holds nothing while the person thinks."""

import os
from typing import Annotated, Literal

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Elicit, MCPServer, RequestStateSecurity, Resolve
from pydantic import BaseModel, Field

# The same in each process of the server, so that any of them can go on with a call that has asked.
key = os.environ.get("STATE_KEY", "only for this machine, not secret")
server = MCPServer("restaurant", request_state_security=RequestStateSecurity(keys=[key], ttl=3600))


class When(BaseModel):
    day: str = Field(json_schema_extra={"format": "date"})
    time: Literal["18:00", "19:30", "21:00"]


async def ask_when(people: int) -> Elicit[When]:
    return Elicit(f"A table for {people}: when?", When)


@server.tool()
async def book_table(people: int, when: Annotated[ElicitationResult[When], Resolve(ask_when)]) -> str:
    """Books a table. Asks the user when."""
    if not isinstance(when, AcceptedElicitation):
        return f"No table was booked ({when.action})."
    booking = f"{people} on {when.data.day} at {when.data.time}"
    with open("bookings.txt", "a") as bookings:
        bookings.write(f"{booking}\n")
    return f"Booked: a table for {booking}."


server.run(transport="streamable-http", port=int(os.environ.get("SERVER_PORT", "3010")))
