// Calls over several nodes: what a step of each algorithm takes beside its latency, and what algorithms reach
// of a network. A step is: launch, copy to the buffer, post, wire, completion, copy out. It works on chunks,
// and a chain of steps waits for the first chunk of each: the pipeline fills.
//
// Fitted on 795 medians of 35 machines (boeschf/nccl-benchmark-on-alps-2025, HLC-Lab/pico,
// argonne-lcf/alcf-nccl-tests, issues of NVIDIA/nccl and nccl-tests, clouds' documentation):
// test/validation/between_nodes.md. Sizes are in bytes, times in us, rates in GB/s.
#pragma once

#include "replay/nccl/library.h"

namespace chakra::nccl {

// The share of the wire that is data: LL sends a flag for each 4 bytes, LL128 one for each 120.
double DataShare(Protocol p);

// How many times its data a card carries in one direction, at most, in a double binary tree over so many
// nodes: an inner node of one tree is a leaf of the other.
double CarriedByTree(int nodes);

// What a step between nodes takes more than one of few bytes. Of a ring in which a member sends `bytes` to
// the next:
double RingStepUs(const Transport& transport, Protocol p, double bytes, int channels);

// Of a tree in a call of `bytes`; the node's cards carry `node_rate`:
double TreeStepUs(const Transport& transport, Protocol p, double bytes, int channels, double node_rate);

// Where each member of a node has its share in a tree of its own and the switch adds and multicasts (NVLS);
// `rate`: of the whole call.
double NvlsTreeStepUs(const Transport& transport, double bytes, int channels, int per_node, double rate);

// A step of the latter, of few bytes.
inline constexpr double kNvlsTreeStepUs = 3.4;

// Once for a call: of a ring over nodes, of NVLS trees, of an exchange with all.
double RingBeginUs(int per_node);
inline constexpr double kNvlsTreeBeginUs = 40;
inline constexpr double kExchangeBeginUs = 9;

// Shares of what a protocol reaches inside a node that are left where a call spans several.
double RingShare(Protocol p);
double TreeShare(Protocol p);
// The same of the switch that adds and multicasts: 34.4 ms for 8 GiB on 2 nodes of 8 H100.
inline constexpr double kNvlsTreeShare = 0.8;

// What fills the pipeline of an exchange in which a member sends `bytes` to others over a card of
// `card_rate`.
double ExchangeFillUs(double bytes, double card_rate);

}  // namespace chakra::nccl
