// What one part of a simulation does next, and what it leaves for other parts to do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/packet/events/events.h"

namespace chakra::packet {

// Events for other parts, of one window.
struct Mail {
  std::vector<std::vector<PacketEvent>> to;  // by part
  uint64_t parts = 0;                        // with mail, a bit each
  int64_t first = std::numeric_limits<int64_t>::max();
};

// The clock of a part, its events, and its mail. `Events` is a queue of events.h.
//
// Parts run side by side for a window of time. In a window no part reads what another one posts: mail of one
// window is taken in the next. So there are two bags of mail, which take turns.
template <typename Events>
class Agenda {
 public:
  // Of part `part`; `others`: parts beside part 0.
  Agenda(uint32_t part, uint32_t others) : part_(part) {
    for (Mail& mail : mail_) mail.to.resize(others + 1);
  }

  uint32_t part() const { return part_; }
  // When the event happens that is being handled; ps.
  int64_t now() const { return now_; }
  void set_now(int64_t now) { now_ = now; }
  Events& events() { return events_; }
  const Events& events() const { return events_; }

  // Has an event happen in this part.
  void Post(int64_t at, PacketEvent::Kind kind, uint32_t index, uint32_t argument = 0) {
    events_.Push({at, PacketEvent::Id(kind, index), argument});
  }
  // Has an event happen in any part; in another one after the end of this window.
  void PostTo(uint32_t part, int64_t at, PacketEvent::Kind kind, uint32_t index, uint32_t argument) {
    if (part == part_) return Post(at, kind, index, argument);
    Mail& mail = mail_[window_ & 1];
    mail.to[part].push_back({at, PacketEvent::Id(kind, index), argument});
    mail.parts |= uint64_t{1} << part;
    mail.first = std::min(mail.first, at);
  }

  // Begins a window, in which all events are at or after `begin`. The bag of mail that it uses was taken.
  void BeginWindow(uint64_t window, int64_t begin) {
    window_ = window;
    events_.Begin(begin);
    for (std::vector<PacketEvent>& taken : mail().to) taken.clear();
  }
  uint64_t window() const { return window_; }
  // What was posted for others since the window began.
  Mail& mail() { return mail_[window_ & 1]; }
  const Mail& mail() const { return mail_[window_ & 1]; }
  // What was posted for `part` in the window before `window`, which may not have begun here.
  const std::vector<PacketEvent>& MailBefore(uint64_t window, uint32_t part) const {
    return mail_[(window & 1) ^ 1].to[part];
  }

  uint64_t MemoryBytes() const {
    uint64_t bytes = events_.MemoryBytes();
    for (const Mail& mail : mail_) {
      for (const auto& to : mail.to) bytes += to.capacity() * sizeof(PacketEvent);
    }
    return bytes;
  }

 private:
  uint32_t part_;
  Events events_;
  int64_t now_ = 0;
  uint64_t window_ = 0;
  Mail mail_[2];  // of this window and the one before
};

}  // namespace chakra::packet
