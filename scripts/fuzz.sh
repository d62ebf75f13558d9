#!/usr/bin/env bash
# scripts/fuzz.sh SECONDS: runs every fuzz target for that long under address and undefined-behaviour sanitizers.
# With clang++ they are libFuzzer programs that learn; without it, the driver in fuzz/ mutates the seed corpus blindly.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=$1
if command -v clang++ >/dev/null; then preset=fuzz; else preset=asan; fi
cmake --preset "$preset" >/dev/null
for folder in fuzz/corpus/*/; do
  name=$(basename "$folder")
  cmake --build --preset "$preset" --target "fuzz_$name"
  echo "fuzz: $name for $seconds s"
  # In the build folder, because that is where a failing input is left.
  (
    cd "build/$preset"
    if [ "$preset" = fuzz ]; then
      mkdir -p "corpus/$name" # what libFuzzer discovers; the seeds stay as they are
      dictionary=()
      [ -f "../../fuzz/dictionaries/$name.dict" ] && dictionary=("-dict=../../fuzz/dictionaries/$name.dict")
      "fuzz/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=2048 "${dictionary[@]}" "corpus/$name" "../../$folder"
    else
      end=$((SECONDS + seconds))
      while [ $SECONDS -lt $end ]; do "fuzz/fuzz_$name" --runs 10000 --seed "$RANDOM$RANDOM" "../../$folder"; done
    fi
  )
done
