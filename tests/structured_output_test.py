"""What a model can write under a schema is valid against it, judged by Python's jsonschema.

Texts are drawn at random among the tokens that the grammar allows, so every path through it may be taken: the worst
model there can be. Needs the program write_by_grammar (TEMPO9_WRITE_BY_GRAMMAR; default build/dev/tests/…).
"""

import json
import os
import pathlib
import re
import statistics
import subprocess

import jsonschema
import pytest
import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / os.environ.get("TEMPO9_WRITE_BY_GRAMMAR", "build/dev/tests/write_by_grammar")
MODEL = ROOT / os.environ.get("TEMPO9_MODEL", "models/SmolLM2-135M-Instruct.Q4_1.gguf")
DATA = ROOT / "build" / "data"
DRAFTS = {
    "draft4": jsonschema.Draft4Validator,
    "draft6": jsonschema.Draft6Validator,
    "draft7": jsonschema.Draft7Validator,
    "draft2019-09": jsonschema.Draft201909Validator,
    "draft2020-12": jsonschema.Draft202012Validator,
}
# Formats that jsonschema judges without further packages, and our own eyes for the others.
FORMATS = jsonschema.FormatChecker(["date", "email", "ipv4", "ipv6", "uuid", "regex"])
TIME = r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)"


def write(forms: list[dict], texts: int, tokens: int = 300, model: pathlib.Path = MODEL) -> list[dict]:
    lines = "".join(json.dumps(form) + "\n" for form in forms)
    command = [PROGRAM, model, "--texts", str(texts), "--tokens", str(tokens)]
    result = subprocess.run(command, input=lines.encode(), capture_output=True)
    assert result.returncode == 0, result.stderr.decode()
    answers = [json.loads(line) for line in result.stdout.decode().splitlines()]
    assert len(answers) == len(forms)
    return answers


def percentiles(values: list[float]) -> str:
    cuts = statistics.quantiles(values, n=100) if len(values) > 1 else values * 99
    return f"{cuts[49]:9.1f} {cuts[89]:9.1f} {cuts[98]:9.1f} {max(values):9.1f}"


def report(name: str, answers: list[dict]) -> None:
    head = f"{'schemas':24} {'what':12} {'count':>8} {'p50':>9} {'p90':>9} {'p99':>9} {'max':>9}"
    compiled = [answer["compile_ms"] for answer in answers if "compile_ms" in answer]
    masks = [us for answer in answers for us in answer.get("mask_us", [])]
    tables.add(head, f"{name:24} {'compile, ms':12} {len(compiled):8} {percentiles(compiled)}")
    tables.add(head, f"{name:24} {'mask, us':12} {len(masks):8} {percentiles(masks)}")


def check(name: str, schemas: list[tuple[dict | bool, type]], answers: list[dict]) -> int:
    """Every text that came to an end is valid; gives their number."""
    ended = 0
    for (schema, validator), answer in zip(schemas, answers, strict=True):
        assert not answer.get("failed"), (schema, answer)
        for text in answer.get("texts", []):
            if text is None:
                continue
            ended += 1
            value = json.loads(text)
            errors = list(validator(schema, format_checker=FORMATS).iter_errors(value))
            assert not errors, f"{name}: {text} is not valid against {json.dumps(schema)}: {errors[0].message}"
    return ended


def tool_schemas() -> list[dict]:
    lines = (ROOT / "tests/data/tool_schemas.jsonl").read_text().splitlines()
    return [json.loads(line)["schema"] for line in lines]


# Masks inside of strings of bounded length take milliseconds.
@pytest.mark.parametrize("texts, tokens", [(1, 100), pytest.param(6, 300, marks=pytest.mark.slow)])
def test_arguments_of_agents_tools_are_valid(texts, tokens):
    schemas = tool_schemas()
    answers = write([{"schema": schema} for schema in schemas], texts, tokens)
    refused = [answer["error"] for answer in answers if "error" in answer]
    assert not refused
    ended = check("tools", [(schema, jsonschema.Draft202012Validator) for schema in schemas], answers)
    assert ended > 0.66 * texts * len(schemas)
    report("tools of agents", answers)


FORMAT_PATTERNS = {
    "date": r"\d{4}-\d\d-\d\d",
    "time": TIME,
    "date-time": r"\d{4}-\d\d-\d\dT" + TIME,
    "duration": r"P(?=.)(\d+[YMWD])*(T(?=.)(\d+[HMS])+)?",
    "email": r"[^@\s]+@[^@\s]+\.[^@\s]+",
    "hostname": r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*",
    "ipv4": r"\d+\.\d+\.\d+\.\d+",
    "ipv6": r"[0-9a-f:]+",
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "uri": r"[a-z]+:[^\s\"<>\\^`{}|]+",
    "uri-reference": r"[^\s\"<>\\^`{}|]*",
}


