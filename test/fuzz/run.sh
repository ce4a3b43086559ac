#!/bin/sh
# Runs the fuzzers: builds the targets with clang in build-fuzz/, and runs each target, or the named ones,
# from its corpus, two at a time.
#   usage: test/fuzz/run.sh SECONDS [TARGET...]
# New inputs of a run stay in build-fuzz/found/TARGET/. Inputs that fail are build-fuzz/found/TARGET-crash-*,
# -timeout-*, -oom-*; the exit status is 1 if there are any.
set -eu
seconds=${1:?usage: test/fuzz/run.sh SECONDS [TARGET...]}
shift
CDPATH='' cd "$(dirname "$0")/../.."
build=${CHAKRA_FUZZ_BUILD:-build-fuzz}
if [ ! -f "$build/CMakeCache.txt" ]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-clang++}" \
    -DCHAKRA_FUZZ=ON -DCHAKRA_SANITIZE=ON
fi
cmake --build "$build" --target fuzzers
[ $# -gt 0 ] || set -- $(basename -s .cc test/fuzz/*_fuzz.cc)
mkdir -p "$build/found"
for target; do echo "$target"; done | xargs -P 2 -I T sh -c '
  mkdir -p "$1/found/T"
  "$1/test/T" -max_total_time="$2" -rss_limit_mb=4096 -timeout=10 -max_len=16384 -entropic=0 -print_final_stats=1 \
    -artifact_prefix="$1/found/T-" "$1/found/T" test/fuzz/corpus/T >"$1/found/T.log" 2>&1 ||
    echo "T: a finding, see $1/found/T.log"
  grep -h "DONE\|number_of_executed_units" "$1/found/T.log" | sed "s/^/T: /"
' sh "$build" "$seconds"
found=$(find "$build/found" -maxdepth 1 \( -name '*-crash-*' -o -name '*-timeout-*' -o -name '*-oom-*' \))
[ -z "$found" ] || { echo "$found"; exit 1; }
