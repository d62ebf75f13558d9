"""Strings on which tokenizers differ, if they differ at all. The same list on every run."""

import random
import unicodedata

WORDS = """hello world naïve café résumé über Ærøskøbing Zürich façade Ångström Straße İstanbul ığdır Đặng Việt Cửa
Łódź žluťoučký kůň příliš Здравствуйте мир ёлка Българският Ελληνικά ά έ ΐ ὦ საქართველო հայերեն עִבְרִית שָׁלוֹם العَرَبِيَّة مرحبا فارسی‌ها
हिन्दी क्षत्रिय বাংলা தமிழ் తెలుగు ಕನ್ನಡ മലയാളം ภาษาไทย น้ำ ລາວ ខ្មែរ မြန်မာ བོད་ཡིག አማርኛ 日本語 ひらがな カタカナ ｶﾞｷﾞ 한국어 中文 漢字 繁體 龍 ㍿ ﬁ ﬀ ﬄ ſ
ǅ ʰ ᵃ ª º ² ³ ¹ ½ ¾ Ⅷ ⅷ ① ㊙ ٣٤٥ ४५ ፩ 𝟘𝟙 𝔘𝔫𝔦 𐍈 𠜎 🇩🇪""".split()
ENGLISH = """I've you're we'll they'd it's don't I'm 'tis y'all rock'n'roll HTTPServer camelCase snake_case kebab-case SCREAMING_CASE
iPhone eBay McDonald O'Brien U.S.A. e.g. 3rd 1,000.50 -1e-9 0x7f 192.168.0.1 user@example.org https://example.org/a?b=c&d=%20
C++ C# F# .NET /usr/bin \\n \\t "quoted" (parens) [brackets] {braces} <tags> a/b and/or 100% $5 €3 £4 ¥5 #tag @name""".split()
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🧑🏿‍🚀", "❤️", "☺️", "☺", "🇫🇷🇩🇪", "1️⃣", "🦙", "🫠", "👁️‍🗨️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "✅", "™", "©️"]
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\n\n", " \n", "\n ", "\t\t", "\u00a0", "\u2003", "\u3000", "\u0085", "\u2028",
          "\u200b", "\u180e", "\ufeff", "\u200d", "\x0b", "\x0c", "\x1c", "        ", "\n\n\n\n"]  # fmt: skip
CODE = [
    "def f(x):\n    if x > 0:\n        return x**2  # square\n\n\treturn None\n",
    "for (int i = 0; i < n; ++i) {\n  a[i] += b[i] * 2;\n}\n",
    '{"name": "x", "list": [1, 2.5, -3e10, null, true], "nested": {"k": "v\\u00e9"}}',
    "SELECT * FROM t WHERE a = 'it''s' AND b LIKE '%x%';",
    "<div class=\"a\"><p>text</p> <br/> &amp; </div>\n<!-- c -->",
    "#!/bin/bash\nset -euo pipefail\necho \"${VAR:-default}\" | sed 's/a/b/g'\n",
    "fn main() -> Result<(), Box<dyn Error>> { println!(\"{:?}\", &x[..]); Ok(()) }",
    "\\begin{align} \\frac{a}{b} &= \\sum_{i=0}^{n} x_i^2 \\\\ \\end{align}",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n- [ ] todo\n\n```py\nprint(1)\n```\n",
    "2024-02-29T23:59:59.999Z +49 (0)30 1234567 12:34:56 1/2 3½ 10^6 ~/.config",
]
MARKS = "\u0300\u0301\u0302\u0303\u0308\u0323\u0327\u0328\u0338\u064b\u0651\u0e34\u093c\u094d\u20e3\u3099\u309a\u1abd\U0001d165"
BIDI = "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2069"


def _assigned() -> list[str]:
    """Characters of Unicode 13 or older, which all libraries compared know."""
    old = unicodedata.ucd_3_2_0
    common = [chr(c) for c in range(0x20, 0x3000) if old.category(chr(c)) not in ("Cn", "Cs", "Co")]
    rare = [chr(c) for c in range(0x3000, 0x30000, 7) if old.category(chr(c)) not in ("Cn", "Cs", "Co")]
    return common * 2 + rare


def _combine(pick: random.Random, parts: list[str], longest: int) -> str:
    return "".join(pick.choice(parts) for _ in range(pick.randint(1, longest)))


def make(special: list[str], count: int = 2500) -> list[str]:
    """At least `count` strings, most of them short. `special`: texts of special tokens, put beside other text."""
    pick = random.Random(20240229)
    assigned = _assigned()
    strings = [*WORDS, *ENGLISH, *EMOJI, *SPACES, *CODE, "", "\0", "\ufffd", "\ue000", "\U0010fffd"]
    strings += [" " * n for n in range(1, 70)] + ["\n" * n for n in range(1, 40)] + ["\t" * n for n in range(1, 20)]
    strings += [" " * n + "x" for n in range(1, 40)] + ["7" * n for n in range(1, 20)] + ["=" * n for n in range(2, 90, 3)]
    prose = WORDS + ENGLISH
    makers = [
        lambda: " ".join(pick.choices(prose, k=pick.randint(2, 12))),
        lambda: _combine(pick, prose + SPACES, 10),
        lambda: _combine(pick, EMOJI + SPACES[:4] + ENGLISH, 8),
        lambda: _combine(pick, CODE + SPACES + ENGLISH, 4),
        lambda: _combine(pick, assigned, 24),
        lambda: _combine(pick, [*"aAeEoOuUnNsS한ㄱ가\u11a8かはカक्अ ", *MARKS], 16),
        lambda: _combine(pick, [*"0123456789 .,-+", *WORDS[-12:]], 14),
        lambda: _combine(pick, [*"'’`\"", "s", "S", "t", "RE", "re", "ve", "LL", "ll", "d", "M", "ſ", " ", "K", "x"], 8),
        lambda: _combine(pick, [*"aAbB \n\t/\r", "Ⅷ", "ǅ", "ʰ", "中", "é", "e\u0301"], 20),
        lambda: _combine(pick, [*BIDI, *"שלום عربي abc 123 ", "\u200d", "\u200c"], 14),
        lambda: _combine(pick, [chr(c) for c in range(0x20)] + ["a", " "], 10),
        lambda: _combine(pick, special + SPACES[:6] + ENGLISH[:8] + ["<", "|", ">", "<|", "▁", ""], 7),
        lambda: _combine(pick, [" ", "\n", "\t", "\r", "\u00a0", "\u3000", "x"], 30),
        lambda: _combine(pick, [*"!?.,;:-_=+*#/\\|<>()[]{}@&%$^~`", " ", "a", "1", "\n"], 20),
    ]
    while len(strings) < count:
        strings.append(makers[len(strings) % len(makers)]())
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        strings += [unicodedata.normalize(form, word) for word in WORDS]
        strings += [unicodedata.normalize(form, text) for text in pick.sample(strings[400:count], 40)]
    return strings


def make_long() -> list[str]:
    pick = random.Random(7)
    prose = WORDS + ENGLISH
    return ["a" * (1 << 20), " " * (1 << 18), "".join(pick.choice(prose) + pick.choice(" \n") for _ in range(20000))]
