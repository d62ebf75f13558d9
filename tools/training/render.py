"""The chat template in Python, split into pieces by how much each counts in the loss.

`pieces(sample)` yields (text, kind); the joined text equals what `data/chat_template.jinja` renders
(check_data.py compares them). Kinds: PROMPT, ANSWER, and IGNORE for text the model never has to write.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

IGNORE, PROMPT, ANSWER = 0, 1, 2
TEMPLATE = Path(__file__).parent / "data" / "chat_template.jinja"
IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"


@dataclass
class Sample:
    kind: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = field(default_factory=list)
    images: list[np.ndarray] = field(default_factory=list)  # uint8, sides multiples of 32
    thinking: bool = False


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def calls_text(content: str, calls: list[dict[str, Any]]) -> str:
    out = [content] if content else []
    blocks = []
    for c in calls:
        f = c["function"]
        args = "".join(
            f"<parameter={k}>\n{v if isinstance(v, str) else dump(v)}\n</parameter>\n"
            for k, v in f["arguments"].items()
        )
        blocks.append(f"<tool_call>\n<function={f['name']}>\n{args}</function>\n</tool_call>")
    if blocks:
        out.append("\n".join(blocks))
    return "\n\n".join(out)


def system_text(tools: list[dict[str, Any]], system: str | None) -> str:
    if not tools:
        return system or ""
    text = "# Tools\n\nYou can call these functions:\n\n<tools>" + "".join("\n" + dump(t) for t in tools)
    text += (
        "\n</tools>\n\nA call looks like this:\n\n<tool_call>\n<function=name>\n<parameter=key>\nvalue\n"
        "</parameter>\n</function>\n</tool_call>"
    )
    return text + ("\n\n" + system if system is not None else "")


def content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(IMAGE if p["type"] == "image" else p["text"] for p in content)


def pieces(s: Sample) -> list[tuple[str, int]]:
    m = s.messages
    system = m[0]["content"].strip() if m[0]["role"] == "system" else None
    body = m[1:] if system is not None else m
    out: list[tuple[str, int]] = []
    if s.tools or system is not None:
        out.append((f"<|im_start|>system\n{system_text(s.tools, system)}<|im_end|>\n", PROMPT))
    last_query = max(i for i, x in enumerate(body) if x["role"] == "user")
    for i, x in enumerate(body):
        if x["role"] == "user":
            out.append((f"<|im_start|>user\n{content_text(x['content']).strip()}<|im_end|>\n", PROMPT))
        elif x["role"] == "tool":
            head = "<|im_start|>user" if body[i - 1]["role"] != "tool" else ""
            tail = "<|im_end|>\n" if i + 1 == len(body) or body[i + 1]["role"] != "tool" else ""
            out.append((f"{head}\n<tool_response>\n{x['content'].strip()}\n</tool_response>{tail}", PROMPT))
        else:
            answer = calls_text(x["content"].strip(), x.get("tool_calls", [])) + "<|im_end|>"
            if i <= last_query:
                out += [("<|im_start|>assistant\n", IGNORE), (answer, ANSWER), ("\n", IGNORE)]
            elif s.thinking:
                out += [
                    ("<|im_start|>assistant\n<think>\n", IGNORE),
                    (x.get("reasoning_content", "") + "\n</think>\n\n" + answer, ANSWER),
                    ("\n", IGNORE),
                ]
            else:
                out += [("<|im_start|>assistant\n<think>\n\n</think>\n\n", IGNORE), (answer, ANSWER), ("\n", IGNORE)]
    return out
