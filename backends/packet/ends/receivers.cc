#include "backends/packet/ends/receivers.h"

#include <algorithm>

namespace chakra::packet {
namespace {

// Minimum time between two requests for the same packet, as in the NICs of the HPCC simulations.
constexpr int64_t kAskAgain = 500'000'000;  // ps

}  // namespace

Receivers::Receivers(const PacketOptions& options)
    : selective_(options.recovery == PacketOptions::Recovery::kSelective),
      ack_every_(options.ack_every),
      ack_bytes_(options.ack),
      cnp_gap_(KindOf(options.transport).cnp_gap.picos()) {}

Receivers::Answer Receivers::OutOfOrder(Packet* k, Receiver* r, int64_t now) {
  if (k->number < r->expected) {
    // The sender does not know yet that this packet has arrived.
    k->number = r->expected - 1;
    return Answer::kAck;
  }
  Disorder& d = *DisorderOf(k->connection);
  const bool asked = d.asked == r->expected && now - d.asked_at < kAskAgain;
  if (asked) return Answer::kNone;
  d.asked = r->expected;
  d.asked_at = now;
  k->number = r->expected;
  return Answer::kNack;
}

void Receivers::Notify(Packet* k, int64_t now) {
  Disorder& d = *DisorderOf(k->connection);
  if (d.notified_at >= 0 && now - d.notified_at < cnp_gap_) return;
  d.notified_at = now;
  k->flags |= Packet::kCnp;
}

bool Receivers::TakeEarly(uint64_t number, Receiver* r, std::vector<uint64_t>* early) {
  // One bit for each of the packets [expected, expected + 64 * words).
  const auto has_room = [&] { return number - r->expected < 64 * early->size(); };
  if (!has_room()) {
    size_t words = std::max<size_t>(early->size(), 1);
    while (number - r->expected >= 64 * words) words *= 2;
    std::vector<uint64_t> larger(words);
    const size_t before = 64 * early->size();
    for (uint64_t n = r->expected; n < r->expected + before; ++n) {
      const uint64_t from = n % before, to = n % (64 * words);
      if (((*early)[from / 64] >> (from % 64) & 1) != 0) larger[to / 64] |= uint64_t{1} << (to % 64);
    }
    early->swap(larger);
  }
  const uint64_t bits = 64 * early->size();
  const auto word = [&](uint64_t n) -> uint64_t& { return (*early)[n % bits / 64]; };
  const auto bit = [&](uint64_t n) { return uint64_t{1} << (n % 64); };
  if ((word(number) & bit(number)) != 0) return false;
  word(number) |= bit(number);
  while ((word(r->expected) & bit(r->expected)) != 0) {
    word(r->expected) &= ~bit(r->expected);
    ++r->expected;
  }
  return true;
}

}  // namespace chakra::packet
