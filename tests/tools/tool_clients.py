"""The official Python clients behind one face, for conversations with tools.

    client = CLIENTS["messages"](server.url)
    talk = client.history([{"role": "user", "content": "What is the weather in Paris?"}])
    reply = client.ask(talk, TOOLS, stream=True)
    talk += reply.turn + client.results(reply.calls, ["sunny"])

Conversations and tools are written as Chat Completions has them. `turn` is what a client sends back of a reply, as the
client's own objects are.
"""

import contextlib
import dataclasses
import json

import anthropic
import ollama
import openai

MOST_TOKENS = 400


@dataclasses.dataclass
class Call:
    id: str
    name: str
    arguments: dict | str  # a text: a free-form tool's input

    def shown(self) -> tuple:
        return self.name, self.arguments


@dataclasses.dataclass
class Reply:
    text: str
    reasoning: str
    calls: list[Call]
    finish: str  # "stop", "calls" or "length"
    tokens: int  # of the completion
    turn: list

    def shown(self) -> tuple:
        """What must be the same of a reply as a whole and of the stream: all but ids."""
        return self.text, self.reasoning, [call.shown() for call in self.calls], self.finish, self.tokens


class Chat:
    freeform = True

    def __init__(self, url: str):
        self.client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)

    def history(self, messages: list[dict]) -> list:
        return list(messages)

    def results(self, calls: list[Call], texts: list[str]) -> list:
        return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in zip(calls, texts, strict=True)]

    def ask(self, history: list, tools: list[dict], stream: bool, tokens=MOST_TOKENS, think=False, one=False, none=False):
        body = {"model": "tempo9", "messages": history, "tools": tools, "temperature": 0, "max_tokens": tokens}
        body["extra_body"] = {"chat_template_kwargs": {"enable_thinking": think}}
        body |= {"parallel_tool_calls": False} if one else {}
        body |= {"tool_choice": "none"} if none else {}
        if not stream:
            reply = self.client.chat.completions.create(**body)
            message = reply.choices[0].message.model_dump(exclude_none=True)
            return self._reply(message, reply.choices[0].finish_reason, reply.usage)
        chunks = self.client.chat.completions.create(**body, stream=True, stream_options={"include_usage": True})
        return self._reply(*self.put_together(list(chunks)))

    @staticmethod
    def put_together(chunks: list) -> tuple:
        """As clients do it: by index, with names in the first piece and texts going on in the others."""
        message, finish = {"role": "assistant"}, None
        calls: list[dict] = []
        for chunk in chunks:
            for choice in chunk.choices:
                assert finish is None, "a piece behind the end"
                finish = choice.finish_reason
                for field in ("content", "reasoning_content"):
                    message[field] = message.get(field, "") + (getattr(choice.delta, field, None) or "")
                for piece in choice.delta.tool_calls or []:
                    piece = piece.model_dump(exclude_none=True)
                    if piece.pop("index") == len(calls):
                        assert piece["id"] and piece["type"] and piece[piece["type"]]["name"]
                        calls.append(piece)
                        continue
                    kind, field = ("custom", "input") if calls[-1]["type"] == "custom" else ("function", "arguments")
                    assert piece == {kind: {field: piece[kind][field]}}
                    calls[-1][kind][field] += piece[kind][field]
        if calls:
            message["tool_calls"] = calls
        return message, finish, chunks[-1].usage

    @staticmethod
    def _reply(message: dict, finish: str, usage) -> Reply:
        calls = []
        for call in message.get("tool_calls", []):
            custom = call["type"] == "custom"
            inner = call[call["type"]]
            with contextlib.suppress(ValueError):  # a stream cannot take back what turns out to be no call
                arguments = inner["input"] if custom else json.loads(inner["arguments"])
                calls.append(Call(call["id"], inner["name"], arguments))
        finish = {"tool_calls": "calls"}.get(finish, finish)
        text, reasoning = message.get("content") or "", message.get("reasoning_content", "")
        return Reply(text, reasoning, calls, finish, usage.completion_tokens, [message])


