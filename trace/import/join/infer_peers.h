// Infers the peers of sends and receives that do not name them.
//
// Ranks that exchange such messages are stages of pipelines: either rows of ranks with a constant distance,
// in which each rank exchanges messages with the previous and the next one, or rings. For each such layout
// the receives are visited in the order of their ends. Each one gets the earliest open send of its size from
// a neighbour; of two neighbours, from the one whose send ends nearest. A layout is ruled out if a message
// stays open, if a receive ended before its send began, or if messages from one rank to another overtake each
// other. The peers are inferred if only one layout is left, or if one explains the ends of receives clearly
// better than each other: a message takes about the same time from the later begin on, or its two sides end
// together. Cost: layouts x messages x 2.
//
// Clocks that are not known to be the same are used as they are, and the layout must show that they are the
// same: the ranks of two such clocks send messages in both directions, and no receive ends before its send
// begins; or each message ends on both sides together.
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
  // By row of `calls`, then by call: the peer's row. Empty: not sure.
  std::vector<std::vector<uint32_t>> peer;
  std::string evidence;  // in words
};

// calls[r]: the calls of one rank, sorted by begin. `tolerance_ns`: maximum error between clocks. clock[r]:
// rows with the same number are known to share a clock; empty: all rows share one.
InferredPeers InferPeers(const std::vector<std::vector<PeerCall>>& calls, int64_t tolerance_ns,
                         const std::vector<uint32_t>& clock = {});

}  // namespace chakra::pytorch
