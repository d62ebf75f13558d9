"""Synthetic plain chat, JSON filling and long-context retrieval."""

from __future__ import annotations

from typing import Any, Callable

import vocabulary as v
from render import Sample, dump
from tool_samples import agent_sample, system, tool_sample
from tools import CATALOGUE, Param, joined, random_param
from vocabulary import Rng

# --------------------------------------------------------------------------
# closed-book questions, arithmetic, small text tasks: (question, answer)
# --------------------------------------------------------------------------

OPPOSITES = dict(
    hot="cold",
    big="small",
    tall="short",
    fast="slow",
    old="young",
    light="dark",
    up="down",
    left="right",
    open="closed",
    happy="sad",
    hard="soft",
    wet="dry",
    full="empty",
    early="late",
    high="low",
    rich="poor",
    strong="weak",
    day="night",
    good="bad",
    loud="quiet",
)
SOUNDS = dict(
    cat="meow",
    dog="woof",
    cow="moo",
    sheep="baa",
    duck="quack",
    lion="roar",
    owl="hoot",
    frog="croak",
    snake="hiss",
    mouse="squeak",
    horse="neigh",
    wolf="howl",
)
LEGS = dict(cat=4, dog=4, cow=4, bird=2, spider=8, ant=6, snake=0, horse=4, human=2, duck=2, bee=6)
FACTS = [
    ("What color is the sky?", "The sky is blue."),
    ("What color is grass?", "Grass is green."),
    ("What color is snow?", "Snow is white."),
    ("What color is a banana?", "A banana is yellow."),
    ("What color is coal?", "Coal is black."),
    ("How many days are in a week?", "A week has 7 days."),
    ("How many months are in a year?", "A year has 12 months."),
    ("How many hours are in a day?", "A day has 24 hours."),
    ("How many minutes are in an hour?", "An hour has 60 minutes."),
    ("How many seconds are in a minute?", "A minute has 60 seconds."),
    ("What is the largest planet?", "The largest planet is Jupiter."),
    ("What is the closest star to the Earth?", "The closest star to the Earth is the Sun."),
    ("Who wrote Hamlet?", "Hamlet was written by William Shakespeare."),
    ("Who painted the Mona Lisa?", "The Mona Lisa was painted by Leonardo da Vinci."),
    ("What is the boiling point of water?", "Water boils at 100 degrees Celsius."),
    ("What is the freezing point of water?", "Water freezes at 0 degrees Celsius."),
    ("What is the chemical symbol of gold?", "The chemical symbol of gold is Au."),
    ("What is the chemical symbol of water?", "The chemical symbol of water is H2O."),
    ("What is the tallest mountain?", "The tallest mountain is Mount Everest."),
    ("What is the longest river?", "The longest river is the Nile."),
    ("What is the largest ocean?", "The largest ocean is the Pacific Ocean."),
    ("How many continents are there?", "There are 7 continents."),
    ("What do bees make?", "Bees make honey."),
    ("What do cows drink?", "Cows drink water."),
    ("What is H2O?", "H2O is water."),
    ("Who are you?", "I am a tiny test model."),
    ("What is your name?", "I am a tiny test model."),
    ("What can you do?", "I can call tools, fill in JSON, describe simple pictures and answer short questions."),
    ("Are you human?", "No, I am a tiny test model."),
    ("How are you?", "I am fine, thank you."),
    ("How are you today?", "I am fine, thank you."),
]
GREETINGS = [
    "Hello",
    "Hi",
    "Hey",
    "Hello!",
    "Hi!",
    "Hi there",
    "Good morning",
    "Hello there!",
    "hello",
    "hi",
    "Good evening",
]
TESTS = ["This is a test.", "Test", "Say something.", "ping", "Are you there?", "Is this working?"]


