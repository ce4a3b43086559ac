// Calls over several nodes: the time of a step of each algorithm beyond its latency, and the share of a
// network that algorithms reach. A step consists of launch, copy to the buffer, post, wire, completion, and
// copy out. A step works on chunks, and a chain of steps waits for the first chunk of each step: the pipeline
// fills.
//
// Fitted on 795 medians of 35 machines (boeschf/nccl-benchmark-on-alps-2025, HLC-Lab/pico,
// argonne-lcf/alcf-nccl-tests, issues of NVIDIA/nccl and nccl-tests, clouds' documentation):
// test/validation/between_nodes.md. Sizes are in bytes, times in us, rates in GB/s.
#pragma once

#include "replay/nccl/library.h"

namespace chakra::nccl {

// The share of data in the bytes on the wire: LL sends a flag for each 4 bytes, LL128 one for each 120.
double DataShare(Protocol p);

// The maximum number of times that a NIC carries its data in one direction, in a double binary tree over
// `nodes` nodes: an inner node of one tree is a leaf of the other.
double CarriedByTree(int nodes);

// The following functions give the additional time of a step between nodes over a step of few bytes. For a
// ring in which a member sends `bytes` to the next:
double RingStepUs(const Transport& transport, Protocol p, double bytes, int channels);

// For a tree in a call of `bytes`, where the node's NICs carry `node_rate`:
double TreeStepUs(const Transport& transport, Protocol p, double bytes, int channels, double node_rate);

// For NVLS trees, where each member of a node has its share in its own tree, and the switch adds and
// multicasts; `rate` is that of the whole call:
double NvlsTreeStepUs(const Transport& transport, double bytes, int channels, int per_node, double rate);

// The time of a step of NVLS trees with few bytes.
inline constexpr double kNvlsTreeStepUs = 3.4;

// Additional time once for a call: of a ring over nodes, of NVLS trees, and of an exchange with all members.
double RingBeginUs(int per_node);
inline constexpr double kNvlsTreeBeginUs = 40;
inline constexpr double kExchangeBeginUs = 9;

// The share of a protocol's rate inside a node that remains if a call spans several nodes.
double RingShare(Protocol p);
double TreeShare(Protocol p);
// The same share for the switch that adds and multicasts: 34.4 ms for 8 GiB on 2 nodes of 8 H100.
inline constexpr double kNvlsTreeShare = 0.8;

// The time to fill the pipeline of an exchange in which a member sends `bytes` to others over a NIC of
// `card_rate`.
double ExchangeFillUs(double bytes, double card_rate);

}  // namespace chakra::nccl
