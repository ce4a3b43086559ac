// The laws that give a kernel's time, one for each family, and their constants. bench/kernel_laws fits the
// constants to public measurements and writes replay/compute/fitted.
#pragma once

#include <array>
#include <cstddef>

#include "replay/compute/model/kernel_model.h"

namespace chakra::laws {

// The properties of a device and a dtype that the laws use.
struct Unit {
  double units = 1;          // SMs or CUs
  double cycles_per_us = 1;  // clock of the units
  double peak_per_us = 0;    // peak operations of all units on matrices of the dtype
  double bytes_per_us = 0;   // of memory
  double l2_bytes = 0;
  double achieved = 0;  // share of the peak that the best GEMMs reach (Device.achieved_tflops); 0: not known
};

// The unit of a device, at the clock that the device sustains (sustained_share). Values that the device does
// not give are those of its architecture. An unknown peak is 0. fp8 in blocks counts as fp8, weights of 4
// bits as bf16.
Unit UnitOf(const proto::Device& device, KernelDtype dtype);

// Each constant is a number that does not depend on the size of a device: a share of its rates, cycles, bytes
// per cycle.
template <size_t N>
using Constants = std::array<double, N>;

// Time of a GEMM in tiles that fill the units in waves:
//   start + hot(min over tiles and splits of k of max(waves * (tile + around) + steps, bytes / memory))
// where hot() makes long kernels longer, since power limits the clock.
enum GemmConstant : size_t {
  kStartCycles,  // from launch to drain
  kPeakShare,    // share of the peak that the largest tile reaches
  kMemoryShare,  // share of memory's bandwidth
  kFeedBytes,    // bytes from the last cache for each operation of the peak; at least twice what memory gives
  kTileCycles,   // added for each tile
  kHalfTile,     // the side of a tile at which half of the rate is lost to its edges
  kSplitCycles,  // added for a split of k
  kSplitShare,   // share of memory's bandwidth with which the parts of a split are added up
  kRasterTiles,  // tiles side by side in a wave
  kHotShare,     // how much longer long kernels take, as a share, since power limits the clock
  kHotUs,        // duration at which half of kHotShare applies
  kStepCycles,   // minimum of a step of 64 elements along k
  kGemmConstants
};
using GemmConstants = Constants<kGemmConstants>;

// Returns microseconds. `bytes` is the size of an operand's element. Elements of the result have max(2,
// bytes) bytes.
double Gemm(const GemmConstants& c, const Unit& unit, double bytes, double batch, double m, double n,
            double k);

// Time of attention. Blocks of 128 queries go along their keys; exponentials do not run on matrix units:
//   start + max(the longest block, work / units + tail of the longest block, bytes / memory)
enum AttentionConstant : size_t {
  kAttentionStartCycles,
  kAttentionPeakShare,
  kPairCycles,  // cycles of a unit for a pair of query and key, in addition to its GEMMs
  kTailShare,   // share of the longest block for which the other units wait
  kAttentionMemoryShare,
  kBlockCycles,  // for each 128 keys of a block
  kAttentionConstants
};
using AttentionConstants = Constants<kAttentionConstants>;
double Attention(const AttentionConstants& c, const Unit& unit, double bytes, double kv_bytes,
                 const AttentionCall& call);

// Time of experts: two grouped GEMMs with an activation between them:
//   start + sqrt((weights of the experts in use)^2 + (operations of padded rows)^2) + bytes of rows / memory
enum MoeConstant : size_t {
  kMoeStartCycles,
  kMoePeakShare,
  kMoeMemoryShare,
  kMoeBlockRows,     // rows of an expert are padded to a multiple of this; half of it is added on average
  kMoeRowShare,      // share of memory's bandwidth for rows between the GEMMs
  kMoeExpertCycles,  // for each expert in use
  kMoeHotShare,      // the share of the tokens for the hottest experts that their device gets
  kMoeConstants
};
using MoeConstants = Constants<kMoeConstants>;
double Moe(const MoeConstants& c, const Unit& unit, double bytes, const MoeCall& call);

// Time of a streaming kernel: a start, and the longer of bytes at memory's rate and operations on vector
// units.
enum StreamConstant : size_t {
  kStreamStartUs,      // of an elementwise kernel
  kStreamMemoryShare,  // share of memory's bandwidth
  kStreamConstants
};
using StreamConstants = Constants<kStreamConstants>;
// `vector_unit`: UnitOf() the device and fp32.
double Stream(const StreamConstants& c, const Unit& vector_unit, const StreamCall& call);

}  // namespace chakra::laws
