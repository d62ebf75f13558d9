"""What coding agents and SDKs send is read and rendered: every text reaches the model once, nothing else does, and a
request that extends an earlier one extends its prompt.

Fast with templates of our own that have the families' traits, slow with the families' real ones. Needs the program
render_template, as template_reference_test.py does.
"""

import json

import gguf_metadata
import public_templates
import pytest
import rendering
from agent_sessions import SESSIONS, Session, asks_anew, marks
from family_templates import TEMPLATES


def render(source: str, session: Session, **more) -> list[dict]:
    lines = [{"template": source, "dialect": session.dialect, "body": body, **more} for body in session.requests]
    return rendering.run(lines)


def ids(session: Session) -> str:
    return session.name


def check_shown(text: str, body: dict, traits: dict, where: str) -> None:
    """Every mark of the messages is shown once; those of tools at most once."""
    assert "HIDDEN" not in text, f"{where}: {text[max(0, text.index('HIDDEN') - 200) :][:300]}"
    declared = set(marks(body.get("tools", [])))
    # A template that shows no text beside a call, nor takes it as a turn of its own, leaves no place for it.
    loses_preamble = not traits["shows_text_beside_call"] and not traits["allows_repeated_assistant"]
    for mark in marks({key: value for key, value in body.items() if key != "tools"}):
        # A tool that a search found is declared in the conversation, and is no text of a message.
        if mark not in declared and not (loses_preamble and mark.endswith(" preamble>")):
            assert text.count(mark) == 1, f"{where}: {mark} is shown {text.count(mark)} times"
    if traits["shows_tools"]:
        assert all(text.count(mark) <= 1 for mark in declared), where


def check_session(name: str, source: str, session: Session, changes_earlier_turns: bool = False) -> None:
    traits = rendering.run([{"template": source, "show": "traits"}])[0]["traits"]
    with_prompt, plain = render(source, session), render(source, session, add_generation_prompt=False)
    for number, (output, body) in enumerate(zip(with_prompt, session.requests, strict=True)):
        where = f"{name}, {session.name}, request {number}"
        if session.image and number + 1 == len(session.requests):
            refusal = output.get("error") or output["gap"]
            assert "images" in refusal, f"{where}: {refusal}"
            continue
        assert "text" in output, f"{where}: {output}"
        check_shown(output["text"], body, traits, where)
        if number > 0 and session.extends:
            if changes_earlier_turns and asks_anew(session.requests[number - 1], body):
                continue
            before = plain[number - 1]["text"]
            assert output["text"].startswith(before), f"{where}: {rendering.difference(output['text'], before)}"


@pytest.mark.parametrize("session", SESSIONS, ids=ids)
@pytest.mark.parametrize("name", TEMPLATES)
def test_family_traits(name, session):
    check_session(name, TEMPLATES[name], session)


def test_the_models_own_template(model_path):
    source = gguf_metadata.read(model_path)["tokenizer.chat_template"].decode()
    for session in SESSIONS:
        check_session("the model's own", source, session)


@pytest.mark.slow
def test_the_families_own_templates():
    for name, source in public_templates.families().items():
        for session in SESSIONS:
            check_session(name, source, session, name in public_templates.CHANGE_EARLIER_TURNS)


def test_the_head_declares_what_is_not_deferred():
    session = next(s for s in SESSIONS if s.name == "claude, tool search")
    outputs = render(TEMPLATES["easy"], session)
    late = session.requests[1]["tools"][2]["description"].split(">")[0]
    assert late not in outputs[0]["text"]
    assert outputs[1]["text"].count(late) == 1
    assert outputs[1]["text"].index("The tool WebFetch is available now") < outputs[1]["text"].index(late)


def test_the_order_of_a_schemas_keys_is_kept():
    parameters = {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}, "$defs": {}}
    tool = {"type": "function", "function": {"name": "f", "description": "", "parameters": parameters}}
    body = {"messages": [{"role": "user", "content": "q"}], "tools": [tool]}
    output = rendering.run([{"template": TEMPLATES["easy"], "dialect": "openai_chat", "body": body}])[0]
    assert json.dumps(parameters) in output["text"]
