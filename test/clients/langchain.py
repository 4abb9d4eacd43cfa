"""A chat through LangChain's model for OpenAI's API: says when it is ready, and its text at the end."""

import json
import sys

from langchain_openai import ChatOpenAI

url, token, prompt = sys.argv[1:]
model = ChatOpenAI(
    base_url=url, api_key=token, model="assistant", default_headers={"x-supports-elicitation": "form,url"}
)
print(json.dumps({"ready": True}), flush=True)
whole = None
for chunk in model.stream(prompt):
    whole = chunk if whole is None else whole + chunk
print(json.dumps({"text": whole.content, "metadata": whole.response_metadata}), flush=True)
