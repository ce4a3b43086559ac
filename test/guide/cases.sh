#!/bin/sh
# cases.sh: cells of the table "How right it is" of README.md that no page of test/validation has as a number: sums of
# cases, and medians. Each line is a part of the table.
set -eu
cd "$(dirname "$0")/../validation"
rows() { awk -F'|' "$1" "$2"; }
rows '/^\| vTrain/ && NF == 7 { n += $3 } END { printf "vTrain, A100 | %d |\n", n }' steps.md
rows '/^\| llm-foundry/ && NF == 7 { n += $3 } END { printf "A100 and H100 | %d |\n", n }' steps.md
rows '/^\| (SimuMax|vTrain)/ && NF == 10 { n += $3 } END { printf "measured splits | %d |\n", n }' choices.md
rows 'NF == 12 && /^\| [a-z]/ && $2 != " pair " { ++n } END { printf "jobs before and after | %d |\n", n }' what_if.md
rows '/\| AC \|/ { e = $7; gsub(/[^0-9.]/, "", e); print e }' energy.md | sort -n |
  awk '{ e[NR] = $1 } END { print "MLPerf meters | " NR " | " e[(NR + 1) / 2] " % | " e[NR] " %" }'
thousands() { sed -E 's/([0-9])([0-9]{3}) \|$/\1,\2 |/'; }
rows '/^## /{ part = $0 } part ~ /held out: law and/ && $3 == " all " { n += $6 } END { print "a fifth held out | " n " |" }' \
  kernel_laws.md | thousands
rows '/^## /{ part = $0 } part ~ /its own data sheet/ && $3 == " all " { n += $6 } END { print "data sheets | " n " |" }' \
  kernel_laws.md | thousands
rows 'NF == 6 && $5 ~ /%/ && $3 ~ /[0-9]/ { e = $5; gsub(/[^0-9.]/, "", e); print e }' ../../bench/README.md | sort -n |
  awk '{ e[NR] = $1 } END { print "uet-htsim | " NR " | " e[(NR + 1) / 2] " % | " e[NR] " %" }'
