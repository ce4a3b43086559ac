// Infers the peers of sends and receives that do not name them.
//
// Ranks that exchange messages so are stages of pipelines: rows of ranks that are some ranks apart, in which
// each speaks to the one before and the one after; or rings. For each such layout the receives are taken in
// the order of their ends, and each gets the earliest open send of its size from a neighbour, of two
// neighbours the one whose send ends nearest. A layout is out if a message stays open, if a receive ended
// before its send began, or if messages from one rank to another overtake. The peers are inferred if one
// layout is left, or one explains the ends of receives clearly better than each other: a message takes about
// one time from the later begin on, or its two sides end together. Cost: layouts x messages x 2.
//
// Clocks of which nothing tells that they are one are taken as they are, and the layout must show that they
// are one: ranks of two such clocks speak both ways, and no receive ends before its send begins; or each
// message ends on both sides together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chakra::pytorch {

struct PeerCall {
  bool send = false;
  uint64_t key = 0;            // size and type
  int64_t begin = 0, end = 0;  // ns
};

struct InferredPeers {
  bool sure = false;
  std::vector<std::vector<uint32_t>>
      peer;              // by row of `calls`, then by call: the peer's row. Empty: not sure
  std::string evidence;  // in words
};

// calls[r]: those of one rank, by begin. `tolerance_ns`: what clocks may be off by. clock[r]: rows of one
// number are known to have one clock; empty: all have.
InferredPeers InferPeers(const std::vector<std::vector<PeerCall>>& calls, int64_t tolerance_ns,
                         const std::vector<uint32_t>& clock = {});

}  // namespace chakra::pytorch
