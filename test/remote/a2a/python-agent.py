"""A remote agent on Python's SDK: answers, asks, waits for a login. Takes the port, its version, and where the SDK is."""

import asyncio
import glob
import sys

sys.path += glob.glob(sys.argv[3] + "/python*/site-packages")

import uvicorn
from a2a.helpers.proto_helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandlerV2
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette

port, version = int(sys.argv[1]), sys.argv[2]


class Playing(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        print("did:", text, flush=True)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)

        def words(said):
            return updater.new_agent_message([Part(text=said)])

        if context.current_task:
            await updater.add_artifact([Part(text=f"You said: {text}")])
            await updater.complete()
            return
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        await event_queue.enqueue_event(
            Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
        )
        await updater.start_work()
        verb, _, rest = text.partition(" ")
        if verb == "ask":
            await updater.requires_input(words(rest))
        elif verb == "login":
            await updater.requires_auth(words(rest))
            await asyncio.sleep(2)
            await updater.add_artifact([Part(text="Signed in.")])
            await updater.complete()
        elif verb == "fail":
            await updater.failed(words(rest))
        else:
            await updater.add_artifact([Part(text=rest)])
            await updater.complete()

    async def cancel(self, context, event_queue):
        print("did: cancel", flush=True)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="Playing",
    description="plays",
    version="1",
    supported_interfaces=[
        AgentInterface(url=f"http://127.0.0.1:{port}/a2a", protocol_binding="JSONRPC", protocol_version=version)
    ],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
)
handler = DefaultRequestHandlerV2(agent_executor=Playing(), task_store=InMemoryTaskStore(), agent_card=card)
routes = create_agent_card_routes(card) + create_jsonrpc_routes(handler, "/a2a", enable_v0_3_compat=version == "0.3")
uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="info")
