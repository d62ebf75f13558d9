"""An instruction behind the first reply, with a template that takes one at the beginning only: it reaches the model in its
place, and what stood before it is not computed again.
"""

import pytest
import scripted_model
from conftest import Server
from dialects import DIALECTS, answer

SCRIPTS = ["First.", "Second."]
ASKED_BY_DEVELOPERS = [("chat", "developer"), ("responses", "developer")]  # the other protocols have no such role
REPLY_OPENING = 8  # tokens with which the template opens a reply; an earlier reply may begin otherwise


@pytest.fixture(scope="module")
def qwen(program, tmp_path_factory):
    """A server, and the marker of each script."""
    folder = tmp_path_factory.mktemp("scripted")
    markers = scripted_model.write_scripted_model(folder / "scripted.gguf", "qwen3.5", SCRIPTS)
    running = Server(program, folder / "scripted.gguf", folder / "log")
    yield running, markers
    assert running.stop() == 0, running.log.read_text()


@pytest.mark.parametrize("dialect, role", [*((name, "system") for name in DIALECTS), *ASKED_BY_DEVELOPERS])
def test_it_is_followed_and_costs_no_prefix(dialect, role, qwen):
    server, (first, second) = qwen
    talk = [{"role": "system", "content": f"Rules, {dialect}, {role}: " + "be brief. " * 60}, {"role": "user", "content": first}]
    before = answer(server.url, dialect, talk, 50)
    assert before.text == "First."
    talk += [{"role": "assistant", "content": before.text}, {"role": role, "content": f"From now on say {second}"}]
    talk += [{"role": "user", "content": "Go on."}]
    after = answer(server.url, dialect, talk, 50)
    assert after.text == "Second."
    assert after.cached_tokens >= before.prompt_tokens - REPLY_OPENING
