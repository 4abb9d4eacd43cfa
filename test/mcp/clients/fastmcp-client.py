"""A client of FastMCP: `fastmcp-client.py <url> <token> <forms|none>`. Calls come in as lines, questions and results go out."""

import asyncio
import json
import sys
from importlib.metadata import version

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult

url, token, shows = sys.argv[1:4]
lines: asyncio.Queue = asyncio.Queue()


def tell(said: dict) -> None:
    print(json.dumps(said), flush=True)


async def read_lines() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        lines.put_nowait(json.loads(line))
    lines.put_nowait(None)


async def ask(message, response_type, params, context):
    question = {"message": message, "mode": getattr(params, "mode", "form") or "form"}
    if getattr(params, "url", None):
        question["url"] = str(params.url)
    tell({"asked": question})
    answer = await lines.get()
    if "trouble" in answer:
        raise RuntimeError(answer["trouble"])
    return ElicitResult(action=answer["action"], content=answer.get("content"))


async def main() -> None:
    reading = asyncio.create_task(read_lines())
    options = {"elicitation_handler": ask} if shows == "forms" else {}
    async with Client(url, auth=token, **options) as client:
        tell({"ready": version("fastmcp")})
        while call := await lines.get():
            try:
                result = await client.call_tool_mcp(call["tool"], call["arguments"])
                tell({"result": result.model_dump(mode="json", by_alias=True)})
            except Exception as error:
                tell({"trouble": f"{type(error).__name__}: {error}"})
    reading.cancel()


asyncio.run(main())
