#!/bin/sh
# run.sh BUILD SOURCE TRACE [CMAKE_ARGUMENT...]: installs BUILD, builds the program SOURCE (examples/embed),
# which uses only the installed package, and runs it on TRACE.
set -eu
build=$1 source=$2 trace=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The quick start builds one target, which makes all installed files.
if [ -f "$build/build.ninja" ]; then
  for file in chakra-replay.1 chakra-replay.bash chakra-replay.fish; do
    ninja -C "$build" -t query "share/$file" | grep -q LINKER__chakra-replay
  done
fi
cmake --install "$build" --prefix "$folder/prefix" >"$folder/log" || { cat "$folder/log"; exit 1; }
for file in man/man1/chakra-replay.1 bash-completion/completions/chakra-replay; do
  [ -s "$folder/prefix/share/$file" ]
done
cmake -S "$source" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" "$@"
cmake --build "$folder/build"
"$folder/build/embed" "$trace" dgx-a100 dgx-h100 | tee /dev/stderr >"$folder/out"
printf '%s\n' "dgx-a100           110.76 ms, 89.4 % of it device computation" \
  "dgx-h100            39.08 ms, 78.8 % of it device computation" | diff - "$folder/out"
