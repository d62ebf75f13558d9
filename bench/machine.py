"""What every bench says about where it ran, and where its results go."""

import datetime
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = ROOT / "build" / "release" / "apps" / "tempo9"
PEERS = ROOT / "build" / "peers"
PEER_PROGRAMS = PEERS / "bin"


def cpu_name() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Processor"):
            return value.strip()
    return os.uname().machine


def peer_flags() -> list[str]:
    return (PEERS / "flags.txt").read_text().splitlines()


def results_file(kind: str) -> pathlib.Path:
    """bench/results/<cpu>/<kind>-<date>.csv; a second run on one day replaces the first."""
    folder = ROOT / "bench" / "results" / re.sub(r"[^a-z0-9]+", "-", cpu_name().lower()).strip("-")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{kind}-{datetime.date.today().isoformat()}.csv"


def header_lines() -> list[str]:
    """Comment lines for the head of a results file."""
    facts = [f"cpu: {cpu_name()}, {os.cpu_count()} cores", *(f"peer: {line}" for line in peer_flags())]
    return [f"# {fact}\n" for fact in facts]


def warn_if_busy() -> None:
    load = os.getloadavg()[0]
    if load > 0.3:
        print(f"note: this machine is busy (load {load:.1f}); figures for publication want a quiet one\n")


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
