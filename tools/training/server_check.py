"""End-to-end check of the GGUF files with llama.cpp's server: tool calls, JSON, pictures, speculation.

    python server_check.py --server PATH/llama-server --models DIR [--file NAME.gguf] [--count 40] [--speculate]

Requests go through /v1/chat/completions with the model's own template, greedy, thinking off.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.request
import zlib
from pathlib import Path

import numpy as np

from pictures import image_sample
from texts import chat_pair, json_sample
from tool_samples import agent_sample, tool_sample


def png(img: np.ndarray) -> bytes:
    def chunk(tag: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    h, w, _ = img.shape
    rows = b"".join(b"\0" + img[i].tobytes() for i in range(h))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


class Server:
    def __init__(self, binary: Path, model: Path, mmproj: Path, extra: list[str]):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.proc = subprocess.Popen(
            [
                str(binary),
                "-m",
                str(model),
                "--mmproj",
                str(mmproj),
                "--jinja",
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
                "-c",
                "16384",
                "-np",
                "1",
                *extra,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self):
        for _ in range(300):
            try:
                if self.call("/health", None).get("status") == "ok":
                    return self
            except (urllib.error.URLError, ConnectionError):
                pass
            time.sleep(0.1)
        raise RuntimeError("server did not start")

    def __exit__(self, *_):
        self.proc.terminate()
        self.proc.wait(10)

    def call(self, route, body):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{self.port}{route}", data, {"Content-Type": "application/json"}),
            timeout=120,
        ) as r:
            return json.loads(r.read())

    def chat(self, messages, **kw):
        body = dict(
            messages=messages, temperature=0, max_tokens=400, chat_template_kwargs={"enable_thinking": False}, **kw
        )
        out = self.call("/v1/chat/completions", body)
        self.timings = out.get("timings", {})
        return out["choices"][0]["message"]


def wire(messages, images):
    """Messages as a client sends them; pictures become data URLs."""
    pics = iter(images)
    out = []
    for m in messages:
        m = {k: x for k, x in m.items() if k != "reasoning_content"}
        if isinstance(m["content"], list):
            m["content"] = [
                p
                if p["type"] == "text"
                else {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64," + base64.b64encode(png(next(pics))).decode()},
                }
                for p in m["content"]
            ]
        out.append(m)
    for i, m in enumerate(out):  # call ids, as the API wants them
        if m.get("tool_calls"):
            m["tool_calls"] = [
                {
                    **c,
                    "id": f"call_{i}_{k}",
                    "function": {**c["function"], "arguments": json.dumps(c["function"]["arguments"])},
                }
                for k, c in enumerate(m["tool_calls"])
            ]
    return out


def calls_of(message):
    return [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in message.get("tool_calls") or []]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--file", default="tempo9-tiny-Q8_0.gguf")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--speculate", type=int, default=0, help="draft this many tokens with the next-token block")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    options = parser.parse_args()
    extra = ["-t", str(options.threads)] + (
        ["--spec-type", "draft-mtp", "--spec-draft-n-max", str(options.speculate)] if options.speculate else []
    )
    drafted = accepted = predicted = 0
    with Server(
        options.server, options.models / options.file, options.models / "mmproj-tempo9-tiny-F16.gguf", extra
    ) as srv:

        def ask(sample, upto, **kw):
            nonlocal drafted, accepted, predicted
            if sample.tools:
                kw["tools"] = sample.tools
            got = srv.chat(wire(sample.messages[:upto], sample.images), **kw)
            drafted += srv.timings.get("draft_n", 0)
            accepted += srv.timings.get("draft_n_accepted", 0)
            predicted += srv.timings.get("predicted_n", 0)
            return got

        def text_right(s, got, want):
            return (got.get("content") or "").strip() == want["content"].strip() and not got.get("tool_calls")

        def call_right(s, got, want):
            return calls_of(got) == [(c["function"]["name"], c["function"]["arguments"]) for c in want["tool_calls"]]

        def first_answer(s):
            return next(i for i, m in enumerate(s.messages) if m["role"] == "assistant")

        def last_answer(s):
            return len(s.messages) - 1

        groups = [
            ("tool call, one call", lambda r: tool_sample(r, False, "single"), first_answer, call_right, {}),
            ("tool call, unseen tool names", lambda r: tool_sample(r, True, "single"), first_answer, call_right, {}),
            (
                "tool call, several calls",
                lambda r: tool_sample(r, False, "parallel"),
                first_answer,
                call_right,
                {"parallel_tool_calls": True},
            ),
            ("tool result, then answer", lambda r: tool_sample(r, False, "follow"), last_answer, text_right, {}),
            ("no tool fits", lambda r: tool_sample(r, False, "none", chat_pair), last_answer, text_right, {}),
            ("file agent, first call", agent_sample, first_answer, call_right, {}),
            ("file agent, last answer", agent_sample, last_answer, text_right, {}),
            ("picture, caption", lambda r: image_sample(r, "caption"), last_answer, text_right, {}),
            (
                "picture, other questions",
                lambda r: image_sample(r, r.choice(["count", "colour", "exists", "where"])),
                last_answer,
                text_right,
                {},
            ),
        ]
        for name, make, where, right, kw in groups:
            r, n = random.Random("server " + name), 0
            for _ in range(options.count):
                s = make(r)
                i = where(s)
                got = ask(s, i, **kw)
                ok = right(s, got, s.messages[i])
                n += ok
                if options.show and not ok:
                    print(
                        "  asked",
                        s.messages[i - 1]["content"],
                        "\n  got  ",
                        got.get("content"),
                        calls_of(got),
                        "\n  want ",
                        s.messages[i]["content"],
                        [
                            (c["function"]["name"], c["function"]["arguments"])
                            for c in s.messages[i].get("tool_calls", [])
                        ],
                    )
            print(f"{name}: {n}/{options.count}", flush=True)
        r, valid, exact, forced = random.Random("server json"), 0, 0, 0
        for _ in range(options.count):
            s = json_sample(r)
            want = json.loads(s.messages[-1]["content"])
            try:
                got = json.loads(ask(s, len(s.messages) - 1)["content"])
                valid += 1
                exact += got == want
            except ValueError:
                pass
            got = ask(s, len(s.messages) - 1, response_format={"type": "json_object"})
            try:
                forced += json.loads(got["content"]) == want
            except ValueError:
                pass
        print(
            f"JSON: valid {valid}/{options.count}, right {exact}/{options.count}, right with response_format json_object {forced}/{options.count}"
        )
        if drafted:
            print(
                f"speculation: {accepted}/{drafted} drafted tokens accepted ({accepted / drafted:.3f}), {predicted} tokens written"
            )


if __name__ == "__main__":
    main()