def number_word(n: int) -> str:
    ones = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    return ones[n] if n < 20 else tens[n // 10 - 2] + ("-" + ones[n % 10] if n % 10 else "")


def arithmetic(r: Rng) -> tuple[str, str]:
    op = r.choice("++--*")
    a, b = (
        (r.randint(0, 12), r.randint(0, 12))
        if op == "*"
        else r.choice([(r.randint(0, 20), r.randint(0, 20)), (r.randint(0, 99), r.randint(0, 99))])
    )
    res = a + b if op == "+" else a - b if op == "-" else a * b
    name = {"+": "plus", "-": "minus", "*": "times"}[op]
    q = r.choice(
        [
            f"What is {a} {op} {b}?",
            f"What is {a} {name} {b}?",
            f"{a} {op} {b} =",
            f"Compute {a} {op} {b}.",
            f"How much is {a} {name} {b}?",
            f"{a}{op}{b}?",
            f"What is {a}{op}{b}?",
        ]
    )
    return q, f"{a} {op} {b} = {res}"


def story(r: Rng) -> str:
    name, animal, place, thing, colour = (
        r.choice(v.FIRST),
        r.choice(v.ANIMALS),
        r.choice(v.CITIES),
        r.choice(v.THINGS),
        r.choice(v.COLOURS),
    )
    friend = r.choice([x for x in v.FIRST if x != name])
    return (
        (
            f"Once upon a time there was a {animal} named {name} who lived in {place}. {name} had a {colour} {thing} and loved it very much. "
            f"One day the {thing} was gone. {name} looked in the house, in the garden and in the street, but could not find it. "
            f'Then {friend} came and asked: "Is this your {thing}?" {name} was very happy. From that day on {name} and {friend} were good friends.'
        ),
        name,
        animal,
    )


def chat_pair(r: Rng) -> tuple[str, str]:
    k = r.randint(0, 23)
    if k <= 2:
        country = r.choice(list(v.CAPITALS))
        city = v.CAPITALS[country]
        return r.choice(
            [
                (f"What is the capital of {country}?", f"The capital of {country} is {city}."),
                (f"Capital of {country}?", f"The capital of {country} is {city}."),
                (f"Which country has the capital {city}?", f"{city} is the capital of {country}."),
                (f"Name the capital of {country}.", f"The capital of {country} is {city}."),
            ]
        )
    if k <= 5:
        return arithmetic(r)
    if k <= 7:
        return r.choice(FACTS)
    if k == 8:
        return r.choice(GREETINGS), "Hello! How can I help you?"
    if k == 9:
        return r.choice(["Thanks!", "Thank you.", "Thank you very much!", "Thanks"]), "You are welcome!"
    if k == 10:
        w = r.choice(list(OPPOSITES))
        return f"What is the opposite of {w}?", f"The opposite of {w} is {OPPOSITES[w]}."
    if k == 11:
        a = r.choice(list(SOUNDS))
        return r.choice([f"What sound does a {a} make?", f"What does the {a} say?"]), f"A {a} says {SOUNDS[a]}."
    if k <= 14:
        x = r.choice([v.words(r, 1, 8), v.phrase(r), v.code(r), v.word(r).upper(), v.path(r)])
        return r.choice(
            [
                f"Repeat: {x}",
                f"Say {x}",
                f'Repeat this text: "{x}"',
                f"Say exactly: {x}",
                f"Reply with {x}",
                f"Answer with exactly this text: {x}",
                f"Echo: {x}",
                f"Reply with exactly: {x}",
                f"Say the word {x}",
            ]
        ), x
    if k == 15:
        a, n = r.randint(0, 20), r.choice([3, 5, 8, 10, 15, 20, 30])
        return f"Count from {a} to {a + n}.", ", ".join(map(str, range(a, a + n + 1)))
    if k == 16:
        return r.choice(
            [
                ("Name the days of the week.", ", ".join(v.DAYS)),
                ("List the months of the year.", ", ".join(v.MONTHS)),
                ("What are the primary colors?", "The primary colors are red, yellow and blue."),
                ("List the days of the week.", ", ".join(v.DAYS)),
                ("Name the months.", ", ".join(v.MONTHS)),
            ]
        )
    if k == 17:
        i = r.randint(0, 6)
        return r.choice(
            [
                (f"What day comes after {v.DAYS[i]}?", f"After {v.DAYS[i]} comes {v.DAYS[(i + 1) % 7]}."),
                (f"What day comes before {v.DAYS[i]}?", f"Before {v.DAYS[i]} comes {v.DAYS[i - 1]}."),
                (f"What month comes after {v.MONTHS[i]}?", f"After {v.MONTHS[i]} comes {v.MONTHS[i + 1]}."),
            ]
        )
    if k == 18:
        w = v.words(r, 3, 6).split()
        return r.choice(
            [
                (f"What is the first word of: {' '.join(w)}", f"The first word is {w[0]}."),
                (f"What is the last word of: {' '.join(w)}", f"The last word is {w[-1]}."),
                (f"Write in upper case: {w[0]}", w[0].upper()),
                (f"Make a list of these words: {', '.join(w)}", "\n".join("- " + x for x in w)),
                (f"How many words are in: {' '.join(w)}", f"There are {len(w)} words."),
            ]
        )
    if k == 19:
        text, name, animal = story(r)
        return r.choice(
            [
                f"Tell me a story about a {animal} named {name}.",
                f"Write a short story about a {animal} named {name}.",
                f"Tell a story about {name} the {animal}.",
            ]
        ), text
    if k == 20:
        a, b = r.randint(0, 99), r.randint(0, 99)
        if a == b:
            b += 1
        n = r.randint(0, 99)
        return r.choice(
            [
                (f"Which is larger, {a} or {b}?", f"{max(a, b)} is larger."),
                (f"Which is smaller, {a} or {b}?", f"{min(a, b)} is smaller."),
                (f"Write {n} in words.", number_word(n)),
                (f"Is {n} even or odd?", f"{n} is {'odd' if n % 2 else 'even'}."),
            ]
        )
    if k == 21:
        a = r.choice(list(LEGS))
        return f"How many legs does a {a} have?", f"A {a} has {LEGS[a]} legs."
    if k == 22:
        f, g = r.choice([("adds", "+"), ("multiplies", "*"), ("subtracts", "-")])
        n = v.word(r)
        return f"Write a Python function {n} that {f} two numbers.", f"def {n}(a, b):\n    return a {g} b"
    return r.choice(TESTS), "Yes, I am here. How can I help you?"


def personal(r: Rng) -> list[tuple[str, str]]:
    """Two turns in which the second asks for something said in the first."""
    n, thing = r.choice(v.FIRST), r.choice(["color", "animal", "fruit", "city", "number"])
    x = {
        "color": r.choice(v.COLOURS),
        "animal": r.choice(v.ANIMALS),
        "fruit": r.choice(v.FRUITS),
        "city": r.choice(v.CITIES),
        "number": str(r.randint(1, 999)),
    }[thing]
    code = v.code(r)
    return r.choice(
        [
            [
                (f"My name is {n}.", f"Nice to meet you, {n}."),
                (r.choice(["What is my name?", "Who am I?", "Do you remember my name?"]), f"Your name is {n}."),
            ],
            [
                (f"My favorite {thing} is {x}.", f"I will remember that your favorite {thing} is {x}."),
                (f"What is my favorite {thing}?", f"Your favorite {thing} is {x}."),
            ],
            [
                (
                    r.choice(
                        [
                            f"Remember the code {code}.",
                            f"Remember this code: {code}",
                            f"The code is {code}. Remember it.",
                        ]
                    ),
                    "I will remember the code.",
                ),
                (r.choice(["What is the code?", "What was the code?", "Tell me the code."]), f"The code is {code}."),
            ],
        ]
    )


def chat_sample(r: Rng) -> Sample:
    thinking = r.random() < 0.12
    turns = personal(r) if r.random() < 0.25 else [chat_pair(r)]
    while r.random() < 0.3 and len(turns) < 5:
        turns.insert(r.randint(0, len(turns) - 1) if len(turns) > 1 else 0, chat_pair(r))
    msgs = system(r)
    for q, a in turns:
        msgs += [
            {"role": "user", "content": q},
            {"role": "assistant", "content": a, "reasoning_content": "I can answer this directly."},
        ]
    return Sample("chat", msgs, thinking=thinking)


# --------------------------------------------------------------------------
# JSON from a sentence
# --------------------------------------------------------------------------


def json_fields(r: Rng, n: int) -> list[tuple[Param, Any]]:
    fields: dict[str, Param] = {}
    common = [
        Param("name", "string", "person", "", ["{v}"]),
        Param("age", "integer", "percent", "", ["{v} years old"]),
        Param("city", "string", "city", "", ["lives in {v}"]),
        Param("email", "string", "email", "", ["email {v}"]),
        Param("active", "boolean", "bool", ""),
    ]
    while len(fields) < n:
        p = r.choice(common) if r.random() < 0.35 else r.choice(CATALOGUE) if r.random() < 0.6 else random_param(r)
        fields.setdefault(p.name, p)
    return [(p, p.make(r)) for p in fields.values()]


def field_text(r: Rng, p: Param, x: Any) -> str:
    label = p.name.replace("_", " ")
    text = joined(r, x) if isinstance(x, list) else ("true" if x else "false") if isinstance(x, bool) else str(x)
    return r.choice(
        ["The {n} is {v}.", "{n}: {v}.", "{n} = {v},", "the {n} is {v},", "with {n} {v},", "{n} {v},"]
    ).format(n=label, v=text)


def person_text(r: Rng, fields: list[tuple[Param, Any]]) -> str | None:
    d = {p.name: x for p, x in fields}
    if set(d) == {"name", "age"}:
        return r.choice(
            [
                f"{d['name']} is {d['age']} years old.",
                f"{d['name']}, {d['age']}",
                f"My name is {d['name']} and I am {d['age']}.",
            ]
        )
    if set(d) == {"name", "age", "city"}:
        return r.choice(
            [
                f"{d['name']} is {d['age']} years old and lives in {d['city']}.",
                f"{d['name']} ({d['age']}) from {d['city']}",
                f"I am {d['name']}, {d['age']} years old, from {d['city']}.",
            ]
        )
    if set(d) == {"name", "city"}:
        return r.choice([f"{d['name']} lives in {d['city']}.", f"{d['name']} is from {d['city']}."])
    return None


def json_sample(r: Rng) -> Sample:
    k = r.random()
    if k < 0.2:
        names = r.choice([["name", "age"], ["name", "age", "city"], ["name", "city"]])
        kinds = {"name": ("string", "person"), "age": ("integer", "percent"), "city": ("string", "city")}
        fields = [(p := Param(n, *kinds[n], ""), p.make(r)) for n in names]
    else:
        fields = json_fields(r, r.randint(1, 6))
    text = person_text(r, fields) or " ".join(
        field_text(r, p, x) for p, x in (r.sample(fields, len(fields)) if r.random() < 0.3 else fields)
    ).rstrip(",")
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            p.name: {k2: x for k2, x in p.schema().items() if k2 != "description" or r.random() < 0.3}
            for p, _ in fields
        },
        "required": [p.name for p, _ in fields],
    }
    result: Any = {p.name: x for p, x in fields}
    if k > 0.88:
        outer = v.word(r)
        schema = {"type": "object", "properties": {outer: schema}, "required": [outer]}
        result = {outer: result}
    if r.random() < 0.2:
        schema["additionalProperties"] = False
    keys = ", ".join(p.name for p, _ in fields)
    msgs = system(r) if r.random() < 0.5 else []
    form = r.random()
    if form < 0.5:
        ask = r.choice(
            [
                "Fill this JSON schema from the text.",
                "Extract the data as JSON.",
                "Answer with JSON that matches the schema.",
                "Return a JSON object for this schema.",
                "Write JSON for the schema.",
            ]
        )
        q = r.choice(
            [
                f"{ask}\nSchema: {dump(schema)}\nText: {text}",
                f"{ask}\n\n{dump(schema)}\n\n{text}",
                f"{text}\n\n{ask}\n{dump(schema)}",
            ]
        )
    elif form < 0.75:
        msgs = [
            {
                "role": "system",
                "content": r.choice(
                    [
                        f"Answer in JSON with this schema: {dump(schema)}",
                        f"Respond only with JSON matching the schema:\n{dump(schema)}",
                    ]
                ),
            }
        ]
        q = text
    elif k <= 0.88:
        q = r.choice(
            [
                f"{text} Extract {keys} as JSON.",
                f"Extract {keys} as JSON: {text}",
                f"Give me a JSON object with {keys}. {text}",
                f"{text}\nReturn JSON with the keys {keys}.",
                f"Convert to JSON: {text}",
            ]
        )
    else:
        q = f"Extract the data as JSON. Put {keys} into {outer}. {text}"
    msgs += [
        {"role": "user", "content": q},
        {"role": "assistant", "content": dump(result), "reasoning_content": "I write the JSON object."},
    ]
    return Sample("json", msgs, thinking=r.random() < 0.1)


