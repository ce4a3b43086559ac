#include "trace/import/pytorch/host_messages.h"

#include <vector>

namespace chakra::pytorch {

void CarrySendsByTheirCalls(CaptureRank* rank) {
  Timeline& t = rank->timeline;
  const DeviceTrace& d = *rank->device;
  std::vector<uint32_t> sends;
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    const TimelineNode& node = t.nodes[i];
    if (node.host && node.comm != kNoRow && t.comms[node.comm].op == CommOp::kSend) sends.push_back(i);
  }
  if (sends.empty()) return;
  std::vector<uint32_t> first(d.events.size(), kNoRow);
  for (uint32_t i = static_cast<uint32_t>(t.nodes.size()); i-- > 0;) {
    if (t.nodes[i].event != kNoRow && t.nodes[i].part == 0) first[t.nodes[i].event] = i;
  }
  for (const uint32_t i : sends) {
    const uint32_t caller = t.caller[t.nodes[i].event];
    if (caller == kNoRow || first[caller] == kNoRow) continue;
    TimelineNode& call = t.nodes[first[caller]];
    if (call.comm != kNoRow || ParseCommOp(d.name_of(d.events[caller])) != CommOp::kSend) continue;
    call.comm = t.nodes[i].comm;
    t.nodes[i].comm = kNoRow;
  }
}

}  // namespace chakra::pytorch
