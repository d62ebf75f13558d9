#!/usr/bin/env bash
# Installs what the distribution must provide and this machine lacks; says each thing it does.
#   scripts/setup.sh            what building and serving need, and what the tests need
#   scripts/setup.sh lint       also what `make lint` needs
#   scripts/setup.sh clang      also what refuses kernels that Metal would refuse
#   scripts/setup.sh arm        also what `make test-arm` needs: a compiler for 64-bit Arm, and an emulator
#   scripts/setup.sh node       also what the tests of JavaScript clients need
# Only missing packages are asked for, so on a machine that has everything it neither needs the network nor root.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config python3 python3-venv
  libfmt-dev libspdlog-dev libexpected-dev nlohmann-json3-dev libcli11-dev
  libpcre2-dev libutf8proc-dev libxxhash-dev libgtest-dev
)
case "${1:-}" in
  lint) packages+=(clang-tidy shellcheck) ;;
  clang) packages+=(clang) ;;
  arm) packages+=(g++-aarch64-linux-gnu qemu-user) ;;
  node)  # from wherever they came
    command -v node >/dev/null || packages+=(nodejs)
    command -v npm >/dev/null || packages+=(npm)
    ;;
esac

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Boost must be 1.81 or newer. Debian 12 has it under a versioned name beside its older default; later releases
# have a new enough default.
boost_installed() {
  local header=/usr/include/boost/version.hpp
  [ -r "$header" ] && [ "$(awk '$1 == "#define" && $2 == "BOOST_VERSION" { print $3 }' "$header")" -ge 108100 ]
}
boost_package() {
  # A name that apt knows may still be one that it cannot install: only a candidate with a number counts.
  case "$(LC_ALL=C apt-cache policy libboost1.81-dev)" in
    *"Candidate: "[0-9]*) echo libboost1.81-dev ;;
    *) echo libboost-dev ;;
  esac
}

if ! command -v apt-get >/dev/null; then
  echo "setup: this is not a Debian-like system; these packages, or what they are called here, must be present:"
  echo "  ${packages[*]} Boost (1.81 or newer, headers only)"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do installed "$package" || missing+=("$package"); done
need_boost=false
boost_installed || need_boost=true
if [ ${#missing[@]} -eq 0 ] && ! $need_boost; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing packages, and neither root nor sudo to install them. As root, run:" >&2
    echo "  apt-get install ${missing[*]}$($need_boost && echo " $(boost_package)")" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup: refreshing the package lists"
"${as_root[@]}" apt-get -qq update
$need_boost && missing+=("$(boost_package)")
echo "setup: installing ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}" </dev/null
