#include "trace/import/timeline/polls.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace chakra::pytorch {
namespace {

class PollFinder {
 public:
  PollFinder(const DeviceTrace& device, const HostThreads& host, const std::vector<DeviceOp>& ops)
      : d_(device), host_(host), ops_(ops), op_of_launch_(device.events.size(), kNoRow) {
    for (uint32_t i = 0; i < ops.size(); ++i) {
      if (ops[i].launch != kNoRow) op_of_launch_[ops[i].launch] = i;
    }
  }

  std::vector<Poll> Run() {
    for (const HostThread& thread : host_.threads) Walk(thread);
    std::vector<Poll> polls;
    for (const Candidate& c : candidates_) {
      const Count& count = counts_[d_.events[c.poll.call].name];
      if (c.close && count.close * 4 >= count.all * 3) polls.push_back(c.poll);
    }
    return polls;
  }

 private:
  struct Candidate {
    Poll poll;
    bool close = false;
  };
  struct Count {
    uint64_t all = 0, close = 0;
  };

  // Visits the stretches of a thread in which its innermost open call ran code of its own.
  void Walk(const HostThread& thread) {
    std::vector<uint32_t> open;
    int64_t now = host_.window_begin;
    uint32_t launched = kNoRow;  // the operation that the thread launched last
    const auto close_until = [&](uint32_t parent) {
      while (!open.empty() && open.back() != parent) {
        Stretch(open, now, host_.End(open.back()), launched);
        now = host_.End(open.back());
        open.pop_back();
      }
    };
    for (const uint32_t row : thread.events) {
      close_until(host_.parent[row]);
      if (!open.empty()) Stretch(open, now, host_.Begin(row), launched);
      now = host_.Begin(row);
      open.push_back(row);
      if (const uint32_t op = op_of_launch_[row]; op != kNoRow) launched = op;
    }
    close_until(kNoRow);
  }

  void Stretch(const std::vector<uint32_t>& open, int64_t from, int64_t to, uint32_t launched) {
    if (launched == kNoRow || to - from < kMinPollNs) return;
    const DeviceOp& op = ops_[launched];
    const Event& call = d_.events[open.back()];
    if (call.kind == EventKind::kAnnotation || op.launch == open.back()) return;
    const auto outermost = std::find_if(
        open.begin(), open.end(), [&](uint32_t row) { return d_.events[row].kind == EventKind::kCpuOp; });
    if (outermost == open.end() || host_.Begin(op.launch) < host_.Begin(*outermost)) return;
    const int64_t late = to - op.end;
    const bool close = op.end > from && late >= 0 && late <= std::max(kReactNs, (to - from) / 20);
    Count& count = counts_[call.name];
    ++count.all;
    count.close += close ? 1 : 0;
    candidates_.push_back({{open.back(), launched}, close});
  }

  const DeviceTrace& d_;
  const HostThreads& host_;
  const std::vector<DeviceOp>& ops_;
  std::vector<uint32_t> op_of_launch_;           // by event row: the last operation of each call
  absl::flat_hash_map<uint32_t, Count> counts_;  // by name of the call
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<Poll> FindPolls(const DeviceTrace& device, const HostThreads& host,
                            const std::vector<DeviceOp>& ops) {
  return PollFinder(device, host, ops).Run();
}

}  // namespace chakra::pytorch
