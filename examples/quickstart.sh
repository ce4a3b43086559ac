#!/bin/sh
# Builds the binary in build/ and replays the bundled training step. Fast when it is run again.
set -eu
CDPATH='' cd "$(dirname "$0")/.."
. examples/packages.sh
# shellcheck disable=SC2086
need_packages $build_packages

if [ ! -f build/CMakeCache.txt ]; then
  generator=""
  command -v ninja >/dev/null && generator="-G Ninja"
  # shellcheck disable=SC2086
  cmake -S . -B build $generator -DCMAKE_BUILD_TYPE=Release -DCHAKRA_TESTS=OFF >&2
fi
cmake --build build --target chakra-replay --parallel "$(build_jobs)" >&2

echo "\$ build/chakra-replay replay examples/transformer_step"
build/chakra-replay replay examples/transformer_step
