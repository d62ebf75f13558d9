"""Conversations with tools: calls, results and answers; agents that work on files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import vocabulary as v
from known_tools import KNOWN
from render import Sample, call, dump
from tools import VERBS, Tool, joined, random_tool
from vocabulary import Rng


# --------------------------------------------------------------------------
# conversations
# --------------------------------------------------------------------------


def finish(r: Rng, text: str) -> str:
    """Turn a request into a sentence as people type it."""
    opening = r.choice(
        ["", "", "", "", "Please ", "Can you ", "Could you ", "I want you to ", "Now ", "Hey, ", "I need you to "]
    )
    if opening and text.split()[0] in ("what", "what's", "how", "who", "I", "weather"):
        opening = ""
    text = opening + text
    if r.random() < 0.85:
        text = text[0].upper() + text[1:]
    if text.lower().startswith(("what", "how", "who", "can", "could")) and r.random() < 0.8:
        return text + "?"
    return text + r.choice(["", ".", ".", ".", " please.", ", please."])


def generic_result(r: Rng, args: dict[str, Any]) -> str:
    k = r.random()
    if k < 0.35:
        return dump(
            {
                r.choice(["status", "result", "state"]): r.choice(
                    ["ok", "done", "created", "success", "sent", "updated", "pending"]
                ),
                **({"id": v.code(r)} if r.random() < 0.5 else {}),
            }
        )
    if k < 0.75:
        return dump(
            {
                v.word(r): r.choice([v.word, v.integer, v.number, v.code, v.person, v.date, v.phrase])(r)
                for _ in range(r.randint(1, 3))
            }
        )
    if k < 0.85:
        return dump({"error": r.choice([f"{v.word(r)} not found", "permission denied", "timeout", v.words(r, 2, 4)])})
    return r.choice([v.phrase(r), v.code(r), str(v.integer(r)), v.words(r, 2, 8)])


def answer_from(result: str) -> str:
    """The final answer, a function of the tool's result."""
    import json

    try:
        d = json.loads(result)
    except ValueError:
        return f"The tool returned: {result}"
    if not isinstance(d, dict):
        return f"The result is {result}."
    if set(d) == {"error"}:
        return f"The call failed: {d['error']}."
    if d == {"ok": True}:
        return "Done."
    parts = [
        f"{k.replace('_', ' ')} is {', '.join(map(str, x)) if isinstance(x, list) else dump(x) if isinstance(x, bool) else x}"
        for k, x in d.items()
    ]
    return "The " + (parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]) + "."


SYSTEMS = [
    "You are a helpful assistant.",
    "You are a helpful assistant",
    "You are a concise assistant.",
    "Answer briefly.",
    "You are an agent. Use the tools when needed.",
    "You are a careful assistant with access to tools.",
    "Be helpful and short.",
    "You are a coding agent.",
    "Use tools whenever they fit the request.",
]


def system(r: Rng) -> list[dict[str, Any]]:
    k = r.random()
    if k < 0.5:
        return []
    text = r.choice(SYSTEMS)
    if k > 0.8:
        text += " " + " ".join(v.words(r, 4, 12).capitalize() + "." for _ in range(r.randint(1, 6)))
    if k > 0.9:
        text += f"\n\nToday is {v.date(r)}."
    return [{"role": "system", "content": text}]


def think_call(calls: list[dict[str, Any]]) -> str:
    names = [c["function"]["name"] for c in calls]
    return f"The user wants me to call {' and '.join(dict.fromkeys(names))}."


def toolbox(r: Rng, unseen: bool | None, lo: int = 1, hi: int = 8) -> list[Tool]:
    style = r.choice(["snake", "snake", "snake", "camel", "pascal", "kebab"])
    n = min(r.randint(lo, hi), r.randint(lo, hi)) if r.random() < 0.6 else r.randint(lo, hi)
    tools, names = [], set()
    while len(tools) < n:
        t = random_tool(r, style, unseen) if r.random() < (0.62 if unseen is not True else 1.0) else r.choice(KNOWN)(r)
        if t.name.lower() not in names:
            names.add(t.name.lower())
            tools.append(t)
    return tools


MISSING = "I do not have a tool for that."


