#include "trace/import/pytorch/host_only.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace chakra::pytorch {

HostOnly AsDeviceTrace(const HostTrace& host) {
  HostOnly out;
  DeviceTrace& d = out.device;
  d.file = host.file;
  d.rank = host.rank;
  out.pairing.method = "host_only";
  out.pairing.event_of_node.assign(host.nodes.size(), kNoRow);
  absl::flat_hash_map<uint32_t, uint32_t> lanes;
  for (uint32_t row = 0; row < host.nodes.size(); ++row) {
    const HostNode& node = host.nodes[row];
    if (node.rf_id == 0) continue;  // nodes for the process, threads and groups are not operators
    const auto [lane, fresh] = lanes.try_emplace(node.tid, static_cast<uint32_t>(d.threads.size()));
    if (fresh) d.threads.push_back({0, absl::StrCat(node.tid), ""});
    Event e;
    e.kind = node.scope == 7 ? EventKind::kAnnotation : EventKind::kCpuOp;
    e.name = d.strings.Intern(host.name_of(node));
    e.lane = lane->second;
    out.pairing.event_of_node[row] = static_cast<uint32_t>(d.events.size());
    out.pairing.node_of_event.push_back(row);
    d.events.push_back(e);
  }
  out.pairing.matched = d.events.size();
  return out;
}

}  // namespace chakra::pytorch
