#include "trace/import/timeline/launch_queue.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace chakra::pytorch {
namespace {

// At least this many long launches, and three of four of all long launches, must show the same depth, within
// kNear.
constexpr uint64_t kLeastAgreeing = 4;
// Short operations that end before the call continues can make the depth seem smaller, by at most this. The
// queue's depth is therefore the largest common one.
constexpr int64_t kNear = 8;

// A call and the operation that it launched; the one that ends last if there are several.
struct Launch {
  uint32_t call = 0, op = 0;
};

class QueueFinder {
 public:
  QueueFinder(const DeviceTrace& device, const HostThreads& host, const DeviceOrder& order)
      : d_(device), host_(host), order_(order) {}

  std::vector<QueueWait> Run() {
    std::vector<QueueWait> waits;
    if (LongLaunches() < kLeastAgreeing) return waits;
    for (const auto& [number, launches] : ByDevice()) {
      const auto depth = static_cast<size_t>(DepthOf(launches));
      for (size_t i = depth; depth > 0 && i < launches.size(); ++i) {
        const Launch& l = launches[i];
        const uint32_t before = launches[i - depth].op;
        if (order_.ops[before].end <= host_.End(l.call)) waits.push_back({l.call, before});
      }
    }
    return waits;
  }

 private:
  // Number of operations whose launch took long: at least the number of such launches.
  uint64_t LongLaunches() const {
    return static_cast<uint64_t>(std::count_if(order_.ops.begin(), order_.ops.end(), [&](const DeviceOp& op) {
      return op.launch != kNoRow && host_.End(op.launch) - host_.Begin(op.launch) >= kLongLaunchNs;
    }));
  }
  int64_t EndOf(const Launch& l) const { return order_.ops[l.op].end; }

  // The launches of each device, in order. A call that waits for its own operation is left out.
  std::map<int, std::vector<Launch>> ByDevice() const {
    absl::flat_hash_set<uint32_t> waiting;
    for (const HostSync& sync : order_.syncs) waiting.insert(sync.call);
    absl::flat_hash_map<uint32_t, uint32_t> last;  // operation by call
    for (uint32_t i = 0; i < order_.ops.size(); ++i) {
      const uint32_t call = order_.ops[i].launch;
      if (call == kNoRow || waiting.contains(call)) continue;
      uint32_t& op = last.try_emplace(call, i).first->second;
      if (order_.ops[i].end > order_.ops[op].end) op = i;
    }
    std::map<int, std::vector<Launch>> out;
    for (const auto& [call, op] : last)
      out[d_.streams[d_.events[order_.ops[op].event].lane].device].push_back({call, op});
    for (auto& [device, launches] : out) {
      std::sort(launches.begin(), launches.end(), [this](const Launch& a, const Launch& b) {
        return host_.Begin(a.call) != host_.Begin(b.call) ? host_.Begin(a.call) < host_.Begin(b.call)
                                                          : a.call < b.call;
      });
    }
    return out;
  }

  // The number of launches that the device accepts ahead of execution; 0: the capture does not show it.
  int64_t DepthOf(const std::vector<Launch>& launches) const {
    std::vector<uint32_t> by_end(launches.size());
    for (uint32_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
    std::sort(by_end.begin(), by_end.end(), [&](uint32_t a, uint32_t b) {
      return EndOf(launches[a]) != EndOf(launches[b]) ? EndOf(launches[a]) < EndOf(launches[b]) : a < b;
    });
    uint64_t all = 0;
    std::map<int64_t, uint64_t> votes;  // number of long launches, by depth
    for (uint32_t i = 0; i < launches.size(); ++i) {
      const int64_t begin = host_.Begin(launches[i].call), end = host_.End(launches[i].call);
      if (end - begin < kLongLaunchNs) continue;
      ++all;
      auto it = std::partition_point(by_end.begin(), by_end.end(),
                                     [&](uint32_t l) { return EndOf(launches[l]) <= end; });
      if (it == by_end.begin()) continue;
      const uint32_t ended = *--it;
      const int64_t at = EndOf(launches[ended]);
      if (at > begin && at >= end - kQueueReactNs && i >= ended + kLeastDepth) ++votes[i - ended];
    }
    return Agreed(votes, all);
  }

  // The depth that three of four of `all` long launches show; 0: none.
  static int64_t Agreed(const std::map<int64_t, uint64_t>& votes, uint64_t all) {
    const auto most = std::max_element(votes.begin(), votes.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == votes.end()) return 0;
    const auto first = votes.lower_bound(most->first - kNear), last = votes.upper_bound(most->first + kNear);
    uint64_t agreeing = 0;
    for (auto it = first; it != last; ++it) agreeing += it->second;
    if (agreeing < kLeastAgreeing || agreeing * 4 < all * 3) return 0;
    int64_t depth = most->first;
    for (auto it = first; it != last; ++it) {
      if (it->second * 8 >= agreeing) depth = it->first;
    }
    return depth;
  }

  const DeviceTrace& d_;
  const HostThreads& host_;
  const DeviceOrder& order_;
};

}  // namespace

std::vector<QueueWait> FindQueueWaits(const DeviceTrace& device, const HostThreads& host,
                                      const DeviceOrder& order) {
  return QueueFinder(device, host, order).Run();
}

}  // namespace chakra::pytorch
