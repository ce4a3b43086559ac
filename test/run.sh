#!/bin/sh
# Builds everything with warnings as errors and runs all tests, in build/ and
# again under address and undefined-behaviour sanitizers in build-sanitize/.
# Fails when any build or test does; ends with the summaries of ctest.
set -eu
cd "$(dirname "$0")/.."
. examples/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages $test_packages
[ -d ../shared/data ] || echo "test/run.sh: ../shared/data is absent; the tests that need it are skipped" >&2

jobs=$(nproc)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
bench=OFF
[ -f bench/CMakeLists.txt ] && bench=ON
failed=0

# run_tests FOLDER CMAKE_OPTION...
run_tests() {
  folder=$1
  shift
  generator=""
  [ -f "$folder/CMakeCache.txt" ] || generator="-G Ninja"
  # shellcheck disable=SC2086
  cmake -S . -B "$folder" $generator -DCHAKRA_WERROR=ON -DCHAKRA_TESTS=ON "$@"
  cmake --build "$folder" --parallel "$jobs"
  (cd "$folder" && ctest --output-on-failure -j "$jobs") 2>&1 </dev/null | tee "$logs/$folder"
  grep -q '^100% tests passed' "$logs/$folder" || failed=1
}

run_tests build -DCMAKE_BUILD_TYPE=Release -DCHAKRA_BENCH=$bench
UBSAN_OPTIONS=print_stacktrace=1 run_tests build-sanitize -DCMAKE_BUILD_TYPE=Debug -DCHAKRA_SANITIZE=ON \
  -DCHAKRA_BENCH=OFF

for folder in build build-sanitize; do
  echo "== $folder"
  sed -n '/tests passed,/,$p' "$logs/$folder"
done
exit $failed