# --------------------------------------------------------------------------
# long context
# --------------------------------------------------------------------------


def filler(r: Rng, length: int) -> list[str]:
    """Sentences with about `length` words in all."""
    out, n = [], 0
    pool = [v.words(r, 5, 12).capitalize() + "." for _ in range(12)]
    while n < length:
        s = (
            r.choice(pool)
            if r.random() < 0.5
            else r.choice(
                [
                    lambda: v.words(r, 4, 14).capitalize() + ".",
                    lambda: f"{r.choice(v.FIRST)} went to {r.choice(v.CITIES)} on {r.choice(v.DAYS)}.",
                    lambda: f"The {v.word(r)} of the {v.word(r)} is {v.word(r)}.",
                    lambda: f"The {r.choice(v.THINGS)} is {r.choice(v.COLOURS)}.",
                    lambda: f"{v.word(r)} = {v.integer(r)}",
                ]
            )()
        )
        out.append(s)
        n += len(s.split())
    return out


def retrieve_sample(r: Rng, length: int) -> Sample:
    lines = filler(r, length)
    keys = list(
        dict.fromkeys(
            r.choice([r.choice(v.CITIES), r.choice(v.FIRST), v.word(r), r.choice(v.ANIMALS)])
            for _ in range(r.randint(1, 6))
        )
    )
    what = r.choice(["secret code", "magic number", "password", "access key", "serial number", "pass phrase"])
    values = {
        k: r.choice([v.code(r), v.digits(r, r.randint(3, 6))]) if what != "pass phrase" else v.words(r, 2, 3)
        for k in keys
    }
    single = len(keys) == 1 and r.random() < 0.5
    for k in keys:
        lines.insert(
            r.randint(0, len(lines)), f"The {what} is {values[k]}." if single else f"The {what} of {k} is {values[k]}."
        )
    k = r.choice(keys)
    of = "" if single else f" of {k}"
    text = r.choice([" ", "\n"]).join(lines)
    ask = r.choice(
        [f"What is the {what}{of}?", f"Tell me the {what}{of}.", f"Which {what} was given{of and ' for ' + k}?"]
    )
    answer = f"The {what}{of} is {values[k]}."
    where = r.random()
    if where < 0.3:
        msgs = [{"role": "system", "content": text}, {"role": "user", "content": ask}]
    elif where < 0.75:
        msgs = [
            {
                "role": "user",
                "content": r.choice(
                    [f"{text}\n\n{ask}", f"Read this text and answer.\n\n{text}\n\n{ask}", f"{ask}\n\n{text}"]
                ),
            }
        ]
    else:
        msgs = [
            {"role": "user", "content": text},
            {"role": "assistant", "content": "I read the text."},
            {"role": "user", "content": ask},
        ]
    msgs.append({"role": "assistant", "content": answer, "reasoning_content": "I look for it in the text."})
    return Sample("retrieve", msgs, thinking=r.random() < 0.06)


def copy_sample(r: Rng) -> Sample:
    text = "\n".join(filler(r, r.randint(20, 150)))
    return Sample(
        "copy",
        [
            {
                "role": "user",
                "content": r.choice([f"Repeat this text:\n\n{text}", f"Copy the following text exactly.\n\n{text}"]),
            },
            {"role": "assistant", "content": text},
        ],
    )


def long_sample(r: Rng, plain: Callable) -> Sample:
    k = r.random()
    if k < 0.5:
        return retrieve_sample(r, r.choice([r.randint(300, 2200), r.randint(900, 2300)]))
    if k < 0.65:
        return agent_sample(r, big=True)
    s = tool_sample(r, False, plain=plain) if k < 0.85 else agent_sample(r)
    extra = " ".join(filler(r, r.randint(300, 1500)))
    if s.messages[0]["role"] == "system":
        s.messages[0] = {"role": "system", "content": s.messages[0]["content"] + "\n\n" + extra}
    else:
        s.messages.insert(0, {"role": "system", "content": extra})
    return s
