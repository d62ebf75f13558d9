"""The Berkeley Function Calling Leaderboard, version 4: its single-turn cases, and its own judge.

The package's list of models imports a client of every provider; a module in its place says what the judge asks of it: that
names are sent with "_" for ".", as OpenAI's protocol wants them. get_bfcl.sh installs the package.
"""

import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODEL = "tempo9"


def _import_package() -> None:
    for folder in sorted((ROOT / "build" / "bfcl" / "lib").glob("python3*/site-packages")):
        sys.path.append(str(folder))
    os.environ.setdefault("BFCL_PROJECT_ROOT", tempfile.gettempdir() + "/tempo9-bfcl")  # it makes folders there
    models = types.ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = {MODEL: types.SimpleNamespace(underscore_to_dot=True)}
    sys.modules[models.__name__] = models


_import_package()

from bfcl_eval.constants.category_mapping import SINGLE_TURN_CATEGORY  # noqa: E402
from bfcl_eval.constants.enums import Language, ModelStyle  # noqa: E402
from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402
from bfcl_eval.model_handler.utils import convert_to_tool  # noqa: E402
from bfcl_eval.utils import (  # noqa: E402
    is_empty_output,
    is_function_calling_format_output,
    load_dataset_entry,
    load_ground_truth_entry,
)

GROUPS: list[str] = list(SINGLE_TURN_CATEGORY)
LANGUAGES = {"simple_java": Language.JAVA, "simple_javascript": Language.JAVASCRIPT}


@dataclasses.dataclass(frozen=True)
class Case:
    id: str
    group: str
    messages: list[dict]
    tools: list[dict]  # as they are sent
    functions: list[dict]  # as the data has them
    truth: list[dict] | None  # each call's possible arguments; None where only the presence of a call counts


def is_about_relevance(group: str) -> bool:
    return "relevance" in group  # or irrelevance


def load(group: str) -> list[Case]:
    asked = load_dataset_entry(group)  # with hints for the model
    plain = load_dataset_entry(group, include_language_specific_hint=False)
    truths = [None] * len(plain) if is_about_relevance(group) else [e["ground_truth"] for e in load_ground_truth_entry(group)]
    cases = []
    for entry, bare, truth in zip(asked, plain, truths, strict=True):
        tools = convert_to_tool(entry["function"], GORILLA_TO_OPENAPI, ModelStyle.OPENAI_COMPLETIONS)
        cases.append(Case(entry["id"], group, entry["question"][0], tools, bare["function"], truth))
    return cases


def judge(case: Case, calls: list[tuple[str, str]]) -> str:
    """What is wrong with these calls, each a name and its arguments as JSON text; empty if nothing is."""
    try:
        decoded = [{name: json.loads(arguments)} for name, arguments in calls]
    except ValueError as error:
        decoded = None
        reason = f"arguments that are no JSON: {error}"
    if is_about_relevance(case.group):
        called = decoded is not None and not is_empty_output(decoded)
        if "irrelevance" in case.group:
            return "a call where no function fits" if called else ""
        return "" if called else "no call where a function fits"
    if decoded is None:
        return reason
    if not is_function_calling_format_output(decoded):
        return "arguments that are no object"
    language = LANGUAGES.get(case.group, Language.PYTHON)
    verdict = ast_checker(case.functions, decoded, case.truth, language, case.group, MODEL)
    return "" if verdict["valid"] else str(verdict["error"])


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def summary(shares: dict[str, float], counts: dict[str, int]) -> dict[str, float]:
    """The leaderboard's own sums: languages and kinds weigh the same in the made-up cases, every case the same in those of
    users. Only what all groups are there for."""
    sums = {}
    simple = ["simple_python", "simple_java", "simple_javascript"]
    kinds = ["multiple", "parallel", "parallel_multiple"]
    if all(group in shares for group in simple + kinds):
        sums["Non-live AST"] = mean([mean([shares[g] for g in simple]), *(shares[g] for g in kinds)])
    live = ["live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"]
    if all(group in shares for group in live):
        sums["Live AST"] = sum(shares[g] * counts[g] for g in live) / sum(counts[g] for g in live)
    irrelevance = ["irrelevance", "live_irrelevance"]
    if all(group in shares for group in irrelevance):
        sums["Irrelevance"] = mean([shares[g] for g in irrelevance])
    return sums
