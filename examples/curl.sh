#!/usr/bin/env bash
# Every dialect with curl. Each answer is printed as it comes.
set -euo pipefail
url=${TEMPO9_URL:-http://127.0.0.1:11435}
question='What is the capital of France?'

ask() {
  echo "# $1"
  curl --silent --show-error --fail-with-body "$url$1" -H 'Content-Type: application/json' -d "$2"
  echo
}

ask /v1/chat/completions '{"messages": [{"role": "user", "content": "'"$question"'"}], "max_tokens": 64}'
ask /v1/chat/completions '{"messages": [{"role": "user", "content": "'"$question"'"}], "max_tokens": 16, "stream": true}'
ask /v1/responses '{"input": "'"$question"'", "max_output_tokens": 64}'
ask /v1/messages '{"max_tokens": 64, "messages": [{"role": "user", "content": "'"$question"'"}]}'
ask /v1/messages/count_tokens '{"messages": [{"role": "user", "content": "'"$question"'"}]}'
ask /api/chat '{"model": "any", "messages": [{"role": "user", "content": "'"$question"'"}], "options": {"num_predict": 64}}'
ask /v1/embeddings '{"input": ["a cat", "a dog"], "dimensions": 4}'

# A tool that the model may call: the answer holds the call, and what it gives goes back as a message of the role `tool`.
ask /v1/chat/completions '{"messages": [{"role": "user", "content": "What is the weather in Paris?"}], "temperature": 0,
  "tools": [{"type": "function", "function": {"name": "get_weather", "description": "Get the current weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]}'

for path in /v1/models /api/tags /health; do
  echo "# $path"
  curl --silent --show-error --fail-with-body "$url$path"
  echo
done
