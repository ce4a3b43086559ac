#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/topology/topology.h"
#include "replay/cli/topology/topology_input.h"
#include "replay/run/cluster_model.h"
#include "trace/base/status_macros.h"

namespace chakra::cli {

absl::StatusOr<Topology> BuildClusterTopology(const proto::Cluster& cluster, int devices,
                                              std::vector<std::string>* notes) {
  int64_t all = 1;
  for (const proto::Dimension& d : cluster.topology().dimension()) {
    all = std::min<int64_t>(all * std::max(1, d.size()), Topology::kMaxDevices);
  }
  ASSIGN_OR_RETURN(ClusterModel model, BuildCluster(cluster, devices > 0 ? devices : static_cast<int>(all)));
  notes->insert(notes->end(), model.notes.begin(), model.notes.end());
  for (int i = 0; i < cluster.topology().dimension_size() && devices == 0; ++i) {
    if (cluster.topology().dimension(i).size() != 0) continue;
    notes->push_back(absl::StrCat("topology.dimension[", i, "] gets its size from the ranks, here ",
                                  model.topology.devices(), "; --devices N sets another number"));
  }
  return std::move(model.topology);
}

}  // namespace chakra::cli
