// The events of one part of a simulation, and the events that the part posts to other parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/packet/events/events.h"

namespace chakra::packet {

// Events for other parts, posted in one window.
struct Mailbox {
  std::vector<std::vector<PacketEvent>> to;  // by receiving part
  uint64_t parts = 0;                        // parts that receive events, one bit each
  int64_t first = std::numeric_limits<int64_t>::max();
};

// The clock of a part, its event queue, and its events for other parts. `Events` is a queue of events.h.
//
// Parts run in parallel for a window of time. In a window, no part reads what another part posts: events
// posted in one window are taken in the next. So there are two sets of posted events, which alternate.
template <typename Events>
class EventLoop {
 public:
  // For part `part`; `others`: number of parts besides part 0.
  EventLoop(uint32_t part, uint32_t others) : part_(part) {
    for (Mailbox& mailbox : mailbox_) mailbox.to.resize(others + 1);
  }

  uint32_t part() const { return part_; }
  // The time of the event that is being handled; ps.
  int64_t now() const { return now_; }
  void set_now(int64_t now) { now_ = now; }
  Events& events() { return events_; }
  const Events& events() const { return events_; }

  // Posts an event to this part.
  void Post(int64_t at, PacketEvent::Kind kind, uint32_t index, uint32_t argument = 0) {
    events_.Push({at, PacketEvent::Id(kind, index), argument});
  }
  // Posts an event to any part. In another part, it must be after the end of this window.
  void PostTo(uint32_t part, int64_t at, PacketEvent::Kind kind, uint32_t index, uint32_t argument) {
    if (part == part_) return Post(at, kind, index, argument);
    Mailbox& mailbox = mailbox_[window_ & 1];
    mailbox.to[part].push_back({at, PacketEvent::Id(kind, index), argument});
    mailbox.parts |= uint64_t{1} << part;
    mailbox.first = std::min(mailbox.first, at);
  }

  // Begins a window; all its events are at or after `begin`. The set of posted events that it reuses must
  // have been taken.
  void BeginWindow(uint64_t window, int64_t begin) {
    window_ = window;
    events_.Begin(begin);
    for (std::vector<PacketEvent>& taken : mailbox().to) taken.clear();
  }
  uint64_t window() const { return window_; }
  // Events posted to other parts since the window began.
  Mailbox& mailbox() { return mailbox_[window_ & 1]; }
  const Mailbox& mailbox() const { return mailbox_[window_ & 1]; }
  // Events posted to `part` in the window before `window`. This part may not have begun `window` yet.
  const std::vector<PacketEvent>& MessagesBefore(uint64_t window, uint32_t part) const {
    return mailbox_[(window & 1) ^ 1].to[part];
  }

  uint64_t MemoryBytes() const {
    uint64_t bytes = events_.MemoryBytes();
    for (const Mailbox& mailbox : mailbox_) {
      for (const auto& to : mailbox.to) bytes += to.capacity() * sizeof(PacketEvent);
    }
    return bytes;
  }

 private:
  uint32_t part_;
  Events events_;
  int64_t now_ = 0;
  uint64_t window_ = 0;
  Mailbox mailbox_[2];  // of this window and the previous one
};

}  // namespace chakra::packet
