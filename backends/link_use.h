// What links did in a run, and what is done to them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// From `at` on a link has another bandwidth, until the next change of it.
struct LinkChange {
  Time at;
  uint32_t link = 0;     // of Topology, one direction
  double bandwidth = 1;  // share of its own, [0, 1]; 0: it is down
  double loss = 0;       // share of its packets that are lost by chance, [0, 1)

  // Share of its own bandwidth that gets through.
  double Left() const { return bandwidth * (1 - loss); }
};

// What is counted of packets on a link, of `packet` and `mixed`.
struct LinkCounts {
  uint64_t packets = 0;  // of all kinds
  uint64_t marks = 0;
  uint64_t drops = 0;  // for want of room, or since the link was down
  uint64_t lost = 0;   // on the link, by chance
  uint64_t trims = 0;
  uint64_t pauses = 0;  // that its other end asked for
  uint64_t paused = 0;  // ps in which a pause kept back a class of packets, or several

  bool operator==(const LinkCounts&) const = default;
};

// What is counted in all and by bucket of time.
struct LinkCount {
  const char* name;  // of LinkReport's total; its series is NAME_series
  uint64_t LinkCounts::*total;
};
inline constexpr LinkCount kLinkCounts[] = {
    {"marks", &LinkCounts::marks}, {"drops", &LinkCounts::drops},   {"lost", &LinkCounts::lost},
    {"trims", &LinkCounts::trims}, {"pauses", &LinkCounts::pauses}, {"paused_ps", &LinkCounts::paused}};

// One direction of a link.
struct LinkUse : LinkCounts {
  uint32_t link = 0;
  std::string name;
  std::string link_class;
  int dimension = 0;
  Bandwidth bandwidth;
  uint64_t bytes = 0;        // that it carried, what protocols add included
  uint64_t flows = 0;        // that crossed it, each once
  double peak = 0;           // the most of its bandwidth that was taken at an instant, [0, 1]
  uint64_t most_queued = 0;  // `packet`: the most bytes that waited for it
  // Share of the bandwidth taken, by bucket of LinkUses::bucket from time 0; empty unless asked for.
  std::vector<float> series;
  std::vector<uint64_t> queued;  // `packet`: bytes that waited at the end of a bucket, beside `series`
  // `packet`: each of kLinkCounts by bucket, beside `series`; empty where there were none. Their sums are the
  // totals.
  static constexpr size_t kCounts = std::size(kLinkCounts);
  std::array<std::vector<uint64_t>, kCounts> counts;
};

// What the packets of a fabric did, up to its last AdvanceTo().
struct PacketTotals {
  std::string transport;  // "": the fabric sends no packets, and all else is 0
  uint64_t packets = 0;   // of data that entered the network, those sent again included
  uint64_t again = 0;     // of those: sent before
  uint64_t acks = 0;      // acknowledgements and requests
  uint64_t drops = 0, trims = 0, marks = 0, pauses = 0, timeouts = 0;
  uint64_t lost = 0;    // by links, by chance; not among `drops`
  uint64_t hops = 0;    // packets of any kind over a link
  uint64_t events = 0;  // that the simulation took for them
  // `mixed`: messages that went by packets and that were fluid, and their payload bytes.
  uint64_t messages = 0, fluid_messages = 0, bytes = 0, fluid_bytes = 0;
  // Where it skips (PacketOptions::skip): packets of data that were counted but not simulated; jumps over
  // times of constant rates; flows that ended as flows before them did.
  uint64_t skipped = 0, jumps = 0, repeats = 0;
  double skip_error = 0;  // TransportKind::skip_error, where it skips

  // All counts; not `transport` and what is known of it.
  inline PacketTotals& operator+=(const PacketTotals& o);
};

struct PacketCount {
  const char* name;  // of PacketReport
  uint64_t PacketTotals::*total;
  bool of_packets = false;  // what packets did: where packets are skipped, they are counted all the same
};
inline constexpr PacketCount kPacketCounts[] = {{"packets", &PacketTotals::packets, true},
                                                {"sent_again", &PacketTotals::again, true},
                                                {"acknowledgements", &PacketTotals::acks, true},
                                                {"drops", &PacketTotals::drops, true},
                                                {"trims", &PacketTotals::trims, true},
                                                {"marks", &PacketTotals::marks, true},
                                                {"pauses", &PacketTotals::pauses, true},
                                                {"timeouts", &PacketTotals::timeouts, true},
                                                {"lost", &PacketTotals::lost, true},
                                                {"packet_hops", &PacketTotals::hops, true},
                                                {"events", &PacketTotals::events},
                                                {"messages", &PacketTotals::messages},
                                                {"message_bytes", &PacketTotals::bytes},
                                                {"fluid_messages", &PacketTotals::fluid_messages},
                                                {"fluid_bytes", &PacketTotals::fluid_bytes},
                                                {"skipped_packets", &PacketTotals::skipped},
                                                {"jumps", &PacketTotals::jumps},
                                                {"repeated_messages", &PacketTotals::repeats}};

PacketTotals& PacketTotals::operator+=(const PacketTotals& o) {
  for (const PacketCount& count : kPacketCounts) this->*count.total += o.*count.total;
  return *this;
}

struct LinkUses {
  uint64_t links = 0;            // directions of links that carried anything
  Time bucket;                   // 0: no series
  std::vector<LinkUse> busiest;  // by bytes over bandwidth, then by number
};

}  // namespace chakra
