#!/bin/bash
# Compares calls between nodes on three fabrics with measurements: `between_nodes_fabrics.sh BINARY <
# between_nodes_fabrics.csv > between_nodes_fabrics.csv.new` fills the last five columns, in us: each call on
# one switch, with analytical and fluid; and on the network of its row, with analytical, fluid and packet,
# where messages are spread over four hashes.
set -euo pipefail
binary=${1:?the binary of chakra-replay}
IFS= read -r header
echo "$header"
price() {
  "$binary" collective "$collective" --ranks "$ranks" --bytes "$bytes" --cluster "$cluster" --format csv "$@" 2>/dev/null |
    awk -F, 'NR == 2 { printf "%.1f", $7 }'
}
while IFS=';' read -r machine collective ranks bytes measured cluster network _; do
  row="$machine;$collective;$ranks;$bytes;$measured;$cluster;$network"
  row+=";$(price --fabric analytical);$(price --fabric fluid)"
  on=(--network "$network" --routing ecmp:queue_pairs=4)
  row+=";$(price "${on[@]}" --fabric analytical);$(price "${on[@]}" --fabric fluid)"
  row+=";$(price "${on[@]}" --fabric packet --packet spread=packet,flow_control=pfc,buffer=64MB)"
  echo "$row"
done
