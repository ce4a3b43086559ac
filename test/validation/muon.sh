#!/bin/bash
# Prints the tables of muon.md: `muon.sh < muon.csv`, whose last two columns published.sh fills. `muon.sh --check BINARY`: the page has
# these tables, the rows are what the binary predicts, and each change of throughput is within 5 points of the measured one.
set -euo pipefail
if [ "${1:-}" = --check ]; then
  cd "$(dirname "$0")"
  diff muon.csv <(./published.sh "$2" < muon.csv) || { echo "muon.csv differs from what $2 predicts" >&2; exit 1; }
  missing=$("./$(basename "$0")" < muon.csv | grep . | grep -vxFf muon.md || true)
  [ -z "$missing" ] || { echo "muon.md lacks these lines of muon.csv: $missing" >&2; exit 1; }
  LC_ALL=C awk -F';' 'NR == 2 { measured = $8; predicted = $9 }
    NR > 2 { off = 100 * ($9 / predicted - $8 / measured); if (off < -5 || off > 5) { print "line " NR " is " off " points off"; exit 1 } }' muon.csv
  exit
fi
LC_ALL=C awk -F';' '
  function commas(n) { return n < 1000 ? sprintf("%d", n) : sprintf("%d,%03d", n / 1000, n % 1000) }
  NR == 1 { print "| GPUs | measured | change | predicted | change |\n|---|---|---|---|---|"; next }
  NR == 2 { measured = $8; predicted = $9 }
  {
    printf "| %s | %s | %+.1f %% | %s | %+.1f %% |\n", $4, commas($8), 100 * ($8 / measured - 1), commas($9), 100 * ($9 / predicted - 1)
  }'
