// Kernels that other software ships in addition to the library's. All-reduce: one-shot and two-shot by direct
// reads of the peers' buffers, and multimem, in which the switch adds and multicasts. All-to-all: dispatch
// and combine of experts. Rules of LibraryModel::choice select them.
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
inline constexpr char kDeepEp[] = "deepep";  // tokens go to a node once, and from there to its members
inline constexpr char kDeepEpLowLatency[] = "deepep_low_latency";  // each token goes directly to each expert

// A kernel takes base_us, plus its plan's bytes at link_share of the device's NVLink. One-shot moves (n-1) B,
// two-shot 2 (n-1)/n B, multimem (1 + 1/n) B in each direction of a device's link. An all-to-all sends B/n to
// each peer: bytes to peers of the node and bytes over the NIC move in parallel.
struct Law {
  double base_us = 0;        // the kernel's entry and its barriers over NVLink
  double link_share = 0;     // (0, 1]
  double network_share = 1;  // of a device's NIC; (0, 1]
};

// The algorithm of the recorded all-reduce kernel `name`; null if the name does not contain it. NCCL's own
// names do not: one kernel, named for RING and LL, runs whatever the tuner has chosen (NVIDIA/nccl#1595,
// #2196).
const char* AlgorithmOfKernel(absl::string_view name);

// Precondition: `algorithm` is one of the names above.
Law LawOf(absl::string_view algorithm, Generation generation);

// Software whose choice by size a rule may follow.
const std::vector<std::string>& Software();

// The algorithm that `software` chooses for an all-reduce of `bytes` of a 16-bit type in a group of `ranks`
// on one NVLink switch; "" if it leaves the call to the library. `multicast`: the switch can add and
// multicast. Precondition: Software() lists `software`.
std::string Pick(absl::string_view software, Generation generation, int ranks, uint64_t bytes,
                 bool multicast);

}  // namespace chakra::shipped
