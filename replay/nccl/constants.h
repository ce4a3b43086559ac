// NCCL's constants. Latencies are in us, bandwidths in GB/s.
//
// Source: NCCL, src/graph/tuning.cc and ncclTunerConstantsDefaults, release 2.30. Comments name the tables
// that later releases dropped or changed.
#pragma once

#include "replay/nccl/library.h"

namespace chakra::nccl {

enum class Algorithm : uint8_t { kTree, kRing, kCollNet, kNvls, kNvlsTree, kPat };

// The latency of a call.
double BaseLatency(Algorithm a, Protocol p);
// The latency of a step over a link.
double StepLatency(Algorithm a, Protocol p, LibraryLink link);

// The maximum bus bandwidth of LL, by generation and number of nodes.
double MaxLL(Generation g, int nodes);
// The maximum bandwidths of one channel.
double MaxRingLL128(Generation g);
double MaxTreeLL128(Generation g, int nodes);
double MaxTree(Generation g, int nodes);
double MaxNvlsTree(Generation g, int nodes);

// The share of the tree's bandwidth that the tuner assumes, by size: 64 B, 128 B, ... (its model
// overestimates medium sizes).
double TreeCorrection(Protocol p, uint64_t bytes);

// The maximum data that a step of one channel moves: an eighth of the protocol's buffer, without flags.
// Simple differs: NCCL_BUFFSIZE / 2.
inline constexpr uint64_t kChunkLL = 32 << 10;
inline constexpr uint64_t kChunkLL128 = 576000;
// The maximum number of bytes that grouped sends move to one peer with LL: NCCL src/enqueue.cc,
// NCCL_P2P_LL_THRESHOLD.
inline constexpr uint64_t kMostLLToPeer = 16 << 10;

// The bytes that the 512 threads of a channel move at once with LL, 8 bytes each.
inline constexpr uint64_t kPass = 4096;

// The rate of one channel of an all-reduce in the switch, and the time for each member to fill its pipeline.
struct NvlsChannel {
  double gbytes_per_s;
  double fill_us;
};
NvlsChannel NvlsChannelFor(uint64_t bytes, int channels, int members);

// ThreadThreshold(): the library uses fewer channels if a thread would have fewer bytes than this. Threads():
// the number of threads of a channel.
int ThreadThreshold(Algorithm a, Protocol p, int ranks);
inline int Threads(Protocol p) { return p == Protocol::kLL128 ? 640 : 512; }

}  // namespace chakra::nccl