def tool_sample(
    r: Rng, unseen: bool | None = False, form: str | None = None, plain: Callable[[Rng], tuple[str, str]] | None = None
) -> Sample:
    """form: single, parallel, follow (result and answer), turns (two requests), none (no tool fits)."""
    form = form or r.choices(["single", "parallel", "follow", "turns", "none"], [40, 14, 22, 10, 14])[0]
    tools = toolbox(r, unseen)
    thinking = r.random() < 0.12
    msgs = system(r)
    schemas = [t.schema(r) for t in tools]

    def assistant(content="", calls=None):
        m: dict[str, Any] = {"role": "assistant", "content": content}
        if calls:
            m["tool_calls"] = calls
        if thinking:
            m["reasoning_content"] = think_call(calls) if calls else "I can answer this now."
        return m

    if form == "none":
        if plain and r.random() < 0.6:
            q, a = plain(r)
            msgs += [{"role": "user", "content": q}, assistant(a)]
        else:
            names = {t.name.lower().replace("_", "").replace("-", "") for t in tools}
            while True:
                other = random_tool(r, "snake", False)
                noun = other.name.split("_")[-1]
                if all(noun not in n for n in names) and r.choice(list(VERBS)):
                    break
            other.asks = [a for a in other.asks if other.name not in a]
            msgs += [{"role": "user", "content": finish(r, other.request(r)[0])}, assistant(MISSING)]
        return Sample("tool_none", msgs, schemas, thinking=thinking)

    def turn() -> tuple[str, list[dict], list[tuple[Tool, dict]]]:
        t = r.choice(tools)
        text, args = t.request(r)
        return text, [call(t.name, args)], [(t, args)]

    text, calls, used = turn()
    if form == "parallel":
        n = r.choice([2, 2, 2, 3])
        if r.random() < 0.4 and len(used[0][0].params) == 1 and used[0][0].params[0].type in ("string", "integer"):
            t, p = used[0][0], used[0][0].params[0]
            values = list(dict.fromkeys(p.make(r) for _ in range(n)))
            text = r.choice(t.asks) + " " + r.choice(p.ways or ["{v}"]).replace("{v}", joined(r, values))
            calls = [call(t.name, {p.name: x}) for x in values]
        else:
            texts = [text]
            for _ in range(n - 1):
                more, c, _ = turn()
                texts.append(more)
                calls += c
            text = r.choice([". Also ", " and then ", ". Then ", "; also ", " and also ", ". Also, "]).join(texts)
        calls = [c for i, c in enumerate(calls) if c not in calls[:i]]
        msgs += [{"role": "user", "content": finish(r, text)}, assistant("", calls)]
        if r.random() < 0.35:
            results = [generic_result(r, c["function"]["arguments"]) for c in calls]
            msgs += [{"role": "tool", "content": x} for x in results] + [
                assistant(" ".join(answer_from(x) for x in results))
            ]
        return Sample("tool_parallel", msgs, schemas, thinking=thinking)

    msgs += [{"role": "user", "content": finish(r, text)}, assistant("", calls)]
    if form == "single":
        return Sample("tool_single", msgs, schemas, thinking=thinking)

    def result_turn(t: Tool, args):
        res = t.result(r, args) if t.result else generic_result(r, args)
        return [{"role": "tool", "content": res}, assistant(answer_from(res))]

    msgs += result_turn(*used[0])
    if form == "follow":
        return Sample("tool_follow", msgs, schemas, thinking=thinking)
    if plain and r.random() < 0.3:
        q, a = plain(r)
        msgs += [{"role": "user", "content": q}, assistant(a)]
    else:
        text, calls, used = turn()
        msgs += [{"role": "user", "content": finish(r, text)}, assistant("", calls)]
        if r.random() < 0.5:
            msgs += result_turn(*used[0])
    return Sample("tool_turns", msgs, schemas, thinking=thinking)


# --------------------------------------------------------------------------
# file agents
# --------------------------------------------------------------------------


@dataclass
class AgentKit:
    """Names that one agent gives to its tools: (tool, parameter...)."""

    bash: tuple[str, str] | None
    read: tuple[str, str] | None
    write: tuple[str, str, str] | None
    edit: tuple[str, str, str, str] | None
    ls: tuple[str, str] | None
    grep: tuple[str, str, str] | None
    glob: tuple[str, str] | None
    describes_commands: bool = False


