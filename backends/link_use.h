// What links did in a run, and changes of links during a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "trace/base/units.h"

namespace chakra {

// From `at` on, a link has another bandwidth or loss, until the next change of the same link.
struct LinkChange {
  Time at;
  uint32_t link = 0;     // number in the Topology, one direction
  double bandwidth = 1;  // share of the link's own bandwidth, [0, 1]; 0: the link is down
  double loss = 0;       // share of the link's packets that are lost at random, [0, 1)

  // The share of the link's own bandwidth that gets through.
  double Left() const { return bandwidth * (1 - loss); }
};

// Counts of packets on one link, from `packet` and `mixed`.
struct LinkCounts {
  uint64_t packets = 0;  // packets of all kinds
  uint64_t marks = 0;
  uint64_t drops = 0;  // no room in the queue, or the link was down
  uint64_t lost = 0;   // lost on the link at random
  uint64_t trims = 0;
  uint64_t pauses = 0;  // requested by the other end of the link
  uint64_t paused = 0;  // ps in which at least one class of packets was paused

  bool operator==(const LinkCounts&) const = default;
};

// A count that reports give as a total and as a series over time.
struct LinkCount {
  const char* name;  // field of LinkReport for the total; its series is NAME_series
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
  uint64_t bytes = 0;        // carried, including what protocols add
  uint64_t flows = 0;        // that crossed the link, each counted once
  double peak = 0;           // highest share of the bandwidth in use at any instant, [0, 1]
  uint64_t most_queued = 0;  // `packet`: highest number of bytes that waited for the link
  // Share of the bandwidth in use, by bucket of LinkUses::bucket from time 0; empty unless requested.
  std::vector<float> series;
  std::vector<uint64_t> queued;  // `packet`: bytes that waited at the end of each bucket of `series`
  // `packet`: each of kLinkCounts, by bucket of `series`; empty if the total is 0. The sum of a series is its
  // total.
  static constexpr size_t kCounts = std::size(kLinkCounts);
  std::array<std::vector<uint64_t>, kCounts> counts;
};

// What the packets of a fabric did, up to its last AdvanceTo().
struct PacketTotals {
  std::string transport;  // "": the fabric sends no packets, and all counts are 0
  uint64_t packets = 0;   // data packets that entered the network, including those sent again
  uint64_t again = 0;     // those of `packets` that had been sent before
  uint64_t acks = 0;      // acknowledgements and requests
  uint64_t drops = 0, trims = 0, marks = 0, pauses = 0, timeouts = 0;
  uint64_t lost = 0;    // lost by links at random; not included in `drops`
  uint64_t hops = 0;    // packets of any kind times the links that they crossed
  uint64_t events = 0;  // events that the simulation processed for the packets
  // `mixed`: messages that went by packets, messages that were fluid, and the payload bytes of each.
  uint64_t messages = 0, fluid_messages = 0, bytes = 0, fluid_bytes = 0;
  // Where PacketOptions::skip is on: data packets that were counted but not simulated; jumps over times of
  // constant rates; flows whose end was copied from an earlier flow.
  uint64_t skipped = 0, jumps = 0, repeats = 0;
  double skip_error = 0;  // TransportKind::skip_error, where PacketOptions::skip is on

  // Adds all counts; leaves `transport` and `skip_error`.
  inline PacketTotals& operator+=(const PacketTotals& o);
};

struct PacketCount {
  const char* name;  // field of PacketReport
  uint64_t PacketTotals::*total;
  bool of_packets = false;  // counts what packets did, including packets that were skipped
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
  std::vector<LinkUse> busiest;  // by bytes over bandwidth, ties by number of the link
};

}  // namespace chakra
