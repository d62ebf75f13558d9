"""Word lists and generators of single values, the raw material of the synthetic data."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

WORDS = (Path(__file__).parent / "data/words.txt").read_text().split()  # most frequent first
COMMON = 1200

CAPITALS = {
    "France": "Paris",
    "Germany": "Berlin",
    "Italy": "Rome",
    "Spain": "Madrid",
    "Portugal": "Lisbon",
    "Norway": "Oslo",
    "Sweden": "Stockholm",
    "Finland": "Helsinki",
    "Denmark": "Copenhagen",
    "Poland": "Warsaw",
    "Austria": "Vienna",
    "Hungary": "Budapest",
    "Greece": "Athens",
    "Ireland": "Dublin",
    "Belgium": "Brussels",
    "Japan": "Tokyo",
    "China": "Beijing",
    "India": "New Delhi",
    "Egypt": "Cairo",
    "Kenya": "Nairobi",
    "Canada": "Ottawa",
    "Mexico": "Mexico City",
    "Brazil": "Brasilia",
    "Argentina": "Buenos Aires",
    "Chile": "Santiago",
    "Peru": "Lima",
    "Australia": "Canberra",
    "Russia": "Moscow",
    "Turkey": "Ankara",
    "Thailand": "Bangkok",
    "Vietnam": "Hanoi",
    "South Korea": "Seoul",
    "Iceland": "Reykjavik",
    "Switzerland": "Bern",
    "Netherlands": "Amsterdam",
    "Czechia": "Prague",
    "Ukraine": "Kyiv",
    "Cuba": "Havana",
    "Morocco": "Rabat",
    "England": "London",
}
CITIES = list(CAPITALS.values()) + [
    "San Francisco",
    "New York",
    "Los Angeles",
    "Chicago",
    "Boston",
    "Seattle",
    "Miami",
    "Denver",
    "Dallas",
    "Austin",
    "Toronto",
    "Montreal",
    "Vancouver",
    "Barcelona",
    "Munich",
    "Hamburg",
    "Cologne",
    "Milan",
    "Naples",
    "Lyon",
    "Marseille",
    "Zurich",
    "Geneva",
    "Manchester",
    "Edinburgh",
    "Glasgow",
    "Osaka",
    "Kyoto",
    "Shanghai",
    "Mumbai",
    "Sydney",
    "Melbourne",
    "Auckland",
    "Cape Town",
    "Lagos",
    "Istanbul",
    "Dubai",
    "Singapore",
    "Jakarta",
    "Manila",
]
FIRST = (
    "Alice Bob Carol David Emma Frank Grace Henry Ivan Julia Karl Laura Maria Nina Oscar Paul Quentin Rosa Sam Tina "
    "Uma Victor Wendy Xavier Yara Zoe Anna Ben Clara Daniel Eva Felix Greta Hugo Ida Jonas Kate Leo Mia Noah Olga "
    "Peter Rita Simon Tom Vera Walter Amir Chen Diego Fatima Hana Kofi Lin Mei Omar Priya Ravi Sofia Yuki"
).split()
LAST = (
    "Smith Jones Brown Taylor Miller Davis Wilson Moore Clark Lewis Walker Hall Young King Wright Hill Green Baker "
    "Adams Nelson Carter Mitchell Turner Parker Evans Collins Stewart Morris Cook Bell Murphy Cooper Reed Gray James "
    "Watson Brooks Kelly Price Wood Ross Long Foster Meyer Weber Fischer Garcia Lopez Silva Rossi Kim Tanaka Singh"
).split()
COLOURS = "red blue green yellow orange purple black white gray brown pink cyan".split()
ANIMALS = (
    "cat dog horse cow sheep goat lion tiger bear wolf fox rabbit mouse eagle owl duck whale shark frog snake".split()
)
FRUITS = "apple banana orange pear cherry grape lemon peach plum mango melon kiwi strawberry".split()
THINGS = (
    "lamp chair table sofa desk keyboard monitor phone camera bicycle bottle backpack notebook pencil umbrella "
    "jacket helmet guitar piano clock mirror carpet kettle toaster blender drill hammer ladder tent"
).split()
LANGUAGES = "English French German Spanish Italian Portuguese Dutch Polish Russian Japanese Chinese Korean Arabic Hindi Turkish".split()
CURRENCIES = "USD EUR GBP JPY CHF CAD AUD SEK NOK INR CNY BRL".split()
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
TICKERS = "AAPL MSFT GOOG AMZN TSLA NVDA META NFLX INTC IBM ORCL SAP".split()
EXTENSIONS = "txt md py json csv cpp h js ts yaml toml log html sh".split()
TIMEZONES = [
    "UTC",
    "Europe/Paris",
    "Europe/London",
    "Europe/Berlin",
    "America/New_York",
    "America/Chicago",
    "Asia/Tokyo",
    "Asia/Kolkata",
    "Australia/Sydney",
]
ADJECTIVES = (
    "new old main first last total local remote default maximum minimum primary secondary internal external "
    "daily weekly monthly current previous next public private small large short long"
).split()
CONDITIONS = "sunny cloudy rainy windy snowy foggy stormy clear".split()

Rng = random.Random


def word(r: Rng) -> str:
    return WORDS[int(r.random() * (COMMON if r.random() < 0.7 else len(WORDS)))]


def words(r: Rng, lo: int, hi: int) -> str:
    return " ".join(word(r) for _ in range(r.randint(lo, hi)))


def digits(r: Rng, n: int) -> str:
    return "".join(r.choice("0123456789") for _ in range(n))


def integer(r: Rng) -> int:
    return r.choice([r.randint(0, 9), r.randint(10, 99), r.randint(100, 999), r.randint(1000, 99999)])


def number(r: Rng) -> float:
    x = r.choice([r.randint(1, 99) / 10, r.randint(100, 99999) / 100, r.randint(1, 40) / 4])
    return x


def date(r: Rng) -> str:
    return f"{r.randint(2019, 2031)}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}"


def clock(r: Rng) -> str:
    return f"{r.randint(0, 23):02d}:{r.choice(['00', '15', '30', '45', '05', '20', '40', '50'])}"


def code(r: Rng) -> str:
    return r.choice(
        [
            lambda: (
                r.choice(["ORD", "INV", "TCK", "REF", "PKG", "CUS", "A", "B", "ID", "XK"])
                + "-"
                + digits(r, r.randint(2, 6))
            ),
            lambda: digits(r, r.randint(3, 7)),
            lambda: "".join(r.choice("abcdef0123456789") for _ in range(r.randint(4, 8))),
            lambda: r.choice("abcdefghijklmnopqrstuvwxyz") + digits(r, r.randint(2, 4)),
            lambda: word(r) + "-" + digits(r, r.randint(1, 3)),
            lambda: (
                "".join(r.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(r.randint(2, 4)))
                + digits(r, r.randint(2, 4))
            ),
        ]
    )()


def filename(r: Rng) -> str:
    stem = r.choice(
        [
            word(r),
            word(r),
            word(r) + "_" + word(r),
            word(r) + "-" + word(r),
            r.choice(["main", "test", "README", "notes", "config", "data", "index", "utils"]),
        ]
    )
    return stem + "." + r.choice(EXTENSIONS)


def folder(r: Rng) -> str:
    base = r.choice(["src", "docs", "tests", "lib", "data", "include", "build", "scripts", word(r), word(r), word(r)])
    return base + ("/" + word(r) if r.random() < 0.25 else "")


def path(r: Rng) -> str:
    k = r.random()
    if k < 0.4:
        return filename(r)
    if k < 0.7:
        return folder(r) + "/" + filename(r)
    return (
        r.choice(["/home/user/", "/tmp/", "/etc/", "/var/log/", "/workspace/", "./", "/srv/"])
        + (word(r) + "/" if r.random() < 0.4 else "")
        + filename(r)
    )


def email(r: Rng) -> str:
    return (
        r.choice(FIRST).lower()
        + r.choice(["", "." + r.choice(LAST).lower(), digits(r, 2)])
        + "@"
        + r.choice(["example.com", "example.org", "mail.com", word(r) + ".com", word(r) + ".org"])
    )


def person(r: Rng) -> str:
    return r.choice(FIRST) + (" " + r.choice(LAST) if r.random() < 0.5 else "")


def url(r: Rng) -> str:
    return (
        "https://"
        + r.choice(["", "www.", "docs."])
        + word(r)
        + r.choice([".com", ".org", ".io"])
        + r.choice(["", "/" + word(r), "/" + word(r) + "/" + digits(r, 2)])
    )


def phrase(r: Rng) -> str:
    """A few words, as a title or a message would have."""
    k = r.random()
    if k < 0.35:
        return words(r, 1, 5)
    if k < 0.6:
        return words(r, 2, 4).capitalize()
    return r.choice(
        [
            lambda: f"Meeting with {r.choice(FIRST)}",
            lambda: f"Call {r.choice(FIRST)}",
            lambda: f"Buy {r.choice(FRUITS)}s",
            lambda: f"{r.choice(ADJECTIVES)} {word(r)} report",
            lambda: f"Lunch at {r.choice(CITIES)}",
            lambda: f"Hello {r.choice(FIRST)}",
            lambda: f"The {word(r)} is ready",
            lambda: f"{r.choice(MONTHS)} {word(r)}",
            lambda: f"{r.choice(ADJECTIVES)} {r.choice(THINGS)}",
            lambda: f"see you on {r.choice(DAYS)}",
            lambda: f"{word(r)} and {word(r)}",
            lambda: f"Review the {word(r)}",
            lambda: f"{r.choice(COLOURS)} {r.choice(THINGS)}",
        ]
    )()


MAKERS: dict[str, Any] = {
    "city": lambda r: r.choice(CITIES),
    "country": lambda r: r.choice(list(CAPITALS)),
    "person": person,
    "email": email,
    "date": date,
    "time": clock,
    "code": code,
    "path": path,
    "file": filename,
    "folder": folder,
    "url": url,
    "phrase": phrase,
    "word": word,
    "colour": lambda r: r.choice(COLOURS),
    "language": lambda r: r.choice(LANGUAGES),
    "currency": lambda r: r.choice(CURRENCIES),
    "ticker": lambda r: r.choice(TICKERS),
    "timezone": lambda r: r.choice(TIMEZONES),
    "thing": lambda r: r.choice(THINGS),
    "day": lambda r: r.choice(DAYS),
    "month": lambda r: r.choice(MONTHS),
    "integer": integer,
    "small": lambda r: r.randint(1, 20),
    "percent": lambda r: r.randint(0, 100),
    "year": lambda r: r.randint(1950, 2035),
    "number": number,
    "bool": lambda r: r.random() < 0.5,
}


def value(r: Rng, kind: str) -> Any:
    return MAKERS[kind](r)
