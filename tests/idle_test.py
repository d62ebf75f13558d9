"""A server that nobody asks anything uses no processor."""

import json
import os
import time
import urllib.request

SECONDS = 2


def processor_seconds(pid: int) -> float:
    """Of all threads of a process, in user and kernel mode (proc(5), /proc/pid/stat)."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_an_idle_server_uses_no_processor(start_server):
    running = start_server("--threads", "4")
    body = json.dumps({"prompt": "One, two,", "max_tokens": 8}).encode()
    request = urllib.request.Request(running.url + "/v1/completions", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=60).close()
    time.sleep(0.2)  # the connection ends
    before = processor_seconds(running.process.pid)
    time.sleep(SECONDS)
    assert processor_seconds(running.process.pid) - before <= 0.02 * SECONDS
