#!/bin/bash
# Compares training throughputs that NVIDIA publishes with replays: `published.sh BINARY < published.csv >
# published.csv.new` fills the last two columns. Columns: source, model, cluster, GPUs, the three parts of the
# workload, tokens/s of a GPU.
set -euo pipefail
binary=${1:?the binary of chakra-replay}
IFS= read -r header
echo "$header"
while IFS=';' read -r source name cluster ranks model parallel training published _; do
  tokens=$(($(sed 's/.*global_batch=\([0-9]*\).*/\1/' <<<"$training") * $(sed 's/.*seq=\([0-9]*\).*/\1/' <<<"$training")))
  report=$("$binary" replay --model "$model" --parallel "$parallel" --training "$training" --cluster "$cluster" --format json -q)
  picoseconds=$(grep -m1 -o '"makespan_ps": *"[0-9]*"' <<<"$report" | grep -o '[0-9]*')
  awk -v row="$source;$name;$cluster;$ranks;$model;$parallel;$training;$published" -v tokens="$tokens" -v ps="$picoseconds" \
    -v ranks="$ranks" -v published="$published" \
    'BEGIN { rate = tokens / (ps * 1e-12) / ranks; printf "%s;%.0f;%+.1f\n", row, rate, 100 * (published / rate - 1) }'
done