KITS = [
    AgentKit(
        ("Bash", "command"),
        ("Read", "file_path"),
        ("Write", "file_path", "content"),
        ("Edit", "file_path", "old_string", "new_string"),
        None,
        ("Grep", "pattern", "path"),
        ("Glob", "pattern"),
        True,
    ),
    AgentKit(
        ("bash", "command"),
        ("read", "filePath"),
        ("write", "filePath", "content"),
        ("edit", "filePath", "oldString", "newString"),
        ("list", "path"),
        ("grep", "pattern", "path"),
        ("glob", "pattern"),
        True,
    ),
    AgentKit(
        ("bash", "command"),
        ("read", "path"),
        ("write", "path", "content"),
        ("edit", "path", "oldText", "newText"),
        ("ls", "path"),
        ("grep", "pattern", "path"),
        ("find", "pattern"),
    ),
    AgentKit(
        ("run_shell_command", "command"),
        ("read_file", "absolute_path"),
        ("write_file", "file_path", "content"),
        ("edit", "file_path", "old_string", "new_string"),
        ("list_directory", "path"),
        ("grep_search", "pattern", "path"),
        ("glob", "pattern"),
    ),
    AgentKit(("exec_command", "cmd"), None, None, None, None, None, None),
    AgentKit(
        ("exec", "command"),
        ("read", "path"),
        ("write", "path", "content"),
        ("edit", "path", "oldText", "newText"),
        None,
        None,
        None,
    ),
    AgentKit(
        ("shell", "command"),
        ("read_file", "path"),
        ("write_file", "path", "content"),
        None,
        ("list_dir", "path"),
        ("grep", "pattern", "path"),
        None,
    ),
    AgentKit(
        ("execute_command", "command"),
        ("read_file", "path"),
        ("write_to_file", "path", "content"),
        None,
        ("list_files", "path"),
        ("search_files", "regex", "path"),
        None,
    ),
    AgentKit(None, ("read_file", "path"), ("write_file", "path", "content"), None, ("ls", "path"), None, None),
]
ABOUT = {
    "bash": ["Run a shell command", "Executes a bash command and returns its output.", "Runs a command in a shell."],
    "read": ["Read a file", "Reads a file from disk.", "Read the contents of a file"],
    "write": ["Write a file", "Writes content to a file.", "Create or overwrite a file"],
    "edit": ["Replace text in a file", "Edit a file by replacing text."],
    "ls": ["List a directory", "Lists files in a folder.", "List directory contents"],
    "grep": ["Search file contents", "Search for a pattern in files."],
    "glob": ["Find files by name", "Find files matching a pattern."],
}


def kit_tools(r: Rng, kit: AgentKit) -> list[dict[str, Any]]:
    out = []
    for slot in ("bash", "read", "write", "edit", "ls", "grep", "glob"):
        names = getattr(kit, slot)
        if names is None or (slot in ("edit", "grep", "glob") and r.random() < 0.4):
            continue
        props: dict[str, Any] = {
            p: {"type": "string", **({"description": f"The {p.replace('_', ' ')}"} if r.random() < 0.6 else {})}
            for p in names[1:]
        }
        required = list(names[1:])
        if slot == "bash" and r.random() < 0.5:
            props[r.choice(["timeout", "timeout_ms"])] = {"type": "integer", "description": "Timeout"}
        if slot == "bash" and kit.describes_commands:
            props["description"] = {"type": "string", "description": "What the command does"}
        if slot == "read" and r.random() < 0.6:
            props["offset"] = {"type": "integer"}
            props["limit"] = {"type": "integer"}
        about = r.choice(ABOUT[slot])
        if r.random() < 0.3:
            about += " " + " ".join(v.words(r, 5, 14).capitalize() + "." for _ in range(r.randint(1, 3)))
        out.append(
            {
                "type": "function",
                "function": {
                    "name": names[0],
                    "description": about,
                    "parameters": {"type": "object", "properties": props, "required": required},
                },
            }
        )
    if r.random() < 0.3:
        r.shuffle(out)
    for _ in range(r.choice([0, 0, 0, 1, 2])):
        out.append(random_tool(r, "snake", False).schema(r))
    return out


