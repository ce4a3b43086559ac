// The packets of a connection that are not known to have arrived, each for itself.
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
    uint8_t times = 0;  // that it was sent again, modulo 256
  };
  Sent& operator[](uint64_t number) { return sent_[number & (sent_.size() - 1)]; }
  // Room for packets [acked, next), the last of which is new.
  void Grow(uint64_t acked, uint64_t next) {
    if (next - acked < sent_.size()) return;
    std::vector<Sent> larger(sent_.empty() ? 64 : sent_.size() * 2);
    for (uint64_t n = acked; n + 1 < next; ++n) larger[n & (larger.size() - 1)] = (*this)[n];
    sent_.swap(larger);
  }
  uint64_t lost_from = 0;  // no lost packet before
  uint64_t highest = 0;    // packets: one more than the last that arrived
  uint64_t checked = 0;    // packets before are not looked at for reordering again

  // What was sent again, in this order, from `resent_from` on.
  struct Resent {
    uint64_t number;
    uint64_t before;  // packets from here on were sent later
    uint8_t times;
  };
  std::vector<Resent> resent;
  size_t resent_from = 0;
  // The oldest of them, once packets that were sent `apart` or more after it have arrived; else none.
  std::optional<Resent> TakeOvertaken(uint64_t apart) {
    if (resent_from == resent.size() || resent[resent_from].before + apart >= highest) return std::nullopt;
    const Resent oldest = resent[resent_from++];
    // What was taken goes when it is the larger part.
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
