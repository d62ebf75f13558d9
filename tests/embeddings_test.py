"""Embeddings through the server: equal to the formulas in NumPy for every architecture and pooling, independent of company
and cache, and as the official clients see them.

Tolerance: the values of a vector of length 1 come from sums like those behind the logits of comparison.py, and
normalisation divides what they are off by with the vector's own length.
"""

import concurrent.futures
import json
import urllib.request

import golden
import numpy as np
import ollama
import openai
import pytest
from comparison import FLOAT_TOLERANCE
from file_copy import FileCopy
from gguf.constants import GGUFValueType
from references import reference_of

POOLINGS = {"mean": 1, "cls": 2, "last": 3}


def post(server, route: str, body: dict) -> dict:
    request = urllib.request.Request(server.url + route, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def expected(case, pooling: str) -> np.ndarray:
    reference = reference_of(case.file)
    states = reference.norm("output_norm", reference.states(case.ids))
    vector = {"mean": states.mean(0), "cls": states[0], "last": states[-1]}[pooling]
    return vector / np.linalg.norm(vector)


def check(reply: dict, vector: np.ndarray) -> None:
    got = np.array(reply["data"][0]["embedding"])
    assert got.shape == vector.shape
    assert abs(np.linalg.norm(got) - 1) < 1e-6
    assert np.abs(got - vector).max() < FLOAT_TOLERANCE


@pytest.mark.parametrize("name", golden.NAMES)
def test_a_generative_model_gives_the_mean(name, start_server):
    case, _ = golden.load(name)
    server = start_server("--kv-type", "f32", "--device", "reference", model=case.path)
    reply = post(server, "/v1/embeddings", {"input": case.ids})
    check(reply, expected(case, "mean"))
    assert reply["from_generative_model"] is True
    assert reply["pooling"] == "mean"
    assert reply["usage"]["prompt_tokens"] == len(case.ids)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_file_states_its_pooling(pooling, start_server, tmp_path):
    case, _ = golden.load("qwen3")
    changed = FileCopy(case.path)
    changed.keys["qwen3.pooling_type"] = (POOLINGS[pooling], GGUFValueType.UINT32, None)
    changed.write(tmp_path / "embedding.gguf")
    server = start_server("--kv-type", "f32", model=tmp_path / "embedding.gguf")
    reply = post(server, "/v1/embeddings", {"input": case.ids})
    check(reply, expected(case, pooling))
    assert reply["from_generative_model"] is False
    assert reply["pooling"] == pooling


def test_neither_company_nor_cache_changes_a_vector(server):
    texts = ["The cat sat on the mat. " * 20 + str(number) for number in range(8)]
    chat = {"messages": [{"role": "user", "content": texts[0]}], "max_tokens": 40, "temperature": 0}

    def vector(text):
        return post(server, "/v1/embeddings", {"input": text})["data"][0]["embedding"]

    alone = [vector(text) for text in texts]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        talking = [pool.submit(post, server, "/v1/chat/completions", chat) for _ in range(2)]
        together = post(server, "/v1/embeddings", {"input": texts})["data"]
        replies = [done.result()["choices"][0]["message"]["content"] for done in talking]
    assert [entry["embedding"] for entry in together] == alone
    assert vector(texts[3]) == alone[3]  # by now all of it is cached
    assert {post(server, "/v1/chat/completions", chat)["choices"][0]["message"]["content"]} == set(replies)


def test_the_clients_of_both_dialects_get_the_same(tiny_server):
    client = openai.OpenAI(base_url=tiny_server.url + "/v1", api_key="none", max_retries=0)
    texts = ["What is the capital of Spain?", "hello world"]
    vectors = [entry.embedding for entry in client.embeddings.create(model="m", input=texts).data]  # as bytes
    plain = client.embeddings.create(model="m", input=texts, encoding_format="float").data
    assert np.allclose(vectors, [entry.embedding for entry in plain], atol=1e-7)
    other = ollama.Client(host=tiny_server.url)
    assert np.allclose(other.embed(model="m", input=texts).embeddings, vectors, atol=1e-7)
    assert np.allclose(other.embeddings(model="m", prompt=texts[1]).embedding, vectors[1], atol=1e-7)
    short = client.embeddings.create(model="m", input=texts[0], dimensions=16, encoding_format="float").data[0]
    whole = np.array(vectors[0][:16])
    assert np.allclose(short.embedding, whole / np.linalg.norm(whole), atol=1e-6)
    with pytest.raises(openai.BadRequestError) as caught:
        client.embeddings.create(model="m", input=texts, dimensions=100000)
    assert caught.value.param == "dimensions"
