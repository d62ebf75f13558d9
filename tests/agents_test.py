"""Coding agents, unmodified and headless, against a server whose model says what is written down for it.

scripts/node_env.sh puts the pinned packages where TEMPO9_AGENTS says (default build/agents).
"""

import json
import os
import pathlib
import subprocess

import pytest
import scripted_model

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 300  # one of them takes a minute to start on a busy machine
pytestmark = pytest.mark.slow


def packages() -> pathlib.Path:
    folder = ROOT / os.environ.get("TEMPO9_AGENTS", "build/agents") / "node_modules"
    assert folder.is_dir(), f"{folder} does not exist; run scripts/node_env.sh build/agents tests/agents"
    return folder


def only(pattern: str) -> pathlib.Path:
    """The one file of the packages, whose path names the machine, that matches."""
    found = list(packages().glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


class Workplace:
    """A home, a working folder and a server for one agent."""

    def __init__(self, folder: pathlib.Path, url: str):
        self.home, self.work, self.url = folder / "home", folder / "work", url
        self.home.mkdir()
        self.work.mkdir()

    def run(self, command: list, **variables: str) -> str:
        """What the command prints, in an environment that holds nothing else of this machine's."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), **variables}
        done = subprocess.run([str(word) for word in command], cwd=self.work, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=SECONDS)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def write(self, path: str, text: str) -> None:
        target = self.home / path
        target.parent.mkdir(parents=True)
        target.write_text(text)


def codex(place: Workplace, task: str, model: str = "local") -> str:
    place.write(".codex/config.toml", f"""
model = "{model}"
model_provider = "tempo9"
[model_providers.tempo9]
name = "Tempo9"
base_url = "{place.url}/v1"
wire_api = "responses"
""")
    output = place.run([only("@openai/codex-linux-*/vendor/*/bin/codex"), "exec", "--skip-git-repo-check", "--json",
                        "--dangerously-bypass-approvals-and-sandbox", task])  # fmt: skip
    items = [json.loads(line).get("item", {}) for line in output.splitlines()]
    return [item["text"] for item in items if item.get("type") == "agent_message"][-1]


def claude_code(place: Workplace, task: str) -> str:
    output = place.run(
        [only("@anthropic-ai/claude-code-linux-*/claude"), "-p", task, "--output-format", "json", "--allowedTools", "Bash"],
        ANTHROPIC_BASE_URL=place.url, ANTHROPIC_AUTH_TOKEN="none", ANTHROPIC_MODEL="local",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
    )  # fmt: skip
    return json.loads(output)["result"]


def openclaw(place: Workplace, task: str) -> str:
    model = {"id": "local", "name": "local", "reasoning": False, "input": ["text"], "contextWindow": 65536, "maxTokens": 4096,
             "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}  # fmt: skip
    provider = {"baseUrl": f"{place.url}/v1", "apiKey": "none", "api": "openai-completions", "models": [model]}
    place.write(".openclaw/openclaw.json", json.dumps({
        "models": {"mode": "merge", "providers": {"tempo9": provider}},
        "agents": {"defaults": {"model": {"primary": "tempo9/local"}, "workspace": str(place.work)}},
    }))  # fmt: skip
    output = place.run([only("node-linux-*/bin/node"), packages() / "openclaw" / "openclaw.mjs", "agent", "--local",
                        "--session-id", "test", "--message", task, "--json"])  # fmt: skip
    return json.loads(output)["meta"]["finalAssistantVisibleText"]


def codex_with_patches(place: Workplace, task: str) -> str:
    """For models it knows by name it declares a free-form tool for patches."""
    return codex(place, task, "gpt-5.5")


AGENTS = {"codex": codex, "claude-code": claude_code, "openclaw": openclaw}


@pytest.fixture
def workplace(start_server, tmp_path):
    """workplace(scripts) serves a model that answers with them in turn; each names the next one's marker."""

    def prepare(scripts: list[str]) -> tuple[Workplace, list[str]]:
        model = tmp_path / "scripted.gguf"
        markers = scripted_model.write_scripted_model(model, "qwen3", scripts)
        return Workplace(tmp_path, start_server(model=model).url), markers

    return prepare


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_finishes_a_task_of_one_answer(agent, workplace):
    place, markers = workplace(["The answer is forty-two."])
    assert AGENTS[agent](place, f"Answer this: {markers[0]}") == "The answer is forty-two."


def call(name: str, arguments: dict) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


SHELLS = {"codex": ("exec_command", "cmd"), "claude-code": ("Bash", "command"), "openclaw": ("exec", "command")}


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_calls_two_tools_and_reads_their_results(agent, workplace):
    name, parameter = SHELLS[agent]
    # What the first command prints holds the second one's marker, and so on.
    place, markers = workplace([
        "First I write." + call(name, {parameter: "echo one > first.txt; echo '<<script:1>>'"}),
        call(name, {parameter: "cat first.txt > second.txt; echo '<<script:2>>'"}),
        "Both files are there.",
    ])  # fmt: skip
    assert AGENTS[agent](place, f"Write two files: {markers[0]}") == "Both files are there."
    assert (place.work / "second.txt").read_text() == "one\n"


def test_codex_applies_a_patch_that_comes_as_free_text(workplace):
    patch = "*** Begin Patch\n*** Add File: note.txt\n+a \"quoted\" line\n+<<script:1>>\n*** End Patch\n"
    place, markers = workplace([call("apply_patch", {"input": patch}), "The note is there."])
    assert codex_with_patches(place, f"Write a note: {markers[0]}") == "The note is there."
    assert (place.work / "note.txt").read_text() == 'a "quoted" line\n<<script:1>>\n'
