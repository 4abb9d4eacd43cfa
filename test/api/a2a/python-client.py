"""The client of Python's a2a-sdk at one agent: asks, is asked, answers. Writes one line of JSON."""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)


def request(text, number, task_id=''):
    return SendMessageRequest(
        message=Message(
            message_id=f'python-{number}-{id(asyncio.current_task())}',
            task_id=task_id,
            role=Role.ROLE_USER,
            parts=[Part(text=text)],
        )
    )


async def read(stream, begun=None):
    """The states, the answer's text and the task of a stream. `begun` is set once its first event is there."""
    states, answer, task_id = [], '', ''
    async for event in stream:
        if begun is not None:
            begun.set()
        kind = event.WhichOneof('payload')
        if kind == 'task':
            task_id = event.task.id
            states.append(TaskState.Name(event.task.status.state))
            answer = ''.join(part.text for artifact in event.task.artifacts for part in artifact.parts)
        elif kind == 'status_update':
            states.append(TaskState.Name(event.status_update.status.state))
        elif kind == 'artifact_update':
            text = ''.join(part.text for part in event.artifact_update.artifact.parts)
            answer = answer + text if event.artifact_update.append else text
    return states, answer, task_id


async def main(url, token, binding, version):
    # Nothing of this program's names a version where the SDK does not.
    async with httpx.AsyncClient(timeout=30) as plain:
        card = await A2ACardResolver(plain, url).get_agent_card()
    wanted = [
        interface
        for interface in card.supported_interfaces
        if interface.protocol_binding == binding and interface.protocol_version.startswith(version)
    ]
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(wanted)
    headers = {'authorization': f'Bearer {token}'}
    async with httpx.AsyncClient(timeout=30, headers=headers) as http:
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding])
        client = ClientFactory(config).create(card)
        asked, _, task_id = await read(client.send_message(request('call asking__ask {}', 1)))
        begun = asyncio.Event()
        subscribed = read(client.subscribe(SubscribeToTaskRequest(id=task_id)), begun)
        watching = asyncio.create_task(subscribed)
        await asyncio.wait_for(begun.wait(), 30)
        answered, answer, _ = await read(client.send_message(request('Lisbon', 2, task_id)))
        watched, _, _ = await watching
        got = await client.get_task(GetTaskRequest(id=task_id))
        _, _, other = await read(client.send_message(request('call asking__ask {}', 3)))
        cancelled = await client.cancel_task(CancelTaskRequest(id=other))
        listed = None
        if version == '1.0':
            listed = len((await client.list_tasks(ListTasksRequest(page_size=1))).tasks)
        try:
            await client.get_task(GetTaskRequest(id='nobody'))
            unknown = None
        except Exception as error:
            unknown = type(error).__name__
    print(
        json.dumps(
            {
                'name': card.name,
                'asked': asked[-1],
                'answered': answered[-1],
                'answer': answer,
                'watched': watched[-1],
                'got': TaskState.Name(got.status.state),
                'cancelled': TaskState.Name(cancelled.status.state),
                'listed': listed,
                'unknown': unknown,
            }
        )
    )


asyncio.run(main(*sys.argv[1:]))
