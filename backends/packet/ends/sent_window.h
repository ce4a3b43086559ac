// The state of each packet of a connection that is not known to have arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace chakra::packet {

// The packets from Sender::acked on.
class SentWindow {
 public:
  enum State : uint8_t { kFlying, kArrived, kLost, kAgain };
  struct Sent {
    uint32_t message;
    uint32_t payload;
    uint16_t path;
    State state;
    uint8_t times = 0;  // how often the packet was sent again, modulo 256
  };
  Sent& operator[](uint64_t number) { return sent_[number & (sent_.size() - 1)]; }
  // Makes room for packets [acked, next); the last one is new.
  void Grow(uint64_t acked, uint64_t next) {
    if (next - acked < sent_.size()) return;
    std::vector<Sent> larger(sent_.empty() ? 64 : sent_.size() * 2);
    for (uint64_t n = acked; n + 1 < next; ++n) larger[n & (larger.size() - 1)] = (*this)[n];
    sent_.swap(larger);
  }
  uint64_t lost_from = 0;  // no packet before this number is lost
  uint64_t highest = 0;    // number after the highest packet that arrived
  uint64_t checked = 0;    // packets before this number are not checked for reordering again

  // Packets that were sent again, in this order; those from `resent_from` on are still of interest.
  struct Resent {
    uint64_t number;
    uint64_t before;  // packets from this number on were sent later
    uint8_t times;
  };
  std::vector<Resent> resent;
  size_t resent_from = 0;
  // Takes the oldest of them, if packets that were sent `apart` or more after it have arrived; else nullopt.
  std::optional<Resent> TakeOvertaken(uint64_t apart) {
    if (resent_from == resent.size() || resent[resent_from].before + apart >= highest) return std::nullopt;
    const Resent oldest = resent[resent_from++];
    // Erases the taken entries when they are the larger part.
    if (2 * resent_from >= resent.size()) {
      resent.erase(resent.begin(), resent.begin() + static_cast<std::ptrdiff_t>(resent_from));
      resent_from = 0;
    }
    return oldest;
  }

 private:
  std::vector<Sent> sent_;
};

}  // namespace chakra::packet
