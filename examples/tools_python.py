"""Tool calls with OpenAI's client: the model asks for the weather, this program looks it up, the model answers."""

import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ.get("TEMPO9_URL", "http://127.0.0.1:11435") + "/v1", api_key="none")


def get_weather(city: str) -> dict:
    return {"city": city, "temperature": 21, "condition": "sunny"}


tools = [{
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "City name"}},
            "required": ["city"],
        },
    },
}]  # fmt: skip
messages = [{"role": "user", "content": "What is the weather in Paris?"}]
while True:
    message = client.chat.completions.create(model="tempo9", messages=messages, tools=tools, temperature=0).choices[0].message
    messages.append(message)
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        print(f"{call.function.name}({call.function.arguments})")
        result = get_weather(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
print(message.content)
