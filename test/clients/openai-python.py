"""OpenAI's own client for Python: does what each line of its input says, and tells how it went, line by line."""

import json
import sys

from openai import APIError, OpenAI


def tell(**news):
    print(json.dumps(news), flush=True)


def tell_chunk(chunk):
    question = (chunk.model_extra or {}).get("elicitation")
    if question:
        tell(question=question)
    for choice in chunk.choices:
        if choice.finish_reason:
            tell(finish=choice.finish_reason)
    if chunk.usage:
        tell(total=chunk.usage.total_tokens)


def iterate(client, **request):
    text = ""
    try:
        for chunk in client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **request):
            tell_chunk(chunk)
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
    finally:
        tell(text=text)


def helper(client, **request):
    with client.chat.completions.stream(**request) as stream:
        for event in stream:
            if event.type == "chunk":
                tell_chunk(event.chunk)
        tell(text=stream.get_final_completion().choices[0].message.content)


def whole(client, **request):
    response = client.chat.completions.with_raw_response.create(**request)
    completion = response.parse()
    choice = completion.choices[0]
    tell(retries=response.retries_taken)
    tell(finish=choice.finish_reason)
    tell(total=completion.usage.total_tokens)
    tell(text=choice.message.content)


def models(client, model, **_):
    tell(models=[known.id for known in client.models.list()], one=client.models.retrieve(model).id)


for line in sys.stdin:
    task = json.loads(line)
    client = OpenAI(base_url=task["url"], api_key=task["token"], default_headers=task["headers"])
    messages = [{"role": "user", "content": task["prompt"]}]
    try:
        globals()[task["what"]](client, model=task["model"], messages=messages)
    except APIError as error:
        status = getattr(error, "status_code", None)
        tell(error=type(error).__name__, status=status, code=error.code, param=error.param, message=error.message)
    tell(done=True)
