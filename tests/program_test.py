"""The program as a person meets it: it starts, answers, says what is wrong, and stops when asked."""

import json
import subprocess
import urllib.parse
import urllib.request


def ask(url: str, question: str) -> dict:
    body = {"messages": [{"role": "user", "content": question}], "max_tokens": 64, "temperature": 0}
    request = urllib.request.Request(
        url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def fail_to_start(program, *options) -> str:
    """Standard error of a start that must fail by itself."""
    result = subprocess.run([program, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1, result.stdout + result.stderr
    return result.stderr


def test_a_question_is_answered(server):
    reply = ask(server.url, "Where is the Eiffel Tower?")
    assert "Paris" in reply["choices"][0]["message"]["content"]
    assert reply["choices"][0]["finish_reason"] == "stop"


def test_it_stops_when_asked(start_server):
    assert start_server().stop() == 0


def test_a_missing_model_is_named(program):
    assert "nowhere.gguf" in fail_to_start(program, "--gguf", "nowhere.gguf")


def test_a_file_that_is_no_model_is_named(program, tmp_path):
    path = tmp_path / "text.gguf"
    path.write_text("no model")
    assert "text.gguf" in fail_to_start(program, "--gguf", path)


def test_a_taken_port_is_named(program, model_path, server):
    port = str(urllib.parse.urlsplit(server.url).port)
    assert port in fail_to_start(program, "--gguf", model_path, "--port", port)
