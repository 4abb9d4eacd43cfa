"""An editor in Python: one prompt to the agent that the arguments start. Prints what it has seen as JSON."""

import asyncio
import json
import sys

from acp import PROTOCOL_VERSION, AcceptElicitationResponse, spawn_agent_process, text_block
from acp.schema import (
    ClientCapabilities,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
)

seen = {"said": "", "calls": [], "asked": []}


class Editor:
    async def session_update(self, session_id, update, **kwargs):
        kind = update.session_update
        if kind == "agent_message_chunk":
            seen["said"] += update.content.text
        elif kind == "tool_call":
            seen["calls"].append(update.title)

    async def create_elicitation(self, message, mode, **kwargs):
        seen["asked"].append(message)
        return AcceptElicitationResponse(action="accept", content={"city": "Lisbon"})

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        raise AssertionError("nothing here needs an approval")

    def on_connect(self, conn):
        pass


async def main(text, command, *words):
    capabilities = ClientCapabilities(
        elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities())
    )
    async with spawn_agent_process(
        Editor(), command, *words, use_unstable_protocol=True
    ) as (agent, process):
        hello = await agent.initialize(
            protocol_version=PROTOCOL_VERSION, client_capabilities=capabilities
        )
        session = await agent.new_session(cwd="/work", mcp_servers=[])
        end = await agent.prompt(session_id=session.session_id, prompt=[text_block(text)])
        # Notifications are handled beside responses.
        await asyncio.sleep(0.2)
        seen["stopReason"] = end.stop_reason
        seen["protocolVersion"] = hello.protocol_version
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