@pytest.mark.parametrize("name", FORMAT_PATTERNS)
def test_formats_are_kept(name):
    schema = {"type": "string", "format": name}
    (answer,) = write([{"schema": schema}], texts=40, tokens=120)
    assert check(name, [(schema, jsonschema.Draft202012Validator)], [answer]) > 30
    for text in answer["texts"]:
        assert text is None or re.fullmatch(FORMAT_PATTERNS[name], json.loads(text)), text


# Nested lengths, patterns with and without anchors, a pattern and a length, many items.
LARGE = [
    {"type": "object", "properties": {"a": {"type": "string", "maxLength": 2000}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "string", "maxLength": 65536}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "string", "pattern": "\\S"}}, "required": ["a"]},
    {"type": "array", "items": {"type": "string"}, "maxItems": 1998},
    {"type": "array", "minItems": 3, "items": {"type": "string", "pattern": "^[ -~]*$", "maxLength": 8}},
    {"type": "array", "minItems": 3, "items": {"type": "string", "pattern": "^[ -~]*$", "minLength": 2, "maxLength": 8}},
    {"type": "object", "properties": {"a": {"type": "string", "minLength": 500, "maxLength": 501}}, "required": ["a"]},
]


@pytest.mark.slow
def test_large_bounds_compile_and_are_kept():
    answers = write([{"schema": schema} for schema in LARGE], texts=20)
    assert not [answer["error"] for answer in answers if "error" in answer]
    assert check("large", [(schema, jsonschema.Draft202012Validator) for schema in LARGE], answers) > 12 * len(LARGE)
    report("large bounds", answers)


def nested_one_of(depth: int, branches: int) -> dict:
    """Every level chooses among objects told apart by a constant; each goes on to the next level."""
    definitions = {"d0": {"type": "string"}}
    for level in range(1, depth + 1):
        definitions[f"d{level}"] = {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": f"k{level}{branch}"}, "next": {"$ref": f"#/$defs/d{level - 1}"}},
                    "required": ["kind", "next"],
                }
                for branch in range(branches)
            ]
        }
    return {"$defs": definitions, "$ref": f"#/$defs/d{depth}"}


def spelt_out(depth: int, branches: int) -> dict:
    if depth == 0:
        return {"type": "string"}
    inner = spelt_out(depth - 1, branches)
    return {
        "oneOf": [
            {"type": "object", "properties": {f"k{depth}{branch}": inner}, "required": [f"k{depth}{branch}"]}
            for branch in range(branches)
        ]
    }


def test_deep_alternatives_compile_or_are_refused_in_time():
    schemas = [nested_one_of(8, 6), spelt_out(4, 6), spelt_out(5, 6)]
    answers = write([{"schema": schema} for schema in schemas], texts=2)
    assert "error" not in answers[0]
    assert check("deep", [(schemas[0], jsonschema.Draft202012Validator)], answers[:1]) > 0
    for answer in answers:
        assert answer.get("compile_ms", 0) < 6000
        assert "error" not in answer or "more than" in answer["error"], answer
    report("deep oneOf", [answer for answer in answers if "compile_ms" in answer])


def suite_schemas(folder: pathlib.Path) -> list[dict | bool]:
    found = []
    for path in sorted(folder.glob("*.json")):
        found += [group["schema"] for group in json.loads(path.read_text())]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("draft", DRAFTS)
def test_the_json_schema_test_suite_is_kept_or_refused(draft):
    subprocess.run([ROOT / "scripts/get_test_data.sh"], check=True)
    schemas = suite_schemas(DATA / "schemas" / draft)
    assert len(schemas) > 100
    answers = write([{"schema": schema} for schema in schemas], texts=10, tokens=60)
    ended = check(draft, [(schema, DRAFTS[draft]) for schema in schemas], answers)
    refused = [answer["error"] for answer in answers if "error" in answer]
    for error in refused:
        named = re.search(r"the keyword '.*' at /.* cannot be kept: ", error)
        assert named or "no value satisfies the schema" in error or "levels deep" in error, error
    head = f"{'suite':16} {'schemas':>8} {'refused':>8} {'texts':>8}"
    tables.add(head, f"{draft:16} {len(schemas):8} {len(refused):8} {ended:8}")
    report(draft, answers)
