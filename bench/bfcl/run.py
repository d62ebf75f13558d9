"""The single-turn groups of the Berkeley Function Calling Leaderboard through our server, for any model, judged by the
leaderboard's own code.

    bench/bfcl/get_bfcl.sh
    build/bfcl/bin/python bench/bfcl/run.py --model M.gguf                  # starts a server
    build/bfcl/bin/python bench/bfcl/run.py --url http://127.0.0.1:11435 --name my-model --groups multiple irrelevance

What has been answered stays in build/bfcl-results/NAME, a line for each case: run again, it goes on where it stopped.
Greedy, native function calling, tools as the leaderboard sends them to OpenAI's protocol.
"""

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import sys
import typing
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import official  # noqa: E402
from machine import OURS, ROOT, markdown_table  # noqa: E402
from servers import Server, free_port, running  # noqa: E402

ANSWER_SECONDS = 1800


def ask(url: str, case: official.Case, args: argparse.Namespace) -> dict:
    body = {"model": official.MODEL, "messages": case.messages, "temperature": 0, "max_tokens": args.max_tokens}
    body |= {"tools": case.tools} if case.tools else {}
    if args.no_thinking:
        body["chat_template_kwargs"] = {"enable_thinking": False}
    data = json.dumps(body).encode()
    request = urllib.request.Request(url + "/v1/chat/completions", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as response:
        reply = json.load(response)
    choice = reply["choices"][0]
    functions = [call["function"] for call in choice["message"].get("tool_calls", [])]
    return {
        "calls": [[function["name"], function["arguments"]] for function in functions],
        "text": choice["message"]["content"],
        "finish": choice["finish_reason"],
        "tokens": reply["usage"]["completion_tokens"],
    }


def read(path: pathlib.Path) -> dict[str, dict]:
    """Answers by case, without a last line that was cut."""
    answers = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        with contextlib.suppress(ValueError):
            answer = json.loads(line)
            answers[answer["id"]] = answer
    return answers


def answer_group(url: str, group: str, folder: pathlib.Path, args: argparse.Namespace) -> tuple[list[official.Case], dict]:
    cases = official.load(group)[: args.limit]
    path = folder / f"{group}.jsonl"
    answers = read(path)
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers.values()))
    missing = [case for case in cases if case.id not in answers]
    with path.open("a") as out, concurrent.futures.ThreadPoolExecutor(args.parallel) as pool:
        for case, answer in zip(missing, pool.map(lambda case: ask(url, case, args), missing), strict=True):
            answers[case.id] = {"id": case.id, **answer}
            out.write(json.dumps(answers[case.id]) + "\n")
            out.flush()
    return cases, answers


def rows(url: str, folder: pathlib.Path, args: argparse.Namespace) -> typing.Iterator[list[str]]:
    shares, counts = {}, {}
    for group in args.groups:
        cases, answers = answer_group(url, group, folder, args)
        faults = {}
        for case in cases:
            if fault := official.judge(case, [tuple(call) for call in answers[case.id]["calls"]]):
                faults[case.id] = fault
        (folder / f"{group}.faults.json").write_text(json.dumps(faults, indent=1))
        counts[group], shares[group] = len(cases), 1 - len(faults) / len(cases)
        yield [group, str(len(cases)), f"{100 * shares[group]:.2f}%"]
    for name, share in official.summary(shares, counts).items():
        yield [name, "", f"{100 * share:.2f}%"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=pathlib.Path, help="a file to start a server with")
    parser.add_argument("--url", help="a server that runs")
    parser.add_argument("--name", help="of the folder with the answers; default: the model's file")
    parser.add_argument("--groups", nargs="+", choices=official.GROUPS, default=official.GROUPS)
    parser.add_argument("--limit", type=int, help="cases of each group")
    parser.add_argument("--parallel", type=int, default=4, help="requests at once")
    parser.add_argument("--max-tokens", type=int, default=1024)
    parser.add_argument("--no-thinking", action="store_true")
    args = parser.parse_args()
    if (args.model is None) == (args.url is None):
        parser.error("name a model or the url of a server")
    folder = ROOT / "build" / "bfcl-results" / (args.name or (args.model.stem if args.model else "server"))
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        url = args.url
        if args.model is not None:
            port = free_port()
            stack.enter_context(running(Server("tempo9", port, [str(OURS), "--gguf", str(args.model), "--port", str(port)])))
            url = f"http://127.0.0.1:{port}"
        table = markdown_table(["Group", "Cases", "Right"], list(rows(url, folder, args)))
    print(table)


if __name__ == "__main__":
    main()
