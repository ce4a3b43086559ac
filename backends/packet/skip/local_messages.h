// Messages that need no network, for a simulation that skips times.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "backends/packet/ends/messages.h"

namespace chakra::packet {

// Messages ordered by the time at which they are reported, then by order.
class LocalMessages {
 public:
  void Add(uint64_t tag, uint64_t order, Time at) { due_.push({at.picos(), order, tag}); }
  // The time of the first message; ps; the maximum value if there is none.
  int64_t at() const { return due_.empty() ? std::numeric_limits<int64_t>::max() : due_.top().at; }
  uint64_t size() const { return due_.size(); }
  // Reports all messages of the first instant.
  void Tell(std::vector<Told>* told) {
    for (const int64_t at = this->at(); !due_.empty() && due_.top().at == at; due_.pop()) {
      told->push_back({at, due_.top().order, due_.top().tag, FlowEnd::kReceived});
    }
  }

 private:
  struct Message {
    int64_t at;
    uint64_t order, tag;
    bool operator>(const Message& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  std::priority_queue<Message, std::vector<Message>, std::greater<>> due_;
};

}  // namespace chakra::packet
