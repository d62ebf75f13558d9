"""A last message of the assistant is continued: the prompt is the finished conversation's, cut behind its text."""

import family_templates
import public_templates
import pytest
import rendering

TEXTS = ["Yes", '{"answer": ', "two\n\nlines", " spaces around \n", "a", "user", "<|im_end|> is no token", "é漢👋"]
BEFORE = {
    "user": [{"role": "user", "content": "What now?"}],
    "system": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What now?"}],
    "the same text before": [
        {"role": "user", "content": "Yes"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "a"},
    ],
}


def bodies(messages: list[dict]) -> dict[str, dict]:
    """The same conversation in two dialects."""
    system = [m["content"] for m in messages if m["role"] == "system"]
    turns = [m for m in messages if m["role"] != "system"]
    return {
        "openai_chat": {"messages": messages, "continue_final_message": True, "add_generation_prompt": False,
                        "chat_template_kwargs": {"enable_thinking": False}},
        "anthropic": {"messages": turns, "max_tokens": 9, **({"system": system[0]} if system else {})},
    }


def cut(finished: dict, text: str) -> str:
    """What the finished conversation's prompt is up to the end of its last text."""
    prompt, ranges = finished["text"].encode(), finished["content"]
    shown = prompt[: ranges[-1][1]].decode()
    assert shown.rstrip().endswith(text.strip()), shown[-100:]
    return shown


def check(name: str, source: str) -> int:
    compared = 0
    for before, messages in BEFORE.items():
        for text in TEXTS:
            conversation = [*messages, {"role": "assistant", "content": text}]
            asked = bodies(conversation)
            finished_body = {**asked["openai_chat"], "continue_final_message": False}
            lines = [{"template": source, "dialect": "openai_chat", "body": finished_body}]
            lines += [{"template": source, "dialect": dialect, "body": body} for dialect, body in asked.items()]
            finished, *continued = rendering.run(lines)
            expected = cut(finished, text)
            for dialect, output in zip(asked, continued, strict=True):
                assert output.get("text") == expected, (
                    f"{name}, {before}, {dialect}, {text!r}: {output.get('error')} "
                    f"{rendering.difference(output.get('text'), expected)}"
                )
                compared += 1
    return compared


@pytest.mark.parametrize("name", family_templates.TEMPLATES)
def test_templates_of_our_own(name):
    assert check(name, family_templates.TEMPLATES[name]) == 2 * len(BEFORE) * len(TEXTS)


@pytest.mark.slow
def test_families():
    for name, source in public_templates.families().items():
        assert check(name, source) == 2 * len(BEFORE) * len(TEXTS)


@pytest.mark.slow
def test_as_transformers_does():
    """White space included: what apply_chat_template(continue_final_message=True) gives."""
    utilities = pytest.importorskip("transformers.utils.chat_template_utils")
    compared = 0
    for name, source in public_templates.families().items():
        for text in TEXTS:
            messages = [{"role": "user", "content": "What now?"}, {"role": "assistant", "content": text}]
            special = {"bos_token": "<s>", "eos_token": "</s>", "enable_thinking": False, "thinking": False}
            try:
                rendered, _ = utilities.render_jinja_template(
                    [messages], chat_template=source, continue_final_message=True, **special)
            except Exception:  # it refuses, or moves the text: nothing to compare with
                continue
            body = bodies(messages)["openai_chat"]
            output = rendering.run([{"template": source, "dialect": "openai_chat", "body": body}])[0]
            assert output.get("text") == rendered[0], (
                f"{name}, {text!r}: {output.get('error')} {rendering.difference(output.get('text'), rendered[0])}")
            compared += 1
    assert compared > 100
