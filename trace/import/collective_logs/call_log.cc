#include "trace/import/collective_logs/call_log.h"

#include <utility>

namespace chakra::collective_logs {
namespace {

struct NcclName {
  absl::string_view name;
  NcclCall call;
};
constexpr uint8_t Op(CollectiveType t) { return static_cast<uint8_t>(t); }
constexpr NcclName kNcclNames[] = {{"AllReduce", {Op(CollectiveType::kAllReduce), false}},
                                   {"AllGather", {Op(CollectiveType::kAllGather), false}},
                                   {"AllGatherV", {Op(CollectiveType::kAllGather), false}},
                                   {"ReduceScatter", {Op(CollectiveType::kReduceScatter), true}},
                                   {"Broadcast", {Op(CollectiveType::kBroadcast), false}},
                                   {"Reduce", {Op(CollectiveType::kReduce), false}},
                                   {"AlltoAll", {Op(CollectiveType::kAllToAll), true}},
                                   {"AllToAll", {Op(CollectiveType::kAllToAll), true}},
                                   {"All2All", {Op(CollectiveType::kAllToAll), true}},
                                   {"Gather", {Op(CollectiveType::kGather), false}},
                                   {"Scatter", {Op(CollectiveType::kScatter), true}},
                                   {"Send", {kLogSend, false}},
                                   {"Recv", {kLogRecv, false}},
                                   {"SendRecv", {kLogUnknown, false}}};

}  // namespace

absl::string_view NameOfOp(uint8_t op) {
  if (IsCollective(op)) return Name(static_cast<CollectiveType>(op));
  return op == kLogSend ? "send" : op == kLogRecv ? "receive" : "unknown";
}

bool FindNcclCall(absl::string_view name, NcclCall* out) {
  for (const NcclName& n : kNcclNames) {
    if (n.name != name) continue;
    *out = n.call;
    return true;
  }
  return false;
}

}  // namespace chakra::collective_logs
