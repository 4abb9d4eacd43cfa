"""A client of AG-UI over the types of Python's ag-ui-protocol. A line of JSON on stdin is a run; its events are lines on stdout."""

import asyncio
import json
import sys

import httpx
from ag_ui.core import Event, RunAgentInput
from ag_ui_validate import create_validator
from pydantic import TypeAdapter

events_of = TypeAdapter(Event)
started = set()


def is_error(found):
    """The checker knows one run only: the result of a call that an interrupt paused comes in the next one."""
    of_earlier_run = found.rule == 'AGUI207' and any(f"'{call}'" in found.message for call in started)
    return found.severity == 'error' and not of_earlier_run


def tell(run, **what):
    print(json.dumps({'run': run, **what}), flush=True)


async def follow(http, run, url, authorization, body):
    given = RunAgentInput.model_validate(body).model_dump_json(by_alias=True, exclude_none=True)
    headers = {'authorization': authorization, 'content-type': 'application/json'}
    async with http.stream('POST', url, headers=headers, content=given) as response:
        if response.status_code != 200:
            return tell(run, status=response.status_code, problem=(await response.aread()).decode())
        tell(run, status=200)
        rules = create_validator()
        async for line in response.aiter_lines():
            if line.startswith('data: '):
                data = line[len('data: ') :]
                event = events_of.validate_json(data)
                rules.feed(json.loads(data))
                if event.type.value == 'TOOL_CALL_START':
                    started.add(event.tool_call_id)
                tell(run, event=event.model_dump(mode='json', by_alias=True, exclude_none=True))
        rules.finalize()
    found = [f'{one.rule} {one.message}' for one in rules.report().diagnostics if is_error(one)]
    tell(run, findings=found)


async def main():
    runs = {}
    read = asyncio.get_running_loop().run_in_executor
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        while line := await read(None, sys.stdin.readline):
            asked = json.loads(line)
            if asked.pop('cut', False):
                runs[asked['run']].cancel()
            else:
                runs[asked['run']] = asyncio.create_task(follow(http, **asked))
                runs[asked['run']].add_done_callback(lambda task: task.cancelled() or task.result())


asyncio.run(main())
