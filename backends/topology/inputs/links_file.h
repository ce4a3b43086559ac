// Lists of links in the formats of the ns-3 simulators of HPCC, ASTRA-sim and SimAI.
//
//   HPCC, ASTRA-sim:  nodes switches links
//                     switch numbers
//   SimAI:            nodes gpus_per_server nvswitches switches links gpu_type
//                     NVSwitch numbers, switch numbers
//   both, each link:  node node rate delay error_rate
//
// Words are separated by blanks; there are no comments. `nodes` is the number of all nodes, numbered from 0.
// Rates have an optional k, M, G, T (decimal), Ki, Mi, Gi, Ti before bps, b/s, Bps or B/s; delays are in ps,
// ns, us, ms or s. Rates and delays are for each direction. (alibaba-edu/High-Precision-Congestion-Control
// simulation/mix, aliyun/SimAI astra-sim-alibabacloud/inputs.)
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/topology/inputs/read_network.h"

namespace chakra {

// The nodes that are not switches become the devices, in the order of their numbers; a note says if their
// numbers change. In a machine without switches whose devices cannot reach each other directly, devices
// forward messages, and a note says so. Parallel links are kept. Errors name file, line and field: a count
// that does not match the rest of the file, a number that is not a node or is listed twice, a rate or delay
// without a unit or out of range, an error rate outside [0, 1), a link from a node to itself, a host without
// a link, hosts that cannot reach each other.
absl::StatusOr<ReadNetwork> ReadLinksFile(absl::string_view text, const std::string& file);

}  // namespace chakra
