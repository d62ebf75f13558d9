"""Chat templates of many models, as scripts/get_test_data.sh leaves them in build/data."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "build" / "data"

# The families that Tempo9 is made for, as far as their templates can be had.
FAMILIES = {
    "Llama 3.1": "llama.cpp/meta-llama-Llama-3.1-8B-Instruct",
    "Llama 3.2": "llama.cpp/meta-llama-Llama-3.2-3B-Instruct",
    "Llama 3.3": "llama.cpp/meta-llama-Llama-3.3-70B-Instruct",
    "Mistral Nemo": "llama.cpp/mistralai-Mistral-Nemo-Instruct-2407",
    "Mistral Small 3.2": "llama.cpp/Mistral-Small-3.2-24B-Instruct-2506",
    "Ministral 3": "llama.cpp/mistralai-Ministral-3-14B-Reasoning-2512",
    "Qwen3": "llama.cpp/Qwen-Qwen3-0.6B",
    "Qwen3 instruct": "trl/qwen3_instruct_2507",
    "Qwen3-Coder": "llama.cpp/Qwen3-Coder",
    "Qwen3-VL": "trl/qwen3_vl",
    "Qwen3.5": "llama.cpp/Qwen3.5-4B",
    "Qwen3.5, no thinking": "trl/qwen3_5_nothink",
    "Qwen3.6": "trl/qwen3_6",
    "gpt-oss": "llama.cpp/openai-gpt-oss-120b",
    "Gemma 4": "llama.cpp/google-gemma-4-31B-it",
    "Gemma 4, interleaved": "llama.cpp/google-gemma-4-31B-it-interleaved",
    "Gemma 4, newest": "trl/gemma4_v5",
}


# Their templates change what they wrote before once the user asks anew: thoughts go, or the tools move along.
CHANGE_EARLIER_TURNS = ["Mistral Nemo", "Mistral Small 3.2", "Qwen3.5", "Qwen3.5, no thinking", "Qwen3.6"]


def read() -> dict[str, str]:
    """Sources by "package/name"; downloads them where they are missing."""
    subprocess.run([ROOT / "scripts" / "get_test_data.sh"], check=True)
    folders = {"llama.cpp": DATA / "llama.cpp" / "templates", "trl": DATA / "trl"}
    return {
        f"{package}/{path.stem}": path.read_text()
        for package, folder in folders.items()
        for path in sorted(folder.glob("*.jinja"))
    }


def families() -> dict[str, str]:
    found = read()
    return {name: found[key] for name, key in FAMILIES.items()}
