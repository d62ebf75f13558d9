"""The tools that examples and agents use everywhere: weather, mail, files, shell."""

from __future__ import annotations

from typing import Callable

import vocabulary as v
from render import dump
from tools import Param as P
from tools import Tool
from vocabulary import Rng


def weather(r: Rng) -> Tool:
    place = r.choice(["city", "location", "location", "place"])
    params = [
        P(
            place,
            "string",
            "city",
            r.choice(["The city", "City name", "City and country, e.g. Paris", "Location to get the weather for"]),
            ["in {v}", "for {v}"],
        )
    ]
    if r.random() < 0.4:
        params.append(
            P(
                "unit",
                "string",
                "enum",
                "Temperature unit",
                ["in {v}"],
                ["celsius", "fahrenheit"],
                required=r.random() < 0.2,
            )
        )
    return Tool(
        r.choice(["get_weather", "get_weather", "get_current_weather", "weather", "getWeather"]),
        r.choice(
            [
                "Get the current weather",
                "Get the weather for a city",
                "Current weather in a given location.",
                "Returns the weather.",
            ]
        ),
        params,
        [
            "what is the weather",
            "what's the weather like",
            "how is the weather",
            "tell me the weather",
            "get the weather",
            "show the weather",
            "what is the temperature",
            "please check the weather",
            "weather",
            "what is the current weather",
            "I need the weather",
        ],
        lambda r, a: r.choice(
            [
                dump({"temperature": r.randint(-15, 40), "condition": r.choice(v.CONDITIONS)}),
                f"{r.randint(-15, 40)} degrees and {r.choice(v.CONDITIONS)}",
                dump({"temp": r.randint(-15, 40), "unit": "celsius", "condition": r.choice(v.CONDITIONS)}),
                f"{r.choice(v.CONDITIONS)}, {r.randint(-15, 40)} C",
            ]
        ),
    )


def simple(r: Rng, names, about, params, asks, result=None) -> Tool:
    return Tool(r.choice(names), r.choice(about), params, asks, result)


def expression(r: Rng) -> str:
    a, b = r.randint(1, 999), r.randint(1, 99)
    op = r.choice("+-*/")
    return r.choice(
        [f"{a} {op} {b}", f"{a}{op}{b}", f"({a} + {b}) * {r.randint(2, 9)}", f"{a} {op} {b} + {r.randint(1, 50)}"]
    )


