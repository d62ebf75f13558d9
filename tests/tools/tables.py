"""Lines that a test wants to be seen although it passes; conftest.py shows them when all have run."""

LINES: dict[str, list[str]] = {}


def add(title: str, line: str) -> None:
    LINES.setdefault(title, []).append(line)
