"""Anthropic's client: a message as a stream, and counting tokens."""

import os

from anthropic import Anthropic

client = Anthropic(base_url=os.environ.get("TEMPO9_URL", "http://127.0.0.1:11435"), api_key="none")

question = [{"role": "user", "content": "What is the capital of France?"}]
print("tokens:", client.messages.count_tokens(model="tempo9", messages=question).input_tokens)
with client.messages.stream(model="tempo9", max_tokens=64, messages=question) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)
print()
