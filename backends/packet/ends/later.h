// Flows that wait for their turn at a NIC and are made only then.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backends/fabric.h"
#include "backends/packet/network/packet.h"
#include "backends/packet/ways/connection.h"

namespace chakra::packet {

// The owner of a simulation, who can make flows.
class FlowMaker {
 public:
  virtual ~FlowMaker() = default;
  // Makes flow `i` of a list, which is flow number `order` of all. Returns its message, on a new connection,
  // not yet sent.
  virtual uint32_t Make(const FlowList& flows, uint64_t order, uint32_t i) = 0;
  // Called when such a connection has ended.
  virtual void Ended(const Connection& connection) = 0;
};

// The flows of a list that leave over one port, in order. They need 8 bytes for each run of flows that are
// consecutive in the list.
class LaterFlows {
 public:
  // Opens an empty sequence. The first flow of the list has number `first` among all flows.
  uint32_t Open(std::shared_ptr<const FlowList> flows, uint64_t first) {
    uint32_t i;
    if (free_.empty()) {
      i = static_cast<uint32_t>(waiting_.size());
      waiting_.emplace_back();
    } else {
      i = free_.back();
      free_.pop_back();
    }
    waiting_[i].flows = std::move(flows);
    waiting_[i].first = first;
    return i;
  }
  void Add(uint32_t i, uint32_t flow) {
    std::vector<Run>& runs = waiting_[i].runs;
    if (!runs.empty() && runs.back().end == flow) {
      ++runs.back().end;
    } else {
      runs.push_back({flow, flow + 1});
    }
  }
  // Makes the next flow. Returns its message, and whether it was the last; then number `i` may be used again.
  std::pair<uint32_t, bool> Make(uint32_t i, FlowMaker* maker) {
    Waiting& w = waiting_[i];
    Run& run = w.runs[w.run];
    const uint32_t flow = run.begin++;
    const uint32_t message = maker->Make(*w.flows, w.first + flow, flow);
    w.run += run.begin == run.end ? 1 : 0;
    if (w.run < w.runs.size()) return {message, false};
    w = Waiting();
    free_.push_back(i);
    return {message, true};
  }
  uint64_t MemoryBytes() const {
    uint64_t bytes = waiting_.capacity() * sizeof(Waiting);
    for (const Waiting& w : waiting_) bytes += w.runs.capacity() * sizeof(Run);
    return bytes;
  }

 private:
  struct Run {
    uint32_t begin, end;  // flows of the list
  };
  struct Waiting {
    std::shared_ptr<const FlowList> flows;
    uint64_t first = 0;
    std::vector<Run> runs;
    size_t run = 0;
  };
  std::vector<Waiting> waiting_;
  std::vector<uint32_t> free_;
};

}  // namespace chakra::packet
