#!/usr/bin/env bash
# Layout and mistakes that a tool can see.
#   scripts/lint.sh format      layout only; quick, part of `make test`
#   scripts/lint.sh [all]       layout, clang-tidy on what differs from the main branch (CI or ALL=1: on everything), shell
# clang-format comes pinned from tests/requirements.txt, because releases disagree about layout.
set -euo pipefail
cd "$(dirname "$0")/.."

sources() { git ls-files --cached --others --exclude-standard -- "$@"; }

scripts/python_env.sh build/venv tests/requirements.txt
sources '*.h' '*.cpp' | xargs -r build/venv/bin/clang-format --dry-run -Werror
echo "lint: layout is right"
[ "${1:-all}" = format ] && exit 0

if ! command -v clang-tidy >/dev/null; then
  echo "lint: clang-tidy is missing; scripts/setup.sh lint installs it" >&2
  exit 1
fi
changed() {  # sources under test that differ from where this branch left main
  if [ -n "${CI:-}${ALL:-}" ] || ! base=$(git merge-base main HEAD 2>/dev/null); then
    sources '*.cpp'
  else
    { git diff --name-only --diff-filter=d "$base" -- '*.cpp'; sources '*.cpp' | grep -vxFf <(git ls-files); } | sort -u
  fi
}
# Each file by itself, so one that leans on its neighbour's includes is found; only what is compiled here, since a file
# for another instruction set or device has no command line.
compiled() { grep -Fxf <(python3 -c '
import json, os
for entry in json.load(open("build/lint/compile_commands.json")):
    print(os.path.relpath(os.path.join(entry["directory"], entry["file"])))') || true; }
changed | compiled | xargs -r -n 1 -P "$(nproc)" clang-tidy -p build/lint --quiet --warnings-as-errors='*'
echo "lint: clang-tidy finds nothing"

if command -v shellcheck >/dev/null; then
  sources '*.sh' .ci/run | xargs -r shellcheck -x
  echo "lint: shellcheck finds nothing"
fi
