"""A chat through LiteLLM, which builds each chunk anew: its questions and its text, line by line."""

import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

url, token, prompt = sys.argv[1:]
request = {"api_base": url, "api_key": token, "extra_headers": {"x-supports-elicitation": "url"}}
# As a server of OpenAI's API, without the additional members that it takes over from OpenAI itself.
chunks = litellm.completion(
    model="hosted_vllm/assistant", messages=[{"role": "user", "content": prompt}], stream=True, **request
)
text = ""
for chunk in chunks:
    delta = chunk.choices[0].delta
    fields = getattr(delta, "provider_specific_fields", None) or {}
    if "elicitation" in fields:
        print(json.dumps({"question": fields["elicitation"]}), flush=True)
    text += delta.content or ""
print(json.dumps({"text": text}), flush=True)
