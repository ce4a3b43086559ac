#!/bin/sh
# smoke.sh PROGRAM: the first benchmark of a program runs once, without an error.
set -eu
export CHAKRA_CAPTURE_MB=1
first=$("$1" --benchmark_list_tests | head -n 1)
out=$("$1" --benchmark_filter="^$first\$" --benchmark_min_time=0.001 2>&1) || { echo "$out"; exit 1; }
echo "$out"
case "$out" in *ERROR*) exit 1 ;; *"$first"*) ;; *) exit 1 ;; esac
