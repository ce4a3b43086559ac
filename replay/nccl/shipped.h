// Kernels that other software ships beside the library. All-reduce: one-shot and two-shot by direct reads of
// the peers' buffers, and multimem, in which the switch adds and multicasts. All-to-all: dispatch and combine
// of experts. Rules of LibraryModel::choice ask for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "replay/nccl/library.h"

namespace chakra::shipped {

inline constexpr char kOneShot[] = "one_shot";
inline constexpr char kTwoShot[] = "two_shot";
inline constexpr char kMultimem[] = "multimem";
inline constexpr char kDeepEp[] = "deepep";  // tokens go once to a node, and on from there
inline constexpr char kDeepEpLowLatency[] = "deepep_low_latency";  // each token straight to each expert

// A kernel takes base_us, and then its plan's bytes at link_share of the device's NVLink. One-shot moves
// (n-1) B, two-shot 2 (n-1)/n B, multimem (1 + 1/n) B in each direction of a device's link. An all-to-all
// sends B/n to each peer: what goes to peers of the node and what goes over the card do so side by side.
struct Law {
  double base_us = 0;        // the kernel's entry and its barriers over NVLink
  double link_share = 0;     // (0, 1]
  double network_share = 1;  // of a device's card; (0, 1]
};

// The algorithm of the recorded all-reduce kernel `name`; null where the name tells none. NCCL's own names do
// not: one kernel, named for RING and LL, runs whatever the tuner has chosen (NVIDIA/nccl#1595, #2196).
const char* AlgorithmOfKernel(absl::string_view name);

// Precondition: `algorithm` is one of the names above.
Law LawOf(absl::string_view algorithm, Generation generation);

// Software whose choice by size a rule may follow.
const std::vector<std::string>& Software();

// The algorithm that `software` takes for an all-reduce of `bytes` of a 16-bit type in a group of `ranks` on
// one NVLink switch; "" where it leaves the call to the library. `multicast`: the switch can add and
// multicast. Precondition: Software() lists `software`.
std::string Pick(absl::string_view software, Generation generation, int ranks, uint64_t bytes,
                 bool multicast);

}  // namespace chakra::shipped
