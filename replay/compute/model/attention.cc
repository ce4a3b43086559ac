// Attention that does not store its matrix of scores in memory: blocks of queries go along their keys.
#include <algorithm>
#include <cmath>

#include "replay/compute/model/laws.h"

namespace chakra::laws {
namespace {

constexpr double kBlock = 128;  // queries of a block, keys of a step
// Cycles of a unit for a tanh: a multiprocessor computes 16 special functions per cycle (CUDA C++ Programming
// Guide, throughput of arithmetic instructions, compute capability 7.0 to 10.0). FlashAttention caps scores
// by tanh.approx (Dao-AILab/flash-attention, csrc/flash_attn/src/utils.h, apply_softcap), also when the
// backward kernel recomputes the scores.
constexpr double kTanhCycles = 1.0 / 16;

// Steps of one head: number of blocks, sum over all blocks, and those of the longest block.
struct Steps {
  double blocks = 0, sum = 0, most = 0;
};

Steps StepsOf(const AttentionCall& call) {
  Steps s;
  s.blocks = std::ceil(call.seq / kBlock);
  const double keys = call.seq + call.prefix;
  const double seen = call.window > 0 ? std::min(call.window + kBlock, keys) : keys;
  s.most = std::ceil(seen / kBlock);
  if (!call.causal) {
    s.sum = s.blocks * s.most;
    return s;
  }
  // Block i sees all keys before it, until the window limits the keys that it sees.
  const double before = std::floor(call.prefix / kBlock);
  const double growing = std::clamp(s.most - before, 0.0, s.blocks);
  s.sum = growing * before + growing * (growing + 1) / 2 + (s.blocks - growing) * s.most;
  return s;
}

}  // namespace

double Attention(const AttentionConstants& c, const Unit& unit, double bytes, double kv_bytes,
                 const AttentionCall& call) {
  const double cycles = 1 / unit.cycles_per_us;
  const double rate = unit.peak_per_us / unit.units * c[kAttentionPeakShare];
  const Steps steps = StepsOf(call);
  // Backward: five GEMMs instead of two, and the exponentials once.
  const double products = call.backward ? 10 : 4, moved = call.backward ? 2.5 : 1;
  const double pair = c[kPairCycles] + (call.capped ? kTanhCycles : 0);
  const double step =
      kBlock * kBlock * (products * call.head_dim / rate + pair * cycles) + c[kBlockCycles] * cycles;
  const double heads = call.batch * call.heads, blocks = heads * steps.blocks;
  const double longest = steps.most * step;
  const double work =
      heads * steps.sum * step / unit.units + (blocks > unit.units ? c[kTailShare] * longest : 0);
  const double read =
      moved * call.batch * call.head_dim *
      (2 * call.seq * call.heads * bytes + 2 * (call.seq + call.prefix) * call.kv_heads * kv_bytes);
  const double memory = read / (unit.bytes_per_us * c[kAttentionMemoryShare]);
  return c[kAttentionStartCycles] * cycles + std::max({longest, work, memory});
}

}  // namespace chakra::laws
