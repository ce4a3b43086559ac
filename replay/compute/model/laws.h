// The laws by which kernels take their time, one for each family, and the constants that they have for each
// architecture. Constants are fitted on public measurements by bench/kernel_laws, which writes
// replay/compute/fitted.
#pragma once

#include <array>
#include <cstddef>

#include "replay/compute/model/kernel_model.h"

namespace chakra::laws {

// What laws need of a device and a dtype.
struct Unit {
  double units = 1;          // SMs or CUs
  double cycles_per_us = 1;  // of them
  double peak_per_us = 0;    // operations of all units on matrices of the dtype
  double bytes_per_us = 0;   // memory
  double l2_bytes = 0;
};

// Of a device at the clock that it sustains (sustained_share); what it does not say of itself is as in its
// architecture. No peak: 0. fp8 in blocks counts as fp8, weights of 4 bits as bf16.
Unit UnitOf(const proto::Device& device, KernelDtype dtype);

// Each constant is a plain number that does not depend on the size of a device: shares of its rates, cycles,
// bytes a cycle.
template <size_t N>
using Constants = std::array<double, N>;

// Time of a product in tiles that fill the units in waves:
//   start + min over tiles and splits of k of max(waves * (tile + 1) + steps, bytes / memory), cooling down
//   when long
enum GemmConstant : size_t {
  kStartCycles,  // from launch to drain
  kPeakShare,    // of the peak that the largest tile reaches
  kMemoryShare,  // of the bandwidth of memory
  kFeedBytes,    // from the last cache, for each operation of the peak; at least twice what memory gives
  kTileCycles,   // around each tile
  kHalfTile,     // the side of a tile at which half of the rate is lost to its edges
  kSplitCycles,  // around a split of k
  kSplitShare,   // of the bandwidth of memory with which parts of a split are added
  kRasterTiles,  // that lie side by side in a wave
  kHotShare,     // longer that long kernels take, since power limits the clock
  kHotUs,        // from which on they do by half
  kStepCycles,   // least that a step of 64 elements along k takes
  kGemmConstants
};
using GemmConstants = Constants<kGemmConstants>;

// Microseconds. `bytes` are those of an element of the operands; results have 2, or 4 where operands have.
double Gemm(const GemmConstants& c, const Unit& unit, double bytes, double batch, double m, double n,
            double k);

// Blocks of 128 queries go along their keys; the exponentials do not run on matrix units:
//   start + max(the longest block, work / units + tail of it, bytes / memory)
enum AttentionConstant : size_t {
  kAttentionStartCycles,
  kAttentionPeakShare,
  kPairCycles,  // of a unit for a pair of query and key, beside its products
  kTailShare,   // of the longest block, for which the others wait
  kAttentionMemoryShare,
  kBlockCycles,  // for each 128 keys of a block
  kAttentionConstants
};
using AttentionConstants = Constants<kAttentionConstants>;
double Attention(const AttentionConstants& c, const Unit& unit, double bytes, double kv_bytes,
                 const AttentionCall& call);

// Two grouped products with an activation between them.
//   start + (weights of the experts in use^p + operations of padded rows^p)^(1/p) + bytes of rows / memory
enum MoeConstant : size_t {
  kMoeStartCycles,
  kMoePeakShare,
  kMoeMemoryShare,
  kMoeBlockRows,     // rows of an expert are padded to these
  kMoeRowShare,      // of the bandwidth of memory, for rows between the products
  kMoeExpertCycles,  // for each expert in use
  kMoeHotShare,      // of the tokens that the hottest experts could draw, what their device gets
  kMoeConstants
};
using MoeConstants = Constants<kMoeConstants>;
double Moe(const MoeConstants& c, const Unit& unit, double bytes, const MoeCall& call);

// Bytes at memory's rate, or operations on vector units.
enum StreamConstant : size_t {
  kStreamStartUs,      // of an elementwise kernel
  kStreamMemoryShare,  // of the bandwidth of memory that it gets
  kStreamConstants
};
using StreamConstants = Constants<kStreamConstants>;
// `vector_unit`: that of fp32.
double Stream(const StreamConstants& c, const Unit& vector_unit, const StreamCall& call);

}  // namespace chakra::laws
