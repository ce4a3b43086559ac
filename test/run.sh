#!/bin/sh
# test/run.sh: builds all tests with Clang under its address and undefined-behaviour sanitizers, in
# build-sanitize/, and runs them.
# test/run.sh --all: also builds them with GCC, optimised, in build-all/. Runs them with the tests that need
# other programs (SimGrid, ns-3, Chromium, Open MPI, Slurm) and those of the Python module, and each benchmark
# once. .ci/run calls this.
# Warnings are errors. The last line counts the tests; the exit status is 1 if a build or a test fails.
set -eu
CDPATH='' cd "$(dirname "$0")/.."
all=false
case "$*" in
  "") ;;
  --all) all=true ;;
  *) echo "usage: test/run.sh [--all]" >&2; exit 2 ;;
esac
. examples/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages $test_packages
# shellcheck disable=SC2086
if $all; then need_packages $outside_packages $python_packages; fi
[ -d ../shared/data ] || echo "test/run.sh: ../shared/data is absent; the tests that need it are skipped" >&2

jobs=$(nproc)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# run_tests FOLDER CMAKE_OPTION...: builds and runs the tests, and leaves a line for each entry of ctest in
# the log.
run_tests() {
  folder=$1
  shift
  generator=""
  [ -f "$folder/CMakeCache.txt" ] || generator="-G Ninja"
  # shellcheck disable=SC2086
  cmake -S . -B "$folder" $generator -DCHAKRA_WERROR=ON -DCHAKRA_TESTS=ON "$@"
  cmake --build "$folder" --parallel "$(build_jobs)"
  rm -rf "$folder/test/results"
  (cd "$folder" && ctest --output-on-failure -j "$jobs") 2>&1 </dev/null | tee "$logs/$folder"
}

export ASAN_OPTIONS=allow_addr2line=1 UBSAN_OPTIONS=print_stacktrace=1:allow_addr2line=1
run_tests build-sanitize -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug -DCHAKRA_SANITIZE=ON
if $all; then
  run_tests build-all -DCMAKE_BUILD_TYPE=Release -DCHAKRA_OUTSIDE_TESTS=ON -DCHAKRA_BENCH=ON \
    -DCHAKRA_PYTHON=ON
fi
test/count.sh "$logs"/*
