#!/usr/bin/env python3
"""Clients as they come: short and long prompts, streams or not, some leave early, some send nonsense, some only look.

    tests/tools/crowd.py http://127.0.0.1:11435 --seconds 30 --clients 16

Exits with 1 if an answer is not what it should be. Meant for a server built with a sanitizer: start it, let the crowd in,
stop it, and look at its exit code.
"""

import argparse
import collections
import http.client
import json
import random
import sys
import threading
import time

KINDS = ("complete", "stream", "leave", "chat", "nonsense", "look")


class Client:
    def __init__(self, address: str, seed: int, counts: collections.Counter):
        self.address, self.random, self.counts = address, random.Random(seed), counts

    def send(self, path: str, body: object) -> http.client.HTTPResponse:
        self.connection = http.client.HTTPConnection(self.address, timeout=300)
        self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        return self.connection.getresponse()

    def prompt(self) -> list[int]:
        shared = random.Random(self.random.randrange(3))
        length = self.random.choice((3, 40, 300, 1000))
        return [shared.randrange(300, 4000) for _ in range(length)] + [self.random.randrange(300, 4000) for _ in range(9)]

    def once(self) -> None:
        kind = self.random.choice(KINDS)
        tokens = self.random.choice((1, 5, 40))
        body = {"prompt": self.prompt(), "max_tokens": tokens, "temperature": self.random.choice((0, 1)), "ignore_eos": True}
        if kind == "complete":
            response = self.send("/v1/completions", body)
            good = response.status == 200 and json.load(response)["usage"]["completion_tokens"] == tokens
        elif kind == "stream":
            response = self.send("/v1/completions", {**body, "stream": True})
            good = response.status == 200 and response.read().endswith(b"data: [DONE]\n\n")
        elif kind == "leave":
            response = self.send("/v1/completions", {**body, "stream": True, "max_tokens": 400})
            response.read1(self.random.randrange(1, 300))
            self.connection.sock and self.connection.sock.close()
            good = True
        elif kind == "chat":
            message = {"role": "user", "content": f"Question {self.random.randrange(5)}?"}
            response = self.send("/v1/chat/completions", {"messages": [message], "max_tokens": tokens})
            good = response.status == 200 and "content" in json.load(response)["choices"][0]["message"]
        elif kind == "nonsense":
            wrong = self.random.choice(({}, [], {"prompt": -1}, {"prompt": "x", "max_tokens": "many"}))
            response = self.send("/v1/completions", wrong)
            good = response.status == 400 and "error" in json.load(response)
        else:
            self.connection = http.client.HTTPConnection(self.address, timeout=300)
            self.connection.request("GET", self.random.choice(("/metrics", "/v1/status", "/v1/models", "/health")))
            good = self.connection.getresponse().status == 200
        self.connection.close()
        self.counts[kind] += 1
        if not good:
            self.counts["wrong"] += 1
            print(f"wrong answer to a request of kind {kind}", file=sys.stderr)

    def run(self, until: float) -> None:
        while time.monotonic() < until:
            try:
                self.once()
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.counts["wrong"] += 1
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
                return


def let_in(url: str, seconds: float, clients: int, seed: int = 1) -> collections.Counter:
    counts: collections.Counter = collections.Counter()
    address = url.removeprefix("http://")
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=Client(address, seed * 1000 + i, counts).run, args=(until,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    counts = let_in(args.url, args.seconds, args.clients, args.seed)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts["wrong"] or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
