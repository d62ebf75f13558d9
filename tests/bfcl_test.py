"""The path loses nothing: every single-turn case of the Berkeley Function Calling Leaderboard, answered by a model that
writes the right calls in its family's own format, must come through HTTP as it was written and satisfy the leaderboard's
own judge. (bench/bfcl/run.py measures models that were not told the answers.)

Needs the program render_template (TEMPO9_RENDER), which writes a call as the family's chat template does.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import urllib.request

import pytest
import rendering
import scripted_model
from conftest import ROOT, Server

sys.path.append(str(ROOT / "bench" / "bfcl"))

SAMPLES = 200  # in `make test`, of all groups together
BATCH = 400  # cases that one model file answers
TEXT = "None of the functions fits."
ANOTHER = "\N{SNOWMAN}"  # an answer that begins like no call
UNTYPED = {"qwen3.5", "gemma4"}  # whose values get their types from the tool's schema
TURN_STARTS = {
    "llama3": "<|start_header_id|>", "qwen3": "<|im_start|>", "qwen3.5": "<|im_start|>", "gemma4": "<|turn>",
    "mistral": "[INST]", "gpt-oss": "<|start|>",
}  # fmt: skip
PARALLEL = 24


@pytest.fixture(scope="module")
def leaderboard():
    subprocess.run([ROOT / "bench" / "bfcl" / "get_bfcl.sh"], check=True)
    import bfcl_truths
    import official

    return official, bfcl_truths


def assistant(calls: list[tuple[str, dict]]) -> dict:
    if not calls:
        return {"role": "assistant", "content": TEXT}
    called = [
        {"id": f"call{number:05}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": "", "tool_calls": called}


def written(family: str, cases: list, truths: list) -> list[str | None]:
    """What the model writes for these calls: where the template's text for them parts from that for another answer. None
    where the template cannot show the case: some take one call a turn."""
    metadata, end = scripted_model.family_metadata(family)
    template = metadata["tokenizer.chat_template"].decode()
    inputs = []
    for case, calls in zip(cases, truths, strict=True):
        for turn in (assistant(calls), {"role": "assistant", "content": ANOTHER}):
            body = {"messages": [*case.messages, turn], "tools": case.tools, "add_generation_prompt": False}
            body["chat_template_kwargs"] = {"enable_thinking": False}
            inputs.append({"template": template, "dialect": "openai_chat", "body": body, "end_text": end})
    outputs = rendering.run(inputs)
    texts = [output.get("text") for output in outputs]
    scripts = []
    for shown, another, calls in zip(texts[::2], texts[1::2], truths, strict=True):
        if shown is None:  # the template itself fails on this tool's schema (gpt-oss: a default that is no text)
            scripts.append(None)
            continue
        script = shown[len(os.path.commonprefix([shown, another])) :]
        behind = another[another.index(ANOTHER) + len(ANOTHER) :]
        script = script.removesuffix(behind) if script.endswith(behind) else script
        names = collections.Counter(name for name, _ in calls)
        all_shown = all(script.count(name) >= count for name, count in names.items())
        scripts.append(script if all_shown and TURN_STARTS[family] not in script else None)
    return scripts


def ask(url: str, case, marker: str, stream: bool) -> tuple[list[tuple[str, str]], str]:
    messages = [*case.messages[:-1], {**case.messages[-1], "content": case.messages[-1]["content"] + marker}]
    body = {"messages": messages, "tools": case.tools, "temperature": 0, "stream": stream}
    body["chat_template_kwargs"] = {"enable_thinking": False}  # as it was written
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})  # fmt: skip
    with urllib.request.urlopen(request, timeout=300) as answer:
        data = answer.read().decode()
    calls, text = [], ""
    if not stream:
        message = json.loads(data)["choices"][0]["message"]
        calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", [])]
        return calls, message["content"] or ""
    for line in data.split("\n"):
        if not line.startswith("data: {"):
            continue
        delta = json.loads(line[6:])["choices"][0]["delta"]
        text += delta.get("content") or ""
        for piece in delta.get("tool_calls", []):
            function = piece["function"]
            if piece["index"] == len(calls):
                calls.append((function["name"], ""))
            calls[-1] = (calls[-1][0], calls[-1][1] + function["arguments"])
    return calls, text


def check(leaderboard, program: pathlib.Path, folder: pathlib.Path, family: str, cases: list) -> None:
    official, bfcl_truths = leaderboard
    if family in UNTYPED:
        cases = [case for case in cases if bfcl_truths.fits_its_schema(case)]
    truths = [bfcl_truths.truth(case) for case in cases]
    scripts = written(family, cases, truths)
    able = [index for index, script in enumerate(scripts) if script is not None]
    cases, truths, scripts = ([items[index] for index in able] for items in (cases, truths, scripts))
    path = folder / "scripted.gguf"
    markers = scripted_model.write_scripted_model(path, family, scripts)
    running = Server(program, path, folder / "log")
    try:
        asked = [(stream, index) for stream in (False, True) for index in range(len(cases))]
        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            replies = list(pool.map(lambda a: ask(running.url, cases[a[1]], markers[a[1]], a[0]), asked))
    finally:
        running.stop()
    for (stream, index), (calls, text) in zip(asked, replies, strict=True):
        case, expected = cases[index], truths[index]
        where = f"{family}, {case.id}, {'stream' if stream else 'whole'}"
        assert [(name, json.loads(arguments)) for name, arguments in calls] == expected, f"{where}: {calls}, {text!r}"
        assert text == ("" if expected else TEXT), where
        assert case.id in bfcl_truths.UNANSWERABLE or official.judge(case, calls) == "", where


def all_cases(official) -> list:
    return [case for group in official.GROUPS for case in official.load(group)]


def test_samples(leaderboard, program, tmp_path):
    cases = random.Random(4).sample(all_cases(leaderboard[0]), SAMPLES)
    check(leaderboard, program, tmp_path, "qwen3", cases)


@pytest.mark.slow
@pytest.mark.parametrize("family", TURN_STARTS)
def test_all(family, leaderboard, program, tmp_path):
    cases = all_cases(leaderboard[0])
    for begin in range(0, len(cases), BATCH):
        folder = tmp_path / str(begin)
        folder.mkdir()
        check(leaderboard, program, folder, family, cases[begin : begin + BATCH])
