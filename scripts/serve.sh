#!/usr/bin/env bash
# scripts/serve.sh MODEL PORT: starts the release build and says how to talk to it.
set -euo pipefail
cd "$(dirname "$0")/.."

# The program itself prints its address and a curl line once it is ready.
cat <<TEXT

Starting Tempo9 on port $2 (make serve PORT=... for another). In Python, with the OpenAI client (pip install openai):

  from openai import OpenAI
  client = OpenAI(base_url="http://127.0.0.1:$2/v1", api_key="none")
  question = [{"role": "user", "content": "Where is the Eiffel Tower?"}]
  for chunk in client.chat.completions.create(model="tempo9", messages=question, temperature=0, stream=True):
      print(chunk.choices[0].delta.content or "", end="", flush=True)

TEXT
exec build/release/apps/tempo9 --gguf "$1" --port "$2"
