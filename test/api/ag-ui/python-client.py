"""A client of AG-UI over the types of Python's ag-ui-protocol: its whole story with an agent, as one line of JSON."""

import json
import sys
import uuid

import httpx
from ag_ui.core import Event, ResumeEntry, RunAgentInput, Tool, ToolMessage, UserMessage
from pydantic import TypeAdapter

url, token, stranger = sys.argv[1:]
events_of = TypeAdapter(Event)
thread = str(uuid.uuid4())
page = [Tool(name='set_theme', description='Changes the theme of the page.', parameters={'type': 'object'})]


def run(messages=(), resume=None, token=token):
    """The events of a run, or the code of the problem that it was refused with."""
    given = RunAgentInput(
        thread_id=thread,
        run_id=str(uuid.uuid4()),
        protocol_version='1.0',
        state={},
        messages=list(messages),
        tools=page,
        context=[],
        forwarded_props={},
        resume=resume,
    )
    headers = {'authorization': f'Bearer {token}', 'content-type': 'application/json'}
    body = given.model_dump_json(by_alias=True, exclude_none=True)
    with httpx.stream('POST', url, headers=headers, content=body, timeout=30, trust_env=False) as response:
        if response.status_code != 200:
            return json.loads(response.read())['code']
        lines = [line for line in response.iter_lines() if line.startswith('data: ')]
        return [events_of.validate_json(line[len('data: ') :]) for line in lines]


def say(content):
    return run([UserMessage(id=str(uuid.uuid4()), content=content)])


def answer(events, status='resolved', **payload):
    """Answers every interrupt of a run alike."""
    ids = [interrupt.id for interrupt in events[-1].outcome.interrupts]
    return run(resume=[ResumeEntry(interrupt_id=id, status=status, **payload) for id in ids])


def end(events):
    """How a run ended, and what the agent said."""
    text = ''.join(event.delta for event in events if event.type.value == 'TEXT_MESSAGE_CONTENT')
    return [events[-1].outcome.type, text]


def questions(events):
    return sorted(f'{one.reason}: {one.message}' for one in events[-1].outcome.interrupts)


call = 'call asking__ask {}'
story = {'plain': end(say('hello'))}
asked = say(call)
story['form'] = questions(asked)
story['wrong'] = answer(asked, payload={'city': 7})[-1].outcome.type
story['unknown'] = run(resume=[ResumeEntry(interrupt_id='nothing', status='cancelled')])
story['stranger'] = run(token=stranger)
story['answered'] = end(answer(asked, payload={'city': 'Lisbon'}))
several = say(call)
story['several'] = questions(several)
story['declined'] = end(answer(several, payload={'action': 'decline'}))
story['cancelled'] = end(answer(say(call), 'cancelled'))
link = say(call)
story['link'] = link[-1].outcome.interrupts[0].metadata['interlude']['url']
story['opened'] = end(answer(link))
approval = say('call asking__remove {}')
story['approval'] = questions(approval)
story['approved'] = end(answer(approval, payload={'approved': True}))
called = say('call set_theme {"theme":"dark"}')
[pending] = called[-1].outcome.pending_tool_call_ids
result = ToolMessage(id=str(uuid.uuid4()), tool_call_id=pending, content='It is dark.')
story['front end'] = end(run([result]))
story['again'] = [event.value['status'] for event in run([result]) if event.type.value == 'CUSTOM']
say(call)
story['superseded'] = end(say('hello again'))
print(json.dumps(story))
