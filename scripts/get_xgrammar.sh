#!/usr/bin/env bash
# Leaves the sources of XGrammar, the library that grammars are compiled with, in build/sources, out of the Python package
# that ships them (Apache-2.0). No distribution has a package of it. The package is checked; CMake calls this too, so a
# build that was not started by `make` works as well.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/fetch.sh
. scripts/fetch.sh

version=0.2.9
package=xgrammar-$version.tar.gz
package_sum=87b466bca2475e29bb0323abc62c6c33cbcbcff47e5fb800a3e2099ac9620b90
sources=build/sources

[ -d "$sources/xgrammar-$version" ] && exit 0

mkdir -p "$sources"
download=$(mktemp -d "$sources/.xgrammar.XXXXXX")
trap 'rm -rf "$download"' EXIT
fetch_package "xgrammar==$version" "$package" "$package_sum" "$download" --no-binary xgrammar
tar -xzf "$download/$package" -C "$download" "xgrammar-$version"/{LICENSE,NOTICE,cpp,include} \
  "xgrammar-$version"/3rdparty/{picojson,dlpack/include}
# Moved last and in one step, so that an interrupted run never leaves half of it behind.
mv "$download/xgrammar-$version" "$sources/xgrammar-$version"
