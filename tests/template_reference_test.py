"""Chat templates rendered exactly as Hugging Face transformers renders them with Python's Jinja2.

Needs the program render_template (TEMPO9_RENDER; default build/dev/tests/render_template). The many public templates
come from scripts/get_test_data.sh, which the slow tests call themselves; the fast ones use the model's own template
and templates written here.
"""

import collections
import copy
import json
import os
import pathlib
import subprocess

import conversations
import gguf_metadata
import pytest
import reference_jinja as reference
import template_snippets

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / os.environ.get("TEMPO9_RENDER", "build/dev/tests/render_template")
DATA = ROOT / "build" / "data"
SHOWN = 5  # differences in a failure's message


def run(inputs: list[dict]) -> list[dict]:
    lines = "".join(json.dumps(item) + "\n" for item in inputs)
    result = subprocess.run([PROGRAM], input=lines.encode(), capture_output=True)
    assert result.returncode == 0, result.stderr.decode()
    outputs = [json.loads(line) for line in result.stdout.split(b"\n")[:-1]]
    assert len(outputs) == len(inputs)
    return outputs


def difference(ours: str | None, expected: str | None) -> str:
    if ours is None or expected is None:
        return f"ours {ours!r:.200}, reference {expected!r:.200}"
    at = next((i for i, (a, b) in enumerate(zip(ours, expected)) if a != b), min(len(ours), len(expected)))
    return f"at {at}: ours {ours[max(0, at - 30) : at + 60]!r}, reference {expected[max(0, at - 30) : at + 60]!r}"


def compare(cases: list[tuple[str, str, dict]]) -> collections.Counter:
    """Each case is a name, a template and its variables."""
    outputs = run([{"template": source, "variables": variables} for _, source, variables in cases])
    counts, different = collections.Counter(), []
    for (name, source, variables), output in zip(cases, outputs, strict=True):
        expected = reference.render(source, copy.deepcopy(variables))
        text = output.get("text")
        if text != expected:
            why = output.get("error") or reference.why_refused(source, copy.deepcopy(variables))
            different.append(f"{name}: {difference(text, expected)} ({why})")
        counts["refused by both" if expected is None else "equal"] += 1
    assert not different, f"{len(different)} of {len(cases)} differ:\n" + "\n".join(different[:SHOWN])
    return counts


def conversation_cases(source: str) -> list[tuple[str, str, dict]]:
    return [(f"{name}, {setting}", source, variables) for name, setting, variables in conversations.all_cases()]


def test_snippets():
    cases = [(snippet, snippet, template_snippets.VARIABLES) for snippet in template_snippets.SNIPPETS]
    assert compare(cases)["refused by both"] == 0


def test_refused_snippets():
    cases = [(snippet, snippet, template_snippets.VARIABLES) for snippet in template_snippets.REFUSED]
    assert compare(cases)["equal"] == 0


def test_the_models_own_template(model_path):
    source = gguf_metadata.read(model_path)["tokenizer.chat_template"].decode()
    compare(conversation_cases(source))


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    subprocess.run([ROOT / "scripts" / "get_test_data.sh"], check=True)
    found = {path.stem: path.read_text() for path in sorted((DATA / "llama.cpp" / "templates").glob("*.jinja"))}
    assert len(found) >= 60
    return found


@pytest.mark.slow
def test_public_templates(templates):
    table = {name: compare(conversation_cases(source)) for name, source in templates.items()}
    print(f"\n{'template':60} {'equal':>6} {'refused':>8}")
    for name, counts in table.items():
        print(f"{name:60} {counts['equal']:6} {counts['refused by both']:8}")
    # A template that refuses nearly everything would prove nothing.
    assert sum(counts["equal"] for counts in table.values()) > 100 * len(table)


# What a conversation needs of a template to be rendered without any rewriting.
NATURAL = {
    "user": [],
    "system": ["shows_system"],
    "several turns": ["shows_system"],
    "reasoning": [],
    "later system": ["shows_system", "shows_later_system"],
    "two users": ["allows_repeated_user"],
    "two assistants": ["allows_repeated_assistant"],
    "call and text": ["shows_system", "shows_tool_calls"],
    "call and reasoning": ["shows_tool_calls", "allows_reasoning_beside_call"],
    "result": ["shows_tool_calls"],
    "parallel calls": ["shows_tool_calls", "allows_parallel_calls"],
    "calls in a row": ["shows_tool_calls"],
    "user after result": ["shows_tool_calls", "allows_user_after_tool"],
    "odd contents": ["shows_system"],
}


def traits_of(sources: list[str]) -> list[dict]:
    outputs = run([{"template": source, "request": {"messages": [], "show_traits": True}} for source in sources])
    return [output.get("traits") for output in outputs]


def as_transformers(message: dict) -> dict:
    """What apply_chat_template hands on for a message of ours."""
    reasoning = message.get("reasoning_content")
    more = {"thinking": reasoning} if reasoning else {}
    return {"role": message["role"], **more, **{"content": "", **message}}


@pytest.mark.slow
def test_requests_without_rewriting(templates):
    """Our variables are those of transformers: where a template takes a conversation as it is, the text is the same."""
    compared = 0
    for (name, source), traits in zip(templates.items(), traits_of(list(templates.values())), strict=True):
        if not traits["takes_text"] or not traits["takes_none_as_tools"] or traits["arguments_as_text"]:
            continue
        plain = {"odd contents", "user"}
        for conversation, needs in NATURAL.items():
            if not all(traits[need] for need in needs):
                continue
            messages = conversations.MESSAGES[conversation]
            tools = [] if conversation in plain else [conversations.WEATHER, conversations.EDIT]
            request = {"messages": messages, "tools": tools}
            setting = {"add_generation_prompt": True, "tools": tools or None}
            expected = reference.render(source, conversations.variables([as_transformers(m) for m in messages], setting))
            output = run([{"template": source, "request": request}])[0]
            if expected is None:
                continue  # served by rewriting, or refused by both
            assert output.get("text") == expected, f"{name}, {conversation}: {difference(output.get('text'), expected)}"
            compared += 1
    assert compared > 8 * len(templates)
