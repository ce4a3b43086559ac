// NCCL's own constants. Latencies in us, bandwidths in GB/s.
//
// Source: NCCL, src/graph/tuning.cc and ncclTunerConstantsDefaults, as of
// release 2.30; the tables that later releases dropped or changed are named.
#pragma once

#include "replay/nccl/library.h"

namespace chakra::nccl {

enum class Algorithm : uint8_t { kTree, kRing, kCollNet, kNvls, kNvlsTree, kPat };

// Once for each call.
double BaseLatency(Algorithm a, Protocol p);
// Of one step over a link.
double StepLatency(Algorithm a, Protocol p, LibraryLink link);

// Bus bandwidth that LL cannot pass, by generation and nodes.
double MaxLL(Generation g, int nodes);
// Of one channel.
double MaxRingLL128(Generation g);
double MaxTreeLL128(Generation g, int nodes);
double MaxTree(Generation g, int nodes);
double MaxNvlsTree(Generation g, int nodes);

// Share of the tree's bandwidth that the tuner believes in, by size: 64 B, 128 B, ... (medium sizes do
// not reach the model).
double TreeCorrection(Protocol p, uint64_t bytes);

// Data of one channel that one step moves at most, except Simple (NCCL_BUFFSIZE / 2): an eighth of the
// protocol's buffer, flags taken off.
inline constexpr uint64_t kChunkLL = 32 << 10;
inline constexpr uint64_t kChunkLL128 = 576000;

// Bytes for each thread below which fewer channels are used, and threads of a channel.
int ThreadThreshold(Algorithm a, Protocol p, int ranks);
inline int Threads(Protocol p) { return p == Protocol::kLL128 ? 640 : 512; }

}  // namespace chakra::nccl
