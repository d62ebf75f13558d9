"""Synthetic tools: schemas, requests that state the arguments, results.

Tools are composed at random: verb and noun, parameters from a catalogue or made of random words. Those that examples and
agents use everywhere are in known_tools.py.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any, Callable

import vocabulary as v
from vocabulary import Rng

VERBS = {  # verb of the name -> ways to ask for it
    "get": ["get", "show me", "give me", "retrieve"],
    "fetch": ["fetch", "get", "load"],
    "create": ["create", "make", "set up"],
    "delete": ["delete", "remove", "erase"],
    "update": ["update", "change", "modify"],
    "list": ["list", "show all", "show"],
    "search": ["search", "look up", "search for"],
    "find": ["find", "look for", "locate"],
    "send": ["send", "deliver"],
    "add": ["add", "insert"],
    "remove": ["remove", "drop", "take away"],
    "set": ["set", "configure"],
    "start": ["start", "begin", "launch"],
    "stop": ["stop", "end", "halt"],
    "open": ["open"],
    "close": ["close", "shut"],
    "check": ["check", "verify"],
    "compute": ["compute", "calculate"],
    "convert": ["convert"],
    "book": ["book", "reserve"],
    "cancel": ["cancel"],
    "schedule": ["schedule", "plan"],
    "order": ["order", "buy"],
    "track": ["track", "follow"],
    "play": ["play"],
    "translate": ["translate"],
    "upload": ["upload"],
    "download": ["download"],
    "export": ["export"],
    "import": ["import"],
    "archive": ["archive"],
    "assign": ["assign"],
    "approve": ["approve"],
    "rename": ["rename"],
    "merge": ["merge"],
    "publish": ["publish", "release"],
    "validate": ["validate"],
    "generate": ["generate", "produce"],
    "measure": ["measure"],
    "lock": ["lock"],
    "unlock": ["unlock"],
    "enable": ["enable", "turn on"],
    "disable": ["disable", "turn off"],
    "print": ["print"],
    "share": ["share"],
}
NOUNS = (
    "forecast invoice order customer account ticket booking flight hotel meeting event reminder timer alarm playlist song recipe "
    "document report file folder image photo message email contact task project note payment refund shipment package product price "
    "stock rate temperature sensor light door thermostat camera device user role permission server database backup log branch commit "
    "issue release map route distance taxi restaurant table book article course quiz grade survey appointment patient weather city "
    "team channel video job queue record page site key token license vehicle battery printer window garden"
).split()


@dataclass
class Param:
    name: str
    type: str  # JSON type
    kind: str  # value maker, or "enum", "strings", "integers"
    about: str
    ways: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    required: bool = True

    def schema(self) -> dict[str, Any]:
        d: dict[str, Any] = {"type": self.type}
        if self.about:
            d["description"] = self.about
        if self.kind == "enum":
            d["enum"] = self.options
        if self.type == "array":
            d["items"] = {"type": "integer" if self.kind == "integers" else "string"}
        return d

    def make(self, r: Rng) -> Any:
        if self.kind == "enum":
            return r.choice(self.options)
        if self.kind == "strings":
            maker = r.choice(["word", "word", "colour", "person", "city", "email", "thing"])
            return [v.value(r, maker) for _ in range(r.randint(1, 4))]
        if self.kind == "integers":
            return [r.randint(0, 999) for _ in range(r.randint(1, 5))]
        return v.value(r, self.kind)


P = Param
CATALOGUE = [
    P("city", "string", "city", "Name of the city", ["in {v}", "for {v}", "for the city {v}"]),
    P("location", "string", "city", "The location", ["in {v}", "at {v}", "for {v}"]),
    P("country", "string", "country", "Country name", ["in {v}", "for {v}"]),
    P("date", "string", "date", "Date as YYYY-MM-DD", ["on {v}", "for {v}", "dated {v}"]),
    P("start_date", "string", "date", "First day", ["from {v}", "starting {v}", "beginning on {v}"]),
    P("end_date", "string", "date", "Last day", ["until {v}", "to {v}", "ending {v}"]),
    P("time", "string", "time", "Time of day, HH:MM", ["at {v}"]),
    P("day", "string", "day", "Day of the week", ["on {v}"]),
    P("name", "string", "phrase", "Name of the item", ['named "{v}"', 'called "{v}"']),
    P("title", "string", "phrase", "Title", ['titled "{v}"', 'with the title "{v}"']),
    P("subject", "string", "phrase", "Subject line", ['with the subject "{v}"', 'about "{v}"']),
    P("message", "string", "phrase", "Text of the message", ['saying "{v}"', 'with the text "{v}"']),
    P("query", "string", "phrase", "Search query", ['for "{v}"', 'matching "{v}"']),
    P("description", "string", "phrase", "A short description", ['described as "{v}"', 'with the description "{v}"']),
    P("to", "string", "email", "Recipient address", ["to {v}", "for {v}"]),
    P("email", "string", "email", "Email address", ["with email {v}", "using {v}"]),
    P("customer", "string", "person", "Customer name", ["for {v}", "for customer {v}"]),
    P("assignee", "string", "person", "Who is responsible", ["assigned to {v}", "for {v}"]),
    P("id", "string", "code", "Identifier", ["with id {v}", "number {v}", "{v}"]),
    P("user_id", "string", "code", "User identifier", ["for user {v}", "of user {v}"]),
    P("order_id", "string", "code", "Order identifier", ["for order {v}", "of order {v}"]),
    P("account", "string", "code", "Account number", ["from account {v}", "for account {v}"]),
    P("path", "string", "path", "Path of the file", ["at {v}", "in {v}", "from {v}"]),
    P("file", "string", "file", "File name", ["from {v}", "in the file {v}"]),
    P("url", "string", "url", "Address", ["from {v}", "at {v}"]),
    P("color", "string", "colour", "Color", ["in {v}", "colored {v}"]),
    P("language", "string", "language", "Language", ["in {v}", "into {v}"]),
    P("currency", "string", "currency", "Currency code", ["in {v}"]),
    P(
        "limit",
        "integer",
        "small",
        "Maximum number of results",
        ["limited to {v}", "at most {v}", "with a limit of {v}"],
    ),
    P("count", "integer", "small", "How many", ["{v} times", "with count {v}"]),
    P("quantity", "integer", "small", "Number of units", ["{v} units", "quantity {v}"]),
    P("page", "integer", "small", "Page number", ["on page {v}", "page {v}"]),
    P("duration", "integer", "integer", "Duration in minutes", ["for {v} minutes", "lasting {v} minutes"]),
    P("guests", "integer", "small", "Number of people", ["for {v} people", "for {v} guests"]),
    P("level", "integer", "percent", "Level in percent", ["to {v} percent", "at {v}%"]),
    P("year", "integer", "year", "Year", ["in {v}", "for the year {v}"]),
    P("amount", "number", "number", "Amount of money", ["of {v}", "for {v}", "amount {v}"]),
    P("price", "number", "number", "Price", ["at a price of {v}", "costing {v}"]),
    P("weight", "number", "number", "Weight in kg", ["weighing {v} kg", "of {v} kg"]),
    P("temperature", "number", "number", "Temperature", ["at {v} degrees", "to {v} degrees"]),
    P("unit", "string", "enum", "Unit", ["in {v}", "using {v}"], ["celsius", "fahrenheit"]),
    P("priority", "string", "enum", "Priority", ["with {v} priority", "as {v} priority"], ["low", "medium", "high"]),
    P("status", "string", "enum", "Status", ["with status {v}", "that are {v}"], ["open", "closed", "pending", "done"]),
    P("format", "string", "enum", "Output format", ["as {v}", "in {v} format"], ["json", "csv", "pdf", "xml"]),
    P("size", "string", "enum", "Size", ["in size {v}", "size {v}"], ["small", "medium", "large"]),
    P("order", "string", "enum", "Sort order", ["sorted {v}", "in {v} order"], ["ascending", "descending"]),
    P("tags", "array", "strings", "List of tags", ["with the tags {v}", "tagged {v}"]),
    P("recipients", "array", "strings", "List of recipients", ["to {v}", "for {v}"]),
    P("items", "array", "strings", "List of items", ["with the items {v}", "containing {v}"]),
    P("ids", "array", "integers", "List of identifiers", ["with the ids {v}", "for ids {v}"]),
    P("values", "array", "integers", "Numbers", ["with the values {v}", "of {v}"]),
    P("verbose", "boolean", "bool", "Print details"),
    P("force", "boolean", "bool", "Skip the confirmation"),
    P("recursive", "boolean", "bool", "Include subfolders"),
    P("public", "boolean", "bool", "Visible to everyone"),
    P("notify", "boolean", "bool", "Send a notification"),
    P("dry_run", "boolean", "bool", "Only simulate"),
    P("overwrite", "boolean", "bool", "Replace existing data"),
]
RANDOM_TYPES = [
    ("string", "phrase"),
    ("string", "word"),
    ("string", "code"),
    ("string", "person"),
    ("string", "city"),
    ("integer", "integer"),
    ("integer", "small"),
    ("number", "number"),
    ("boolean", "bool"),
    ("string", "enum"),
    ("array", "strings"),
    ("array", "integers"),
    ("string", "date"),
    ("string", "path"),
]


def random_param(r: Rng) -> Param:
    name = r.choice([v.word(r), v.word(r) + "_" + v.word(r), r.choice(v.ADJECTIVES) + "_" + v.word(r)])
    kind, maker = r.choice(RANDOM_TYPES)
    about = r.choice(
        [
            "",
            f"The {name.replace('_', ' ')}",
            f"{name.replace('_', ' ').capitalize()} of the {r.choice(NOUNS)}",
            v.words(r, 3, 8).capitalize(),
        ]
    )
    options = list(dict.fromkeys(v.word(r) for _ in range(r.randint(2, 5)))) if maker == "enum" else []
    return Param(name, kind, maker, about, [], options)


def joined(r: Rng, items: list[Any]) -> str:
    texts = [str(x) for x in items]
    if len(texts) == 1:
        return texts[0]
    return r.choice([", ".join(texts[:-1]) + " and " + texts[-1], ", ".join(texts)])


def spoken(r: Rng, p: Param, value: Any) -> str:
    """How a request states one argument."""
    label = p.name.replace("_", " ")
    if p.type == "boolean":
        yes = [
            f"with {label} on",
            f"with {label} enabled",
            f"with {label} set to true",
            f"{label}: true",
            f"{label} = true",
            f"{label} yes",
        ]
        no = [
            f"with {label} off",
            f"with {label} disabled",
            f"with {label} set to false",
            f"{label}: false",
            f"{label} = false",
            f"{label} no",
        ]
        return r.choice(yes if value else no)
    text = joined(r, value) if isinstance(value, list) else str(value)
    quoted = f'"{text}"' if isinstance(value, str) and (" " in text or r.random() < 0.2) and r.random() < 0.7 else text
    if p.ways and r.random() < 0.6:
        way = r.choice(p.ways)
        if '"{v}"' in way:
            return way.replace('"{v}"', quoted if r.random() < 0.4 else f'"{text}"')
        return way.replace("{v}", quoted if p.kind == "phrase" else text)
    return r.choice(
        [
            "{n} {v}",
            "{n}: {v}",
            "{n} = {v}",
            "with {n} {v}",
            "{n} set to {v}",
            "with the {n} {v}",
            "using {n} {v}",
            "{m}={v}",
            "the {n} is {v}",
            "the {n} should be {v}",
        ]
    ).format(n=label, m=p.name, v=quoted)


@dataclass
class Tool:
    name: str
    about: str
    params: list[Param]
    asks: list[str]  # phrases that ask for it, without the arguments
    result: Callable[[Rng, dict], str] | None = None

    def schema(self, r: Rng) -> dict[str, Any]:
        pars: dict[str, Any] = {"type": "object", "properties": {p.name: p.schema() for p in self.params}}
        required = [p.name for p in self.params if p.required]
        if required or r.random() < 0.5:
            pars["required"] = required
        k = r.random()
        if k < 0.1:
            pars["additionalProperties"] = False
        elif k < 0.15:
            pars = {"$schema": "http://json-schema.org/draft-07/schema#", **pars}
        f = {"name": self.name, "description": self.about, "parameters": pars}
        if r.random() < 0.06:
            f["strict"] = True
        return {"type": "function", "function": f}

    def request(self, r: Rng) -> tuple[str, dict[str, Any]]:
        chosen = [p for p in self.params if p.required or r.random() < 0.45]
        args = {p.name: p.make(r) for p in chosen}
        parts = [spoken(r, p, args[p.name]) for p in chosen]
        if r.random() < 0.35:
            r.shuffle(parts)
        ask = r.choice(self.asks)
        sep = r.choice([" ", " ", " ", ", "])
        if len(parts) > 1 and r.random() < 0.4:
            text = ask + " " + ", ".join(parts[:-1]) + " and " + parts[-1]
        else:
            text = sep.join([ask] + parts)
        return text, args


def styled(r: Rng, parts: list[str], style: str) -> str:
    if style == "camel":
        return parts[0] + "".join(p.capitalize() for p in parts[1:])
    if style == "pascal":
        return "".join(p.capitalize() for p in parts)
    return {"kebab": "-"}.get(style, "_").join(parts)


def held_out(verb: str, noun: str) -> bool:
    """One in ten verb-noun pairs never occurs in training."""
    return zlib.crc32(f"{verb} {noun}".encode()) % 10 == 0


def random_tool(r: Rng, style: str, unseen: bool | None) -> Tool:
    """unseen: True takes only held-out names, False only the others."""
    while True:
        verb, noun = r.choice(list(VERBS)), r.choice(NOUNS)
        if unseen is None or held_out(verb, noun) == unseen:
            break
    parts = [verb] + ([r.choice(v.ADJECTIVES)] if r.random() < 0.12 else []) + [noun]
    name = styled(r, parts, style)
    if r.random() < 0.06:
        name = (
            r.choice(["mcp__", "api_", "app."])
            + r.choice(["crm", "home", "shop", "office"])
            + r.choice(["__", "_"])
            + name
        )
    name = name.replace(".", "_")
    params, seen = [], set()
    for _ in range(r.randint(1, 5) if r.random() < 0.93 else 0):
        p = r.choice(CATALOGUE) if r.random() < 0.65 else random_param(r)
        if p.name not in seen:
            seen.add(p.name)
            q = Param(**{**p.__dict__, "required": r.random() < 0.7})
            if style in ("camel", "pascal") and r.random() < 0.7:
                q.name = styled(r, q.name.split("_"), "camel")
            if r.random() < 0.1:
                q.about = ""
            params.append(q)
    if params and not any(p.required for p in params):
        params[0].required = True
    thing = " ".join(parts[1:])
    article = r.choice(["a", "the", "the", "an" if thing[0] in "aeiou" else "a"])
    about = r.choice(
        [
            f"{verb.capitalize()} {article} {thing}",
            f"{verb.capitalize()} {article} {thing}.",
            f"{verb.capitalize()}s the {thing} in the system.",
            f"Use this to {verb} {article} {thing}.",
            f"{verb.capitalize()} {thing}. {v.words(r, 3, 9).capitalize()}.",
        ]
    )
    asks = [f"{w} {a} {thing}" for w in VERBS[verb] for a in (article, "the")] + [
        f"call {name}",
        f"use {name}",
        f"run the tool {name}",
    ]
    return Tool(name, about, params, asks)