v.MAKERS["expression"] = expression
KNOWN: list[Callable[[Rng], Tool]] = [
    weather,
    weather,
    weather,
    lambda r: simple(
        r,
        ["get_time", "get_current_time", "current_time"],
        ["Get the current time", "Current time in a timezone."],
        [P("timezone", "string", "timezone", "IANA timezone", ["in {v}", "for {v}"])],
        ["what time is it", "tell me the time", "get the current time", "what is the time"],
        lambda r, a: dump({"time": v.clock(r)}),
    ),
    lambda r: simple(
        r,
        ["calculator", "calculate", "compute"],
        ["Evaluate an expression", "Does arithmetic."],
        [P("expression", "string", "expression", "Arithmetic expression", ["{v}"])],
        ["calculate", "compute", "what is", "evaluate", "use the calculator for"],
        lambda r, a: str(r.randint(1, 9999)),
    ),
    lambda r: simple(
        r,
        ["add", "add_numbers", "sum"],
        ["Add two numbers", "Adds a and b."],
        [
            P("a", "integer", "integer", "First number", ["{v}"]),
            P("b", "integer", "integer", "Second number", ["and {v}", "plus {v}"]),
        ],
        ["add", "what is the sum of", "please add"],
        lambda r, a: str(a["a"] + a["b"]),
    ),
    lambda r: simple(
        r,
        ["multiply", "mul"],
        ["Multiply two numbers"],
        [
            P("a", "integer", "integer", "First number", ["{v}"]),
            P("b", "integer", "integer", "Second number", ["and {v}", "times {v}", "by {v}"]),
        ],
        ["multiply", "what is the product of"],
        lambda r, a: str(a["a"] * a["b"]),
    ),
    lambda r: simple(
        r,
        ["search", "web_search", "search_web", "WebSearch"],
        ["Search the web", "Search the internet for a query."],
        [P("query", "string", "phrase", "Search query", ["for {v}", 'for "{v}"', "{v}"])]
        + (
            [P("limit", "integer", "small", "Maximum results", ["limit {v}"], required=False)]
            if r.random() < 0.4
            else []
        ),
        ["search the web", "search", "look up", "please search online", "google"],
        lambda r, a: dump({"results": [v.phrase(r) for _ in range(r.randint(1, 3))]}),
    ),
    lambda r: simple(
        r,
        ["send_email", "sendEmail", "email"],
        ["Send an email", "Sends an email to a recipient."],
        [
            P("to", "string", "email", "Recipient", ["to {v}"]),
            P("subject", "string", "phrase", "Subject", ['with the subject "{v}"', 'about "{v}"']),
            P("body", "string", "phrase", "Body text", ['and the text "{v}"', 'saying "{v}"', 'with the body "{v}"']),
        ],
        ["send an email", "email", "write an email", "please send a mail"],
        lambda r, a: dump({"status": "sent", "id": v.code(r)}),
    ),
    lambda r: simple(
        r,
        ["create_event", "add_event", "schedule_meeting"],
        ["Create a calendar event"],
        [
            P("title", "string", "phrase", "Title", ['titled "{v}"', '"{v}"']),
            P("date", "string", "date", "Date", ["on {v}"]),
            P("time", "string", "time", "Time", ["at {v}"], required=False),
        ],
        ["create an event", "schedule a meeting", "put an event in my calendar", "add a calendar entry"],
        lambda r, a: dump({"status": "created", "event_id": v.code(r)}),
    ),
    lambda r: simple(
        r,
        ["set_reminder", "remind_me", "create_reminder"],
        ["Set a reminder"],
        [
            P("text", "string", "phrase", "What to remember", ['to "{v}"', "about {v}"]),
            P("time", "string", "time", "When", ["at {v}"]),
        ],
        ["remind me", "set a reminder", "please remind me"],
        lambda r, a: dump({"ok": True}),
    ),
    lambda r: simple(
        r,
        ["get_stock_price", "stock_price", "get_quote"],
        ["Get the price of a stock"],
        [P(r.choice(["symbol", "ticker"]), "string", "ticker", "Ticker symbol", ["of {v}", "for {v}"])],
        ["what is the stock price", "get the share price", "show the price", "current stock price"],
        lambda r, a: dump({"price": v.number(r), "currency": r.choice(v.CURRENCIES)}),
    ),
    lambda r: simple(
        r,
        ["translate", "translate_text"],
        ["Translate text"],
        [
            P("text", "string", "phrase", "Text to translate", ['"{v}"', 'the text "{v}"']),
            P("target_language", "string", "language", "Target language", ["to {v}", "into {v}"]),
        ],
        ["translate", "please translate"],
        lambda r, a: v.words(r, 1, 4),
    ),
    lambda r: simple(
        r,
        ["convert_currency", "exchange"],
        ["Convert money between currencies"],
        [
            P("amount", "number", "number", "Amount", ["{v}"]),
            P("from", "string", "currency", "Source currency", ["from {v}", "{v}"]),
            P("to", "string", "currency", "Target currency", ["to {v}"]),
        ],
        ["convert", "exchange", "how much is"],
        lambda r, a: dump({"result": v.number(r)}),
    ),
    lambda r: simple(
        r,
        ["get_user", "lookup_user", "find_user"],
        ["Look up a user"],
        [P("id", "integer", "integer", "User id", ["{v}", "with id {v}"])],
        ["get user", "look up user", "who is user", "find the user"],
        lambda r, a: dump({"name": v.person(r), "age": r.randint(18, 90), "city": r.choice(v.CITIES)}),
    ),
    lambda r: simple(
        r,
        ["echo", "repeat", "say"],
        ["Repeat a text"],
        [P(r.choice(["text", "message"]), "string", "phrase", "Text", ['"{v}"', "{v}"])],
        ["echo", "use the echo tool with", "repeat"],
        lambda r, a: next(iter(a.values())),
    ),
    lambda r: simple(
        r,
        ["play_song", "play_music"],
        ["Play a song"],
        [P("song", "string", "phrase", "Song title", ['"{v}"', "{v}"])],
        ["play", "play the song", "please play"],
        lambda r, a: dump({"status": "playing"}),
    ),
    lambda r: simple(
        r,
        ["get_population", "population"],
        ["Population of a country"],
        [P("country", "string", "country", "Country", ["of {v}", "in {v}"])],
        ["what is the population", "how many people live", "get the population"],
        lambda r, a: dump({"population": r.randint(100000, 90000000)}),
    ),
    lambda r: simple(
        r,
        ["roll_dice", "roll"],
        ["Roll dice"],
        [
            P("sides", "integer", "small", "Sides", ["with {v} sides"]),
            P("count", "integer", "small", "How many", ["{v} times"], required=False),
        ],
        ["roll a die", "roll the dice", "throw a die"],
        lambda r, a: str(r.randint(1, 20)),
    ),
    lambda r: simple(
        r,
        ["set_light", "control_light", "light"],
        ["Control a light"],
        [
            P("room", "string", "enum", "Room", ["in the {v}"], ["kitchen", "bedroom", "bathroom", "office", "garage"]),
            P("on", "boolean", "bool", "On or off"),
        ],
        ["set the light", "switch the light", "control the light"],
        lambda r, a: dump({"ok": True}),
    ),
]
