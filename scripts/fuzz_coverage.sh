#!/usr/bin/env bash
# Prints how much of some source files a fuzz target reaches with its seeds and a fixed number of mutations:
#   scripts/fuzz_coverage.sh                      every target of the list below
#   scripts/fuzz_coverage.sh gguf [RUNS]          one of them, with 10000 mutations or RUNS
#   scripts/fuzz_coverage.sh gguf RUNS PATTERN    with other sources: a regular expression for paths below src/
# Built with sanitizers. Executions first, then lines and percentages of each file, then the total; tests never count. A
# further corpus may be named in EXTRA_CORPUS.
set -euo pipefail
cd "$(dirname "$0")/.."

# What each target is for.
declare -A patterns=(
  [anthropic]='server/api/(anthropic_request|anthropic_content|conversation|images|output_format|fields)\.cpp'
  [conversation]='chat/(chat_template|probe|reasoning_effort|rewriting|template_variables)\.cpp'
  [gguf]='gguf/.*\.cpp'
  [http]='server/http/(exchange|gate|http_server|session)\.cpp'
  [ollama]='server/api/(ollama_request|sampling_fields)\.cpp'
  [openai_chat]='server/api/(openai_(chat|completions|messages|fields)|sampling_fields|tools|output_format|json_parse)\.cpp'
  [reply]='chat/(parsers/.*|reply_parser|reasoning)\.cpp'
  [responses]='server/api/(responses_input|responses_request|responses_tools|tools)\.cpp'
  [schema]='grammar/(schema_.*|json_schema|regex.*|number_range|decimal|structural_tag|code_points)\.cpp'
  [template]='chat/jinja/.*\.cpp'
  [tokenizer]='text/.*\.cpp'
)
build=build/coverage

# The LLVM tools must be those of the compiler.
version=$(clang++ -dumpversion | cut -d. -f1)
tool() { command -v "$1-$version" || command -v "$1"; }

measure() { # measure TARGET RUNS PATTERN
  local target=$1 runs=$2 pattern=$3 program=$build/fuzz/fuzz_$1
  echo "== $target"
  cmake --build $build --target "fuzz_$target" >$build/log.txt || { tail -20 $build/log.txt >&2; exit 1; }
  LLVM_PROFILE_FILE=$build/$target.profraw "$program" --runs "$runs" "fuzz/corpus/$target" \
    ${EXTRA_CORPUS:+"$EXTRA_CORPUS"}
  "$(tool llvm-profdata)" merge -sparse "$build/$target.profraw" -o "$build/$target.profdata"
  "$(tool llvm-cov)" export -summary-only -instr-profile "$build/$target.profdata" "$program" | python3 -c '
import json, os, re, sys
count = covered = 0
for f in json.load(sys.stdin)["data"][0]["files"]:
    name, lines = os.path.relpath(f["filename"]), f["summary"]["lines"]
    if not re.fullmatch("src/(" + sys.argv[1] + ")", name) or "_test." in name:
        continue
    print("{:40} {:4} lines {:6.1f}%".format(name, lines["count"], lines["percent"]))
    count, covered = count + lines["count"], covered + lines["covered"]
if count == 0:
    sys.exit("no source matches " + sys.argv[1])
print("lines reached: {:.1f}% of {}".format(100 * covered / count, count))' "$pattern"
}

[ -f $build/build.ninja ] || cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_CXX_FLAGS="-O1 -fprofile-instr-generate -fcoverage-mapping" -DTEMPO9_WARNINGS_AS_ERRORS=OFF \
  -DTEMPO9_SANITIZE=address,undefined >/dev/null
if [ $# -gt 0 ]; then
  measure "$1" "${2:-10000}" "${3:-${patterns[$1]}}"
else
  for target in "${!patterns[@]}"; do measure "$target" 10000 "${patterns[$target]}"; done
fi
