#!/usr/bin/env bash
# Prints how much of some source files a fuzz target reaches with its seeds and a fixed number of mutations:
#   scripts/fuzz_coverage.sh gguf 'src/gguf/.*\.cpp' [RUNS, 10000 by default]
# The second argument is a regular expression for paths below the source folder; tests never count. Files, lines
# and percentages first, then one line with the total; a further corpus may be named in EXTRA_CORPUS.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$1
pattern=$2
runs=${3:-10000}
build=build/coverage

# The LLVM tools must be those of the compiler.
version=$(clang++ -dumpversion | cut -d. -f1)
tool() { command -v "$1-$version" || command -v "$1"; }

[ -f $build/build.ninja ] || cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_CXX_FLAGS="-O1 -fprofile-instr-generate -fcoverage-mapping" -DTEMPO9_WARNINGS_AS_ERRORS=OFF >/dev/null
cmake --build $build --target "fuzz_$target" >/dev/null
program=$build/fuzz/fuzz_$target

LLVM_PROFILE_FILE=$build/$target.profraw "$program" --runs "$runs" "fuzz/corpus/$target" ${EXTRA_CORPUS:+"$EXTRA_CORPUS"}
"$(tool llvm-profdata)" merge -sparse $build/"$target".profraw -o $build/"$target".profdata
mapfile -t sources < <(find src -name '*.cpp' -o -name '*.h' | grep -E "^($pattern)$" | grep -v '_test\.cpp$' | sort)
[ ${#sources[@]} -gt 0 ] || { echo "no source matches $pattern" >&2; exit 2; }
"$(tool llvm-cov)" export -summary-only -instr-profile $build/"$target".profdata "$program" "${sources[@]}" |
  python3 -c '
import json, os, sys
for f in (data := json.load(sys.stdin)["data"][0])["files"]:
    lines = f["summary"]["lines"]
    print("{:40} {:4} lines {:6.1f}%".format(os.path.relpath(f["filename"]), lines["count"], lines["percent"]))
total = data["totals"]["lines"]
print("lines reached: {:.1f}% of {}".format(total["percent"], total["count"]))'