class Responses:
    freeform = True

    def __init__(self, url: str):
        self.client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)

    def history(self, messages: list[dict]) -> list:
        items = []
        for message in messages:
            if message["role"] == "tool":
                items.append({"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]})  # fmt: skip
                continue
            if message["content"]:
                items.append({"role": message["role"], "content": message["content"]})
            for call in message.get("tool_calls", []):
                items.append({"type": "function_call", "call_id": call["id"], **call["function"]})
        return items

    def results(self, calls: list[Call], texts: list[str]) -> list:
        items = []
        for call, text in zip(calls, texts, strict=True):
            kind = "function_call_output" if isinstance(call.arguments, dict) else "custom_tool_call_output"
            items.append({"type": kind, "call_id": call.id, "output": text})
        return items

    @staticmethod
    def _tool(tool: dict) -> dict:
        kind = tool["type"]
        return {"type": kind, **tool[kind], **({"strict": False} if kind == "function" else {})}

    def ask(self, history: list, tools: list[dict], stream: bool, tokens=MOST_TOKENS, think=False, one=False, none=False):
        body = {"model": "tempo9", "input": history, "tools": list(map(self._tool, tools)), "temperature": 0}
        body |= {"max_output_tokens": tokens, "store": False}
        body |= {"reasoning": {"effort": "high"}} if think else {}
        body |= {"parallel_tool_calls": False} if one else {}
        body |= {"tool_choice": "none"} if none else {}
        if not stream:
            return self.reply(self.client.responses.create(**body))
        with self.client.responses.stream(**body) as stream_of_events:
            events = list(stream_of_events)
            # The helper takes a response that the length cut for an error.
            complete = events[-1].type == "response.completed"
            response = stream_of_events.get_final_response() if complete else events[-1].response
        done = [event.item for event in events if event.type == "response.output_item.done"]
        # Some clients go by the items as they end, others by the whole at the end.
        assert [item.id for item in done] == [item.id for item in response.output]
        return self.reply(response)

    @staticmethod
    def reply(response) -> Reply:
        calls, reasoning = [], ""
        for item in response.output:
            if item.type == "reasoning":
                reasoning = item.content[0].text
            elif item.type != "message" and item.status == "completed":
                custom = item.type == "custom_tool_call"
                calls.append(Call(item.call_id, item.name, item.input if custom else json.loads(item.arguments)))
        finish = "length" if response.status == "incomplete" else "calls" if calls else "stop"
        tokens = response.usage.output_tokens
        turn = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
        return Reply(response.output_text, reasoning, calls, finish, tokens, turn)


class Messages:
    freeform = False

    def __init__(self, url: str):
        self.client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)

    def history(self, messages: list[dict]) -> list:
        turns = []
        for message in messages:
            if message["role"] == "tool":
                block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
                turns.append({"role": "user", "content": [block]})
                continue
            blocks = [{"type": "text", "text": message["content"]}] if message["content"] else []
            for call in message.get("tool_calls", []):
                function = call["function"]
                blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": json.loads(function["arguments"])})  # fmt: skip
            turns.append({"role": message["role"], "content": blocks})
        return turns

    def results(self, calls: list[Call], texts: list[str]) -> list:
        pairs = zip(calls, texts, strict=True)
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in pairs]
        return [{"role": "user", "content": blocks}]

    @staticmethod
    def _tool(tool: dict) -> dict:
        function = tool["function"]
        shown = {"name": function["name"], "input_schema": function["parameters"]}
        return shown | ({"description": function["description"]} if "description" in function else {})

    def ask(self, history: list, tools: list[dict], stream: bool, tokens=MOST_TOKENS, think=False, one=False, none=False):
        body = {"model": "tempo9", "messages": history, "tools": list(map(self._tool, tools)), "max_tokens": tokens}
        body["extra_body"] = {"temperature": 0}
        body |= {"thinking": {"type": "adaptive"}} if think else {}
        body |= {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}} if one else {}
        body |= {"tool_choice": {"type": "none"}} if none else {}
        if not stream:
            return self._reply(self.client.messages.create(**body))
        with self.client.messages.stream(**body) as events:
            return self._reply(events.get_final_message())

    @staticmethod
    def _reply(message) -> Reply:
        # In a stream also what has begun as a call and is none has a block; then that is not what ended the message.
        blocks = message.content if message.stop_reason == "tool_use" else []
        calls = [Call(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"]
        text = "".join(block.text for block in message.content if block.type == "text")
        reasoning = "".join(block.thinking for block in message.content if block.type == "thinking")
        finish = {"end_turn": "stop", "tool_use": "calls", "max_tokens": "length"}[message.stop_reason]
        turn = [{"role": "assistant", "content": message.content}]
        return Reply(text, reasoning, calls, finish, message.usage.output_tokens, turn)


class Ollama:
    freeform = False

    def __init__(self, url: str):
        self.client = ollama.Client(host=url)

    def history(self, messages: list[dict]) -> list:
        turns = []
        for message in messages:
            turn = {"role": message["role"], "content": message["content"]}
            if "tool_calls" in message:
                functions = [call["function"] for call in message["tool_calls"]]
                turn["tool_calls"] = [
                    {"function": {"name": f["name"], "arguments": json.loads(f["arguments"])}} for f in functions
                ]
            turns.append(turn)
        return turns

    def results(self, calls: list[Call], texts: list[str]) -> list:
        pairs = zip(calls, texts, strict=True)
        return [{"role": "tool", "tool_name": call.name, "content": text} for call, text in pairs]

    def ask(self, history: list, tools: list[dict], stream: bool, tokens=MOST_TOKENS, think=False, one=False, none=False):
        assert not one and not none, "the protocol has no such options"
        body = {"model": "tempo9", "messages": history, "tools": tools, "think": think}
        body["options"] = {"temperature": 0, "num_predict": tokens}
        parts = list(self.client.chat(**body, stream=True)) if stream else [self.client.chat(**body)]
        assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
        found = [call for part in parts for call in part.message.tool_calls or []]
        # This client keeps no ids: results follow their calls' order.
        calls = [Call("", call.function.name, dict(call.function.arguments)) for call in found]
        text = "".join(part.message.content or "" for part in parts)
        reasoning = "".join(part.message.thinking or "" for part in parts)
        finish = parts[-1].done_reason if parts[-1].done_reason == "length" else "calls" if calls else "stop"
        turn = {"role": "assistant", "content": text, "thinking": reasoning, "tool_calls": found}
        return Reply(text, reasoning, calls, finish, parts[-1].eval_count, [turn])


CLIENTS = {"chat": Chat, "responses": Responses, "messages": Messages, "ollama": Ollama}
