#!/usr/bin/env python3
"""Draws what the benches wrote: a picture beside each results file that has one.

    grid-*.csv      tokens per second over context depth, and over streams, of the models measured at several
    agents-*.csv    seconds to the first token over turns: from the quickest agent to the slowest
    streams-*.csv   tokens per second over streams that run at once
    contexts-*.csv  memory over declared context

    bench/pictures.py bench/results/*/*.csv
"""

import collections
import csv
import pathlib
import statistics
import sys
import typing

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "tempo9"  # the same figures give the same file
matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
from matplotlib import pyplot  # noqa: E402

Rows = list[dict[str, str]]
PROGRAMS = {"tempo9": "C0", "llama.cpp": "C1"}
SIZE = 4.5, 3.2  # inches, of one plot
THREADS = "2"


def read(path: pathlib.Path) -> tuple[str, Rows]:
    """The machine, and the rows."""
    lines = path.read_text().splitlines()
    machine = next(line for line in lines if line.startswith("# cpu:")).removeprefix("# cpu: ")
    return machine, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def plots(count: int, machine: str) -> tuple[pyplot.Figure, list[pyplot.Axes]]:
    figure, axes = pyplot.subplots(1, count, figsize=(SIZE[0] * count, SIZE[1]), squeeze=False, layout="constrained")
    figure.suptitle(machine, fontsize=9)
    return figure, list(axes[0])


def line(axes: pyplot.Axes, program: str, points: dict[float, list[float]]) -> None:
    """Medians, joined; a point without a figure is left out."""
    known = {x: statistics.median(values) for x, values in sorted(points.items()) if any(values)}
    axes.plot(known.keys(), known.values(), marker="o", color=PROGRAMS[program], label=program)


def finish(axes: pyplot.Axes, title: str, x: str, y: str, *, logarithmic: bool = False) -> None:
    axes.set(title=title, xlabel=x, ylabel=y)
    if logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()


def curve(axes: pyplot.Axes, rows: Rows, across: str, value: str) -> None:
    for program in PROGRAMS:
        points = collections.defaultdict(list)
        for row in rows:
            if row["program"] == program:
                points[float(row[across])].append(float(row[value] or 0))
        line(axes, program, points)


def grid(machine: str, rows: Rows) -> pyplot.Figure | None:
    """One plot for each curve with at least three points."""
    wanted = []
    for model in dict.fromkeys(row["model"] for row in rows):
        of_model = [row for row in rows if row["model"] == model and row["threads"] == THREADS]
        alone = [row for row in of_model if row["streams"] == "1"]
        shallow = [row for row in of_model if row["depth"] == "0"]
        name = model.removesuffix(".gguf")
        wanted += [(f"{name}\nprompts of 512", alone, "depth", "prompt_tokens_per_second"),
                   (f"{name}\ngeneration", alone, "depth", "generation_tokens_per_second"),
                   (f"{name}\ngeneration", shallow, "streams", "generation_tokens_per_second")]  # fmt: skip
    wanted = [plot for plot in wanted if len({row[plot[2]] for row in plot[1]}) >= 3]
    if not wanted:
        return None
    figure, all_axes = plots(len(wanted), machine)
    for axes, (title, of_plot, across, value) in zip(all_axes, wanted):
        curve(axes, of_plot, across, value)
        finish(axes, title, across, f"tokens/s, {THREADS} threads")
    return figure


def agents(machine: str, rows: Rows) -> pyplot.Figure:
    figure, (axes,) = plots(1, machine)
    for program, color in PROGRAMS.items():
        turns = collections.defaultdict(list)
        for row in rows:
            if row["program"] == program:
                turns[int(row["number"]) + 1].append(float(row["first_token_seconds"]))
        axes.fill_between(list(turns), list(map(min, turns.values())), list(map(max, turns.values())), color=color, alpha=0.3)
        line(axes, program, turns)
    title = f"{rows[0]['model'].removesuffix('.gguf')}, {len({row['agent'] for row in rows})} agents"
    finish(axes, title, "turn", "seconds to the first token", logarithmic=True)
    return figure


def streams(machine: str, rows: Rows) -> pyplot.Figure | None:
    rows = [{**row, "streams": row["what"].split()[0]} for row in rows if row["scenario"] == "throughput"]
    if not rows:
        return None
    figure, (axes,) = plots(1, machine)
    curve(axes, rows, "streams", "value")
    finish(axes, rows[0]["model"].removesuffix(".gguf"), "streams at once", "tokens/s in all, through HTTP")
    return figure


def contexts(machine: str, rows: Rows) -> pyplot.Figure:
    declared = [row for row in rows if row["context"].isdecimal()]  # the others are in use
    rows = [{**row, "mib": str(float(row["anonymous_bytes_besides_weights"]) / 2**20)} for row in declared]
    figure, (axes,) = plots(1, machine)
    curve(axes, rows, "context", "mib")
    title = rows[0]["model"].removesuffix(".gguf")
    finish(axes, title, "declared context, tokens", "MiB besides weights, unused", logarithmic=True)
    axes.set_xscale("log", base=2)
    return figure


KINDS: dict[str, typing.Callable] = {"grid": grid, "agents": agents, "streams": streams, "contexts": contexts}


def main() -> None:
    for path in map(pathlib.Path, sys.argv[1:]):
        draw = KINDS.get(path.name.partition("-")[0])
        figure = draw(*read(path)) if draw else None
        if figure:
            figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
            pyplot.close(figure)
            print(path.with_suffix(".svg"))


if __name__ == "__main__":
    main()
