"""The list of references."""

from decoder_reference import DecoderReference, Rounding
from gemma_reference import Gemma3Reference, Gemma4Reference
from gpt_oss_reference import GptOssReference
from llama_reference import LlamaReference
from model_file import ModelFile
from qwen3_reference import Qwen3Reference
from qwen35_reference import Qwen35Reference

REFERENCES = {
    "llama": LlamaReference,
    "mistral3": LlamaReference,
    "qwen3": Qwen3Reference,
    "qwen3moe": Qwen3Reference,
    "qwen3vl": Qwen3Reference,
    "qwen3vlmoe": Qwen3Reference,
    "gpt-oss": GptOssReference,
    "qwen35": Qwen35Reference,
    "qwen35moe": Qwen35Reference,
    "gemma3": Gemma3Reference,
    "gemma4": Gemma4Reference,
}


def reference_of(file: ModelFile, rounding: Rounding | None = None) -> DecoderReference:
    return REFERENCES[file.architecture](file, rounding)
