"""A client of AG-UI over the types of Python's ag-ui-protocol: is asked, answers, is refused. Writes one line of JSON."""

import json
import sys
import uuid

import httpx
from ag_ui.core import Event, ResumeEntry, RunAgentInput, UserMessage
from pydantic import TypeAdapter

url, token = sys.argv[1:]
events_of = TypeAdapter(Event)
thread = str(uuid.uuid4())


def run(messages=(), resume=None):
    """The events of a run, or the problem that it was refused with."""
    given = RunAgentInput(
        thread_id=thread,
        run_id=str(uuid.uuid4()),
        protocol_version='1.0',
        state={},
        messages=list(messages),
        tools=[],
        context=[],
        forwarded_props={},
        resume=resume,
    )
    headers = {'authorization': f'Bearer {token}', 'content-type': 'application/json'}
    body = given.model_dump_json(by_alias=True, exclude_none=True)
    with httpx.stream('POST', url, headers=headers, content=body, timeout=30, trust_env=False) as response:
        if response.status_code != 200:
            return json.loads(response.read())
        lines = [line for line in response.iter_lines() if line.startswith('data: ')]
        return [events_of.validate_json(line[len('data: ') :]) for line in lines]


def outcome(events):
    return events[-1].outcome.type


asked = run([UserMessage(id='m1', content='call asking__ask {}')])
[interrupt] = asked[-1].outcome.interrupts
entry = {'interrupt_id': interrupt.id, 'status': 'resolved'}
wrong = run(resume=[ResumeEntry(**entry, payload={'city': 7})])
unknown = run(resume=[ResumeEntry(interrupt_id='nothing', status='cancelled')])
answered = run(resume=[ResumeEntry(**entry, payload={'city': 'Lisbon'})])
text = ''.join(event.delta for event in answered if event.type.value == 'TEXT_MESSAGE_CONTENT')
print(
    json.dumps(
        {
            'asked': [outcome(asked), interrupt.reason, interrupt.message],
            'wrong': outcome(wrong),
            'unknown': unknown['code'],
            'answered': [outcome(answered), text],
        }
    )
)
