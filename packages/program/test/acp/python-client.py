"""An editor in Python: one prompt to the agent that the arguments start. Prints what it has seen as JSON."""

import asyncio
import json
import sys

from acp import PROTOCOL_VERSION, AcceptElicitationResponse, spawn_agent_process, text_block
from acp.schema import (
    AllowedOutcome,
    CancelElicitationResponse,
    ClientCapabilities,
    DeclineElicitationResponse,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    ElicitationUrlCapabilities,
    RequestPermissionResponse,
)

setting = json.loads(sys.argv[1])
seen = {"said": "", "calls": [], "asked": [], "permissions": []}
kinds = {"allow": "allow_once", "reject": "reject_once"}


class Editor:
    async def session_update(self, session_id, update, **kwargs):
        kind = update.session_update
        if kind == "agent_message_chunk":
            seen["said"] += update.content.text
        elif kind == "tool_call":
            seen["calls"].append(update.title)

    async def create_elicitation(self, message, mode, **kwargs):
        is_link = "Url" in type(mode).__name__
        seen["asked"].append({"mode": "url" if is_link else "form", "message": message})
        answer = setting["answers"][len(seen["asked"]) - 1]
        if answer == "wait":
            await asyncio.Event().wait()
        if answer["action"] == "decline":
            return DeclineElicitationResponse(action="decline")
        if answer["action"] == "cancel":
            return CancelElicitationResponse(action="cancel")
        return AcceptElicitationResponse(action="accept", content=answer.get("content"))

    async def complete_elicitation(self, elicitation_id, **kwargs):
        pass

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        seen["permissions"].append(tool_call.title)
        wanted = kinds.get(setting["permit"])
        for option in options:
            if option.kind == wanted:
                chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
                return RequestPermissionResponse(outcome=chosen)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    def on_connect(self, conn):
        pass


async def main(text, command, *words):
    capabilities = ClientCapabilities(
        elicitation=ElicitationCapabilities(
            form=ElicitationFormCapabilities(), url=ElicitationUrlCapabilities()
        )
    )
    async with spawn_agent_process(
        Editor(), command, *words, use_unstable_protocol=True
    ) as (agent, process):
        hello = await agent.initialize(
            protocol_version=PROTOCOL_VERSION, client_capabilities=capabilities
        )
        session = await agent.new_session(cwd="/project", mcp_servers=[])
        end = await agent.prompt(session_id=session.session_id, prompt=[text_block(text)])
        # Notifications are handled beside responses.
        await asyncio.sleep(0.2)
        seen["stopReason"] = end.stop_reason
        seen["protocolVersion"] = hello.protocol_version
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[2:]))
