#!/usr/bin/env bash
# Leaves an English text of about 30,000 tokens in build/bench/text.txt: the beginning of Ambrose Bierce's "The Devil's
# Dictionary" (1911, in the public domain), out of the distribution's package dict-devil, which is downloaded and unpacked
# but not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/fetch.sh
. scripts/fetch.sh

text=build/bench/text.txt
text_sum=3ddfe3e041a5f98d76975cebb5d6e32342ef6ede127ded3ef2500b748e4cc053
check_sum "$text" "$text_sum" && exit 0

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
echo "fetch: downloading dict-devil"
(cd "$folder" && apt-get -qq download dict-devil 2>/dev/null) || {
  echo "fetch: no package dict-devil; run 'apt-get update', or give the bench a text of your own with --text" >&2
  exit 1
}
dpkg-deb -x "$folder"/dict-devil_*.deb "$folder"
mkdir -p build/bench
# The dictionary's own text begins after the editor's preface.
gzip -dc <"$folder/usr/share/dictd/devil.dict.dz" | sed '1,/A\.B\.$/d' | head -c 120000 >"$text" || true
if ! check_sum "$text" "$text_sum"; then
  echo "fetch: the text is not the one known here (sha256 differs); figures would not be comparable" >&2
  exit 1
fi
