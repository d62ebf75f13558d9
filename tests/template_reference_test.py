"""Chat templates rendered exactly as Hugging Face transformers renders them with Python's Jinja2.

Needs the program render_template (see rendering.py). The many public templates come from scripts/get_test_data.sh,
which the slow tests call themselves; the fast ones use the model's own template and templates written here.
"""

import collections
import copy
import csv
import json
import re

import conversations
import gguf_metadata
import public_templates
import pytest
import reference_jinja as reference
import rendering
import tables
import template_snippets
from rendering import difference

SHOWN = 5  # differences in a failure's message


def outcomes(cases: list[tuple[str, str, dict]]) -> list[tuple[str, str]]:
    """Each case is a name, a template and its variables. An outcome is a word, and what there is to say about it."""
    outputs = rendering.run([{"template": source, "variables": variables} for _, source, variables in cases])
    found = []
    for (name, source, variables), output in zip(cases, outputs, strict=True):
        expected = reference.render(source, copy.deepcopy(variables))
        text, error = output.get("text"), output.get("error")
        if text != expected:
            why = error or reference.why_refused(source, copy.deepcopy(variables))
            found.append(("different", f"{name}: {difference(text, expected)} ({why})"))
        elif expected is None:
            assert re.match(r"line \d+: .", error), f"{name}: {error!r} does not name the line and the reason"
            found.append(("refused by both", error))
        else:
            found.append(("equal", ""))
    return found


def compare(cases: list[tuple[str, str, dict]]) -> collections.Counter:
    found = outcomes(cases)
    different = [why for outcome, why in found if outcome == "different"]
    assert not different, f"{len(different)} of {len(cases)} differ:\n" + "\n".join(different[:SHOWN])
    return collections.Counter(outcome for outcome, _ in found)


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
    found = public_templates.read()
    assert len(found) >= 140
    return found


SIGNS = {frozenset({"equal"}): "=", frozenset({"refused by both"}): "-", frozenset({"equal", "refused by both"}): "~"}


@pytest.mark.slow
def test_public_templates(templates):
    """Shows one line a template: a sign for each conversation, then the counts. Every outcome is in the table's file."""
    counts, different, rows = collections.Counter(), [], []
    title = "templates: = equal, - refused by both, ~ either, depending on tools and thinking, # different"
    tables.add(title, ", ".join(conversations.MESSAGES))
    for name, source in templates.items():
        found = outcomes(conversation_cases(source))
        by_conversation = collections.defaultdict(set)
        for (conversation, setting, _), (outcome, why) in zip(conversations.all_cases(), found, strict=True):
            by_conversation[conversation].add(outcome)
            rows.append([name, conversation, setting, outcome, why])
            if outcome == "different":
                different.append(f"{name}, {why}")
        row = collections.Counter(outcome for outcome, _ in found)
        counts.update(row)
        signs = "".join(SIGNS.get(frozenset(kinds), "#") for kinds in by_conversation.values())
        tables.add(title, f"{name:60} {signs} {row['equal']:4} equal {row['refused by both']:4} refused")
    with (public_templates.DATA / "template_outcomes.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["template", "conversation", "setting", "outcome", "reason"], *rows])
    tables.add(title, f"{len(templates)} templates: {dict(counts)}")
    assert not different, f"{len(different)} of {len(rows)} differ:\n" + "\n".join(different[:SHOWN])
    # A template that refuses nearly everything would prove nothing.
    assert counts["equal"] > 100 * len(templates)


# What a conversation needs of a template to be rendered without any rewriting.
NATURAL = {
    "user": [],
    "system": ["shows_system"],
    "several turns": ["shows_system"],
    "reasoning": [],
    "later system": ["shows_system", "shows_later_system"],
    "two users": ["allows_repeated_user"],
    "two assistants": ["allows_repeated_assistant"],
    "call and text": ["shows_system", "shows_tool_calls", "shows_text_beside_call"],
    "call and reasoning": ["shows_tool_calls", "allows_reasoning_beside_call"],
    "result": ["shows_tool_calls"],
    "parallel calls": ["shows_tool_calls", "allows_parallel_calls"],
    "calls in a row": ["shows_tool_calls"],
    "user after result": ["shows_tool_calls", "allows_user_after_tool"],
    "odd contents": ["shows_system"],
}


def traits_of(sources: list[str]) -> list[dict]:
    outputs = rendering.run([{"template": source, "show": "traits"} for source in sources])
    return [output.get("traits") for output in outputs]


def as_request(message: dict) -> dict:
    """As OpenAI's clients write it: a call's arguments are a text."""
    calls = copy.deepcopy(message.get("tool_calls", []))
    for call in calls:
        call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
    return {**message, **({"tool_calls": calls} if calls else {})}


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
            body = {"messages": [as_request(message) for message in messages], "tools": tools}
            setting = {"add_generation_prompt": True, "tools": tools or None}
            expected = reference.render(source, conversations.variables([as_transformers(m) for m in messages], setting))
            output = rendering.run([{"template": source, "dialect": "openai_chat", "body": body}])[0]
            if expected is None:
                continue  # served by rewriting, or refused by both
            assert output.get("text") == expected, f"{name}, {conversation}: {difference(output.get('text'), expected)}"
            compared += 1
    assert compared > 8 * len(templates)
