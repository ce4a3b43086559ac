#include "trace/import/timeline/host_messages.h"

namespace chakra::pytorch {

bool IsMessage(const DeviceTrace& device, const Event& e) {
  if (!IsHostCollective(device, e)) return false;
  const CommOp op = ParseCommOp(device.name_of(e));
  return op == CommOp::kSend || op == CommOp::kRecv;
}

int64_t BeginOfMessage(const DeviceTrace& device, const HostThreads& host, uint32_t row) {
  const Event& e = device.events[row];
  const uint32_t caller = host.parent[row];
  if (caller == kNoRow || !IsHostCollective(device, e)) return host.Begin(row);
  const bool sends = ParseCommOp(device.name_of(e)) == CommOp::kSend &&
                     ParseCommOp(device.name_of(device.events[caller])) == CommOp::kSend;
  return sends ? host.Begin(caller) : host.Begin(row);
}

}  // namespace chakra::pytorch
