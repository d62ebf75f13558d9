#!/usr/bin/env bash
# Makes or refreshes a Python environment of our own; does and prints nothing when it is already right.
#   scripts/python_env.sh build/venv                                    one that has at least pip
#   scripts/python_env.sh build/venv tests/requirements.txt [more...]   with these pinned packages
# Python serves tests and tools only; no part of the product runs it.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=$1
shift
stamp=$venv/.requirements

version() { "$1" -c 'import sys; print(sys.version)' 2>/dev/null; }

if [ "$(version "$venv/bin/python" || true)" != "$(version python3)" ] || [ ! -x "$venv/bin/pip" ]; then
  echo "python: making the environment $venv"
  rm -rf "$venv"
  python3 -m venv "$venv"
fi

[ $# -eq 0 ] && exit 0
wanted=$(cat "$@")
[ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && exit 0

echo "python: installing $*"
arguments=()
for file in "$@"; do arguments+=(-r "$file"); done
"$venv/bin/pip" install --quiet --disable-pip-version-check "${arguments[@]}"
printf '%s\n' "$wanted" >"$stamp"