def file_text(r: Rng, lines: int) -> str:
    return "\n".join(
        r.choice(
            [
                lambda: v.words(r, 2, 7),
                lambda: f"{v.word(r)} = {v.integer(r)}",
                lambda: f"{v.word(r)}: {v.phrase(r)}",
                lambda: f"# {v.words(r, 1, 4)}",
                lambda: f"def {v.word(r)}({v.word(r)}):",
                lambda: f"    return {v.word(r)}",
            ]
        )()
        for _ in range(lines)
    )


def agent_sample(r: Rng, big: bool = False) -> Sample:
    kit = r.choice(KITS)
    tools = kit_tools(r, kit)
    have = {t["function"]["name"] for t in tools}
    thinking = r.random() < 0.12
    msgs = system(r)

    def usable(slot):
        names = getattr(kit, slot)
        return names is not None and names[0] in have

    def assistant(content="", calls=None):
        m: dict[str, Any] = {"role": "assistant", "content": content}
        if calls:
            m["tool_calls"] = calls
        if thinking:
            m["reasoning_content"] = think_call(calls) if calls else "I can answer this now."
        return m

    def shell(command):
        return call(kit.bash[0], {kit.bash[1]: command})

    def use_read(p):
        return call(kit.read[0], {kit.read[1]: p}) if usable("read") else shell(f"cat {p}")

    def use_ls(d):
        return call(kit.ls[0], {kit.ls[1]: d}) if usable("ls") else shell(f"ls {d}")

    def number_lines(text):
        return "\n".join(f"{i + 1:6d}\t{x}" for i, x in enumerate(text.split("\n"))) if r.random() < 0.15 else text

    can_list, can_read, can_run = usable("ls") or usable("bash"), usable("read") or usable("bash"), usable("bash")
    jobs = []
    jobs += (
        ["list", "count"] * can_list + ["read", "lookup", "lookup"] * can_read + ["list_read"] * (can_list and can_read)
    )
    jobs += (
        ["run", "lines", "echo"] * can_run
        + ["write"] * usable("write")
        + ["edit"] * usable("edit")
        + ["grep"] * usable("grep")
        + ["glob"] * usable("glob")
    )
    for _ in range(1 if big or r.random() < 0.75 else 2):
        job = "lookup" if big and "lookup" in jobs else r.choice(jobs)
        d, p = r.choice([v.folder(r), v.folder(r), "."]), v.path(r)
        names = list(dict.fromkeys(v.filename(r) for _ in range(r.randint(1, 7))))

        def user(*texts):
            msgs.append({"role": "user", "content": finish(r, r.choice(texts))})

        def tool(c, result, *answer):
            msgs.extend([assistant("", [c]), {"role": "tool", "content": result}])
            if answer:
                msgs.append(assistant(answer[0]))

        here = "the current directory" if d == "." else r.choice([d, f"the folder {d}", f"the directory {d}", f"{d}/"])
        if job == "list":
            user(
                f"list the files in {here}",
                f"show me the files in {here}",
                f"what files are in {here}",
                f"ls {d}",
                f"list {here}",
            )
            tool(use_ls(d), "\n".join(names), "The files are: " + ", ".join(names) + ".")
        elif job == "count":
            user(f"how many files are in {here}", f"count the files in {here}")
            tool(
                use_ls(d),
                "\n".join(names),
                f"There {'is 1 file' if len(names) == 1 else f'are {len(names)} files'} in {d}.",
            )
        elif job == "read":
            text = file_text(r, r.randint(1, 5))
            user(
                f"read {p}",
                f"show me the file {p}",
                f"what is in {p}",
                f"open {p}",
                f"read the file {p}",
                f"what does {p} say",
                f"print the contents of {p}",
                f"cat {p}",
            )
            tool(use_read(p), text, f"The file {p} contains:\n\n{text}")
        elif job == "lookup":
            keys = list(dict.fromkeys(v.word(r) for _ in range(r.randint(1, 4))))
            values = {k: r.choice([v.code, v.word, v.person])(r) for k in keys}
            filler = r.randint(20, 110) if big else r.randint(0, 12)
            lines = [x for x in file_text(r, filler).split("\n") if x and not any(x.startswith(k) for k in keys)]
            for k in keys:
                lines.insert(r.randint(0, len(lines)), f"{k}: {values[k]}")
            k = r.choice(keys)
            user(
                f"what is the {k} in {p}",
                f"read {p} and tell me the {k}",
                f"find the value of {k} in {p}",
                f"look in {p} and tell me the {k}",
                f"which {k} does {p} give",
            )
            tool(use_read(p), number_lines("\n".join(lines)), f"The {k} is {values[k]}.")
        elif job == "list_read":
            text, k = v.phrase(r), r.choice(names)
            user(
                f"list {here}, then read {k}",
                f"look at the files in {here} and read {k}",
                f"list the files in {here} and tell me what {k} says",
            )
            tool(use_ls(d), "\n".join(names))
            target = k if d == "." else f"{d}/{k}"
            tool(use_read(target), text, f"The file {target} contains:\n\n{text}")
        elif job == "run":
            c, out = r.choice(
                [
                    ("pytest", f"{r.randint(1, 90)} passed"),
                    ("make test", r.choice(["ok", f"{r.randint(1, 9)} failed"])),
                    ("git status", r.choice(["nothing to commit", f"modified: {p}"])),
                    (f"python {p}", v.phrase(r)),
                    ("date", v.date(r)),
                    ("pwd", "/" + v.word(r) + "/" + v.word(r)),
                    ("whoami", v.word(r)),
                    ("git log -1", v.code(r) + " " + v.phrase(r)),
                    ("uname", "Linux"),
                    ("ls -la", "\n".join(names)),
                ]
            )
            user(f"run {c}", f"run the command {c}", f"execute {c}", f"run `{c}`", f"run `{c}` and tell me the output")
            tool(shell(c), out, f"The output is:\n\n{out}")
        elif job == "lines":
            n = v.integer(r)
            user(f"how many lines does {p} have", f"count the lines of {p}", f"count the lines in {p}")
            tool(shell(f"wc -l {p}"), f"{n} {p}", f"The file {p} has {n} lines.")
        elif job == "echo":
            x = r.choice([v.word(r), v.words(r, 2, 4), v.code(r)])
            user(f"run echo {x}", f"use the shell to echo {x}", f"execute `echo {x}`")
            tool(shell(f"echo {x}"), x, f"The output is:\n\n{x}")
        elif job == "write":
            x = r.choice([v.phrase(r), v.words(r, 2, 6), v.code(r)])
            user(
                f'create a file {p} with the text "{x}"',
                f'write "{x}" to {p}',
                f'create {p} containing "{x}"',
                f'save "{x}" in {p}',
            )
            tool(
                call(kit.write[0], {kit.write[1]: p, kit.write[2]: x}),
                r.choice(["ok", "File written.", f"Wrote {len(x)} bytes to {p}", "success"]),
                f"I wrote {p}.",
            )
        elif job == "edit":
            a, b = v.word(r), v.word(r)
            user(f'replace "{a}" with "{b}" in {p}', f"change {a} to {b} in {p}", f"in {p}, replace {a} by {b}")
            tool(
                call(kit.edit[0], {kit.edit[1]: p, kit.edit[2]: a, kit.edit[3]: b}),
                r.choice(["ok", "File edited.", "1 replacement"]),
                f"I replaced {a} with {b} in {p}.",
            )
        elif job == "grep":
            x = r.choice(["TODO", v.word(r), v.word(r)])
            hits = [f"{q}:{r.randint(1, 300)}: {x} {v.word(r)}" for q in names[:3]]
            user(
                f'search for "{x}" in {here}',
                f"grep {x} in {d}",
                f"where does {x} occur in {here}",
                f"find {x} in {here}",
            )
            tool(
                call(kit.grep[0], {kit.grep[1]: x, kit.grep[2]: d}),
                "\n".join(hits),
                f"{x} occurs in " + ", ".join(q for q in names[:3]) + ".",
            )
        else:
            e = r.choice(v.EXTENSIONS)
            found = [f"{v.folder(r)}/{v.word(r)}.{e}" for _ in range(r.randint(1, 4))]
            user(f"find all {e} files", f"which {e} files are there", f"find files ending in .{e}")
            tool(call(kit.glob[0], {kit.glob[1]: f"**/*.{e}"}), "\n".join(found), "I found: " + ", ".join(found) + ".")
    return Sample("agent", msgs, tools, thinking=thinking)
