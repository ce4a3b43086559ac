// What links did in a run, and what is done to them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// One direction of a link.
struct LinkUse {
  uint32_t link = 0;
  std::string name;
  std::string link_class;
  int dimension = 0;
  Bandwidth bandwidth;
  uint64_t bytes = 0;  // that it carried, what protocols add included
  uint64_t flows = 0;  // that crossed it, each once
  double peak = 0;     // the most of its bandwidth that was taken at an instant, [0, 1]
  // `packet`: of all kinds; those that were marked, dropped (for want of room, or since the link was down),
  // trimmed; pauses that its other end asked for; and the most bytes that waited for it.
  uint64_t packets = 0, marks = 0, drops = 0, trims = 0, pauses = 0, most_queued = 0;
  uint64_t lost = 0;    // `packet`: of them, lost on the link by chance
  uint64_t paused = 0;  // `packet`: ps in which a pause kept back a class of packets, or several
  // Share of the bandwidth taken, by bucket of LinkUses::bucket from time 0; empty unless asked for.
  std::vector<float> series;
  std::vector<uint64_t> queued;  // `packet`: bytes that waited at the end of a bucket, beside `series`
  // `packet`: each of kLinkCounts by bucket, beside `series`; empty where there were none. Their sums are the
  // totals.
  static constexpr size_t kCounts = 6;
  std::array<std::vector<uint64_t>, kCounts> counts;
};

// What is counted on links by bucket.
struct LinkCount {
  const char* name;  // with its unit, where it is no number of things
  uint64_t LinkUse::*total;
};
inline constexpr std::array<LinkCount, LinkUse::kCounts> kLinkCounts = {{{"marks", &LinkUse::marks},
                                                                         {"drops", &LinkUse::drops},
                                                                         {"lost", &LinkUse::lost},
                                                                         {"trims", &LinkUse::trims},
                                                                         {"pauses", &LinkUse::pauses},
                                                                         {"paused_ps", &LinkUse::paused}}};

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

  // `transport` and what is known of it aside.
  PacketTotals& operator+=(const PacketTotals& o) {
    packets += o.packets;
    again += o.again;
    acks += o.acks;
    drops += o.drops;
    trims += o.trims;
    marks += o.marks;
    pauses += o.pauses;
    timeouts += o.timeouts;
    lost += o.lost;
    hops += o.hops;
    events += o.events;
    messages += o.messages;
    fluid_messages += o.fluid_messages;
    bytes += o.bytes;
    fluid_bytes += o.fluid_bytes;
    skipped += o.skipped;
    jumps += o.jumps;
    repeats += o.repeats;
    return *this;
  }
};

struct LinkUses {
  uint64_t links = 0;            // directions of links that carried anything
  Time bucket;                   // 0: no series
  std::vector<LinkUse> busiest;  // by bytes over bandwidth, then by number
};

}  // namespace chakra
