#!/bin/sh
# count.sh LOG...: counts the tests that ctest reports in each LOG, which has the name of its build folder.
# Prints why tests were skipped, and names the failed entries of ctest. The last line has the counts; the exit
# status is 1 if a test failed or none passed.
set -eu
CDPATH='' cd "$(dirname "$0")/.."
for log; do
  folder=$(basename "$log")
  sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([^ ]*\) [. ]*\**\([A-Z][A-Za-z]*\).*/\1 \2/p' "$log" |
    while read -r name outcome; do
      results="$folder/test/results/$name.xml"  # exists for an entry with several tests
      total=1 failed=0 skipped=0
      if [ -f "$results" ]; then
        total=$(sed -n 's/^<testsuites tests="\([0-9]*\)".*/\1/p' "$results")
        failed=$(sed -n 's/^<testsuites .* failures="\([0-9]*\)".*/\1/p' "$results")
        skipped=$(grep -c 'result="skipped"' "$results" || true)
        sed -n 's/.*<skipped message="[^"]*&#x0A;\([^"]*\)".*/skipped: \1/p' "$results" | uniq >&2
      elif [ "$outcome" = Skipped ]; then
        skipped=1
      fi
      [ "$outcome" = Passed ] || [ "$outcome" = Skipped ] || {
        echo "failed: $folder, $name" >&2
        [ "$failed" -gt 0 ] || failed=1
      }
      echo "$total $failed $skipped"
    done
done | awk '{ failed += $2; skipped += $3; passed += $1 - $2 - $3 }
  END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 || passed == 0 }'
