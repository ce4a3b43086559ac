#!/bin/sh
# run.sh BUILD SOURCE TRACE [CMAKE_ARGUMENT...]: installs BUILD, then builds and
# runs a program that knows nothing but the installed package.
set -eu
build=$1 source=$2 trace=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$build" --prefix "$folder/prefix" >"$folder/log" || { cat "$folder/log"; exit 1; }
cmake -S "$source" -B "$folder/build" -DCMAKE_PREFIX_PATH="$folder/prefix" "$@"
cmake --build "$folder/build"
[ "$("$folder/build/consumer" "$trace" | tee /dev/stderr)" = "8 ranks, bus factor 1.75" ]
