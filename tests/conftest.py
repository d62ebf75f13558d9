"""What Python tests share: a running server and the model it serves.

`make test` sets the variables; by hand, TEMPO9_BIN names the program (default build/dev/apps/tempo9) and TEMPO9_MODEL
the file (default the small model under models/).
"""

import os
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
TINY_MODEL = ROOT / "tests" / "data" / "tempo9-tiny" / "tempo9-tiny-Q8_0.gguf"  # see the README there
START_SECONDS = 60  # loading is a second or two; a busy machine gets its time


def from_environment(name: str, default: str) -> pathlib.Path:
    path = (ROOT / os.environ.get(name, default)).resolve()
    assert path.is_file(), f"{path} does not exist; run `make dev`, or set {name}"
    return path


class Server:
    """A tempo9 process on a free port of this machine. Its log is shown when something fails."""

    def __init__(self, program: pathlib.Path, model: pathlib.Path, log: pathlib.Path, *options: str):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.log = log
        with log.open("wb") as output:
            command = [program, "--gguf", model, "--port", str(port), *options]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, f"the server ended while starting:\n{self.log.read_text()}"
            try:
                urllib.request.urlopen(self.url + "/health", timeout=5).close()
                return
            except (urllib.error.URLError, OSError):  # not listening yet, or still loading
                time.sleep(0.05)
        raise AssertionError(f"the server was not ready within {START_SECONDS} s:\n{self.log.read_text()}")

    def stop(self) -> int:
        """Asks the server to stop as Ctrl-C would, and returns its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture(scope="session")
def program() -> pathlib.Path:
    return from_environment("TEMPO9_BIN", "build/dev/apps/tempo9")


@pytest.fixture(scope="session")
def model_path() -> pathlib.Path:
    return from_environment("TEMPO9_MODEL", "models/SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.fixture(scope="session")
def server(program, model_path, tmp_path_factory):
    """One server for all tests that do not change it. A test that wants options starts its own with start_server."""
    running = Server(program, model_path, tmp_path_factory.mktemp("server") / "log")
    yield running
    assert running.stop() == 0, running.log.read_text()


@pytest.fixture(scope="session")
def tiny_server(program, tmp_path_factory):
    """A server of tempo9-tiny, for all tests that do not change it."""
    running = Server(program, TINY_MODEL, tmp_path_factory.mktemp("tiny_server") / "log")
    yield running
    assert running.stop() == 0, running.log.read_text()


@pytest.fixture
def start_server(program, model_path, tmp_path):
    """start_server("--option", "value", ...) gives a server of the test's own."""
    servers = []

    def start(*options: str, model: pathlib.Path = model_path) -> Server:
        servers.append(Server(program, model, tmp_path / f"log{len(servers)}", *options))
        return servers[-1]

    yield start
    for running in servers:
        if running.process.poll() is None:
            running.stop()


def pytest_terminal_summary(terminalreporter):
    for title, lines in tables.LINES.items():
        terminalreporter.section(title)
        for line in lines:
            terminalreporter.line(line)
