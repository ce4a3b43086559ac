#!/bin/sh
# cases.sh: prints the table "How right it is" of README.md, from the pages to which its rows link. Each line
# is a part of a row: the reference, the number of cases, the median, the worst.
set -eu
cd "$(dirname "$0")/../validation"

# of PAGE PATTERN PROGRAM: runs an awk program on the parts of a page whose headings match PATTERN. Fields are
# cells; size(cell) is its number without sign and unit.
of() {
  awk -F'|' -v wanted="$2" 'function size(cell) { gsub(/[^0-9.]/, "", cell); return cell + 0 }
    function spread(x) { if (!seen++) least = most = x; if (x < least) least = x; if (x > most) most = x }
    function more(x) { if (x > worst) worst = x }
    function commas(n) { return n < 1000 ? n "" : sprintf("%d,%03d", n / 1000, n % 1000) }
    /^#/ { part = $0 } part ~ wanted { line() }
    function median(    i, j, t) { for (i = 2; i <= k; ++i) for (j = i; j > 1 && e[j] < e[j - 1]; --j) {
        t = e[j]; e[j] = e[j - 1]; e[j - 1] = t } return e[int((k + 1) / 2)] }
    '"$3" "$1"
}

of collectives.md 'One node' 'function line() { if (/^\| all \| all/) { n += $5; spread(size($6)) } else if (NF > 9) more(size($6)) }
  END { printf "nccl-tests | %s | %.1f to %.1f %% | %.1f %% |\n", commas(n), least, most, worst }'
of collectives.md 'Public figures' 'function line() { if (/^\| all/) { n = $4 + 0; m = size($5) } else if (/^\| [a-z].*GPUs/) more(size($5)) }
  END { printf "GB200 rack | %d | %.1f %% | %.1f %% |\n", n, m, worst }'
of collectives.md 'Collectives of captures' 'function line() { if (/^\| all/) { n = $6 + 0; m = size($7) }
    if ($8 ~ /root|follows|repeats/) more(size($(NF - 1))) }
  END { printf "six captures | %d | %.1f %% | %.1f %% |\n", n, m, worst }'
cells='function cells(from,    i, of) { for (i = from; i < NF; ++i) if (split($i, of, /, | \(/) > 2) value(of[2] + 0) }'
of between_nodes.md '^# Collectives|By fabric' "$cells"' function value(x) { if ($3 == " all ") spread(x); more(x) }
  function line() { if (/ machines /) { split($0, w, " "); n = w[1]; m = w[8] } if (/^\| [A-Za-z]/) cells(4) }
  END { printf "%d machines | %d | %d to %d %% | %d %% |\n", m, n, least, most, worst }'
of between_nodes_mpi.md '^# Collectives|By machine' "$cells"' function value(x) { if ($3 == " all ") spread(x); more(x) }
  function line() { if (/ machines /) { split($0, w, " "); n = w[1]; m = w[10] } if (/^\| [A-Za-z]/) cells(4) }
  END { printf "%d machines | %d | %d to %d %% | %d %% |\n", m, n, least, most, worst }'
awk -F'|' '/^\| [a-z]/ && $2 != " pair " { ++n } /^Errors without sign/ { split($0, w, /[, ]+/); m = w[5]; worst = w[8] }
  END { printf "before and after | %d | %.1f %% | %.1f %% |\n", n, m, worst }' what_if.md
for rows in 'vTrain:vTrain, A100' 'llm-foundry:A100 and H100'; do
  of steps.md 'By' 'function line() { if ($2 !~ /'"${rows%%:*}"'/) return
      if (part ~ /source/) { n += $3; spread(size($5)) } else more(size($(NF - 1))) }
    END { printf "'"${rows#*:}"' | %d | %.1f to %.1f %% | %.1f %% |\n", n, least, most, worst }'
done
for part in '# Published|^#' 'Rows that were read'; do
  of published.md "$part" 'function line() { if (part ~ /Two cards/ || (wanted ~ /Pub/ && part ~ /were read/)) return
      if (/^\| all \|/) { n = $3 + 0; m = size($5) } else if ($4 ~ /-/ && NF == 9) more(size($8)) }
    END { printf "NVIDIA tables | %d | %.1f %% | %.1f %% |\n", n, m, worst }'
done
of mlperf.md . 'function line() { if (/^\| all \|/) { n = $3 + 0; m = size($5) } else if (NF == 8 && $7 ~ /%/) more(size($7)) }
  END { printf "MLPerf logs | %d | %.1f %% | %.1f %% |\n", n, m, worst }'
awk -F'|' '/^\| (SimuMax|vTrain)/ && NF == 10 { n += $3; l = $7 + 0; if (!k++ || l < least) least = l; if (l > most) most = l
    if ($8 + 0 > worst) worst = $8 + 0 }
  END { printf "measured splits | %d | %.1f to %.1f %% | %.1f %% |\n", n, least, most, worst }' choices.md
of energy.md 'Metered' 'function line() { if ($3 == " AC ") { e[++k] = size($7); more(e[k]) } }
  END { printf "MLPerf meters | %d | %.1f %% | %.1f %% |\n", k, median(), worst }'
laws='function line() { if ($3 == " all ") { n += $6; spread(size($7)) } else if (NF == 10) more(size($7)) }'
of kernel_laws.md 'held out: law and' "$laws"' END { printf "a fifth held out | %s | %.1f to %.1f %% |\n", commas(n), least, most }'
of kernel_laws.md 'own data sheet' "$laws"' END { printf "data sheets | %s | %.1f to %.1f %% | %.1f %% |\n", commas(n), least, most, worst }'
of kernels.md 'Prediction' 'function line() { if (/NeuSight.*all/) printf "ten devices | %d | %.1f %% | %.1f %% |\n", $4, size($5), size($7)
  if (/both.*all/) printf "H100 and MI300X | %d | %.1f %% | %.1f %% |\n", $4, size($5), size($7) }'
of kernels.md 'Transfer' 'function line() { if (/NeuSight, operations and bytes.*all/) printf "other devices | %d | %.1f %% | %.1f %% |\n", $5, size($6), size($7) }'
of ../../bench/README.md 'Curves' 'function line() { if (NF == 6 && $3 ~ /[0-9]/) { e[++k] = size($5); more(e[k]) } }
  END { printf "uet-htsim | %d | %.1f %% | %.1f %% |\n", k, median(), worst }'
of ../README.md 'ASTRA-sim' 'function line() { if (/^\| [UA], /) { k = split($5, w, ";"); for (i = 1; i <= k; ++i) n += w[i]; more(size($7)) } }
  END { printf "its own times | %d | | %.1f %% |\n", n, worst }'
