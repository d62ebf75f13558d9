"""OpenAI's client: a chat as a stream, a conversation that the server keeps, embeddings."""

import os

from openai import OpenAI

client = OpenAI(base_url=os.environ.get("TEMPO9_URL", "http://127.0.0.1:11435") + "/v1", api_key="none")

question = [{"role": "user", "content": "What is the capital of France?"}]
for chunk in client.chat.completions.create(model="tempo9", messages=question, max_tokens=64, stream=True):
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()

first = client.responses.create(model="tempo9", input="My name is Clara.", max_output_tokens=64)
second = client.responses.create(
    model="tempo9", input="What is my name?", previous_response_id=first.id, max_output_tokens=64
)
print(second.output_text)

vectors = [entry.embedding for entry in client.embeddings.create(model="tempo9", input=["a cat", "a dog"]).data]
print("similarity of a cat and a dog:", round(sum(x * y for x, y in zip(*vectors, strict=True)), 3))
