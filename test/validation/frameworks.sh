#!/bin/bash
# Prints the tables of frameworks.md: `frameworks.sh < frameworks.csv`, whose last two columns published.sh fills. First the sources, then
# all rows; errors are those of the time. `frameworks.sh --check BINARY`: the page has these tables, and each eighth row is what the binary
# predicts.
set -euo pipefail
if [ "${1:-}" = --check ]; then
  cd "$(dirname "$0")"
  missing=$("./$(basename "$0")" < frameworks.csv | grep . | grep -vxFf frameworks.md || true)
  [ -z "$missing" ] || { echo "frameworks.md lacks these lines of frameworks.csv: $missing" >&2; exit 1; }
  sample=$(awk 'NR == 1 || NR % 8 == 2' frameworks.csv)
  diff <(echo "$sample") <(./published.sh "$2" <<<"$sample") || { echo "frameworks.csv differs from what $2 predicts" >&2; exit 1; }
  exit
fi
LC_ALL=C awk -F';' '
  function size(x) { return x < 0 ? -x : x }
  function median(list, n,    i, j, t, e) {
    split(list, e, " ")
    for (i = 2; i <= n; ++i) for (j = i; j > 1 && e[j] < e[j - 1]; --j) { t = e[j]; e[j] = e[j - 1]; e[j - 1] = t }
    return n % 2 ? e[(n + 1) / 2] : (e[n / 2] + e[n / 2 + 1]) / 2
  }
  function commas(n) { return n < 1000 ? sprintf("%d", n) : sprintf("%d,%03d", n / 1000, n % 1000) }
  NR == 1 { next }
  {
    if (!($1 in number)) order[++sources] = $1
    error = $10 + 0
    for (of = 0; of < 2; ++of) {
      key = of ? "all" : $1
      ++number[key]; sizes[key] += size(error); sum[key] += error; list[key] = list[key] " " size(error)
    }
    rows[NR] = sprintf("| %s | %s | %s | %s | %s | %s | %+.1f %% |", $1, $2, $3, $4, commas($8), commas($9), error)
  }
  END {
    print "| rows | number | mean of errors'"'"' sizes | median | mean error |\n|---|---|---|---|---|"
    order[0] = "all"
    for (i = 0; i <= sources; ++i) {
      k = order[i]
      printf "| %s | %d | %.1f %% | %.1f %% | %+.1f %% |\n", k, number[k], sizes[k] / number[k], median(list[k], number[k]), sum[k] / number[k]
    }
    print "\n| source | model | cluster | GPUs | measured | predicted | time |\n|---|---|---|---|---|---|---|"
    for (i = 2; i <= NR; ++i) print rows[i]
  }'
