"""Ollama's client: the list of models, and a chat as a stream."""

import os

from ollama import Client

client = Client(host=os.environ.get("TEMPO9_URL", "http://127.0.0.1:11435"))

model = client.list().models[0].model
print("model:", model)
question = [{"role": "user", "content": "What is the capital of France?"}]
for part in client.chat(model=model, messages=question, options={"num_predict": 64}, stream=True):
    print(part.message.content, end="", flush=True)
print()
