#!/usr/bin/env bash
# Builds llama.cpp, the server ours is measured against, for the machine at hand: from the source package of its Python
# binding, whose sum is checked. Leaves
#   build/peers/bin        llama-bench, llama-batched-bench, llama-perplexity, llama-server, llama-quantize, llama_logits
#   build/peers/flags.txt  how they were built; speed tables quote it
# PEER_BUILD=dir takes an existing CMake build of the same package instead of making one (about fifteen minutes on two
# cores); what it left is used from then on. Prints the flags.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/fetch.sh
. scripts/fetch.sh

package=llama_cpp_python-0.3.36
package_sum=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
programs=(llama-bench llama-batched-bench llama-perplexity llama-server llama-quantize)
here=$PWD/build/peers
build=${PEER_BUILD:-$here/build}

built() { for program in "${programs[@]}"; do [ -x "$1/bin/$program" ] || return 1; done; }
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

if [ -z "${PEER_BUILD:-}" ] && built "$here" && [ -x "$here/bin/llama_logits" ] && [ -s "$here/flags.txt" ]; then
  cat "$here/flags.txt"
  exit 0
fi

mkdir -p "$here"
if ! built "$build"; then
  if [ -n "${PEER_BUILD:-}" ]; then
    echo "peers: $PEER_BUILD lacks one of: ${programs[*]}" >&2
    exit 1
  fi
  if [ ! -d "$here/$package" ]; then
    fetch_package llama-cpp-python==0.3.36 "$package.tar.gz" "$package_sum" "$here" --no-binary llama-cpp-python
    tar -xzf "$here/$package.tar.gz" -C "$here"
  fi
  echo "peers: building llama.cpp in $build"
  cmake -G Ninja -S "$here/$package/vendor/llama.cpp" -B "$build" -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON \
    -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF \
    -DLLAMA_BUILD_WEBUI=OFF >"$here/configure.log"
  nice cmake --build "$build" --target "${programs[@]}"
fi

cmake -G Ninja -S bench/peers -B "$here/tools" -DPEER_SOURCE="$(cached CMAKE_HOME_DIRECTORY)" -DPEER_BUILD="$build" \
  >"$here/tools.log"
cmake --build "$here/tools" >>"$here/tools.log"

mkdir -p "$here/bin"
for program in "${programs[@]}"; do ln -sf "$build/bin/$program" "$here/bin/$program"; done
ln -sf "$here/tools/llama_logits" "$here/bin/llama_logits"

version=$(sed -n 's/^Version: //p' \
  "$(cached CMAKE_HOME_DIRECTORY)/../../PKG-INFO" | head -1)
{
  echo "llama.cpp of llama-cpp-python $version"
  "$(cached CMAKE_CXX_COMPILER)" --version | head -1
  for option in CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS_RELEASE CMAKE_CXX_FLAGS GGML_NATIVE GGML_OPENMP GGML_LLAMAFILE \
    GGML_CPU_REPACK GGML_BLAS GGML_LTO; do
    echo "$option=$(cached $option)"
  done
} | tee "$here/flags.txt"
