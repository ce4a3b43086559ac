// GEMMs: tiles and waves over the units, splits of k, the last cache and memory.
#include <algorithm>
#include <cmath>

#include "replay/compute/model/laws.h"

namespace chakra::laws {
namespace {

struct Tile {
  double m, n;
};

// Tiles that libraries have. The fastest tile is used, since the heuristics and searches of libraries find
// it.
constexpr Tile kTiles[] = {{16, 64},  {16, 128},  {32, 64},  {32, 128},  {64, 32},   {64, 64},   {64, 128},
                           {128, 64}, {128, 128}, {64, 256}, {128, 192}, {128, 256}, {256, 128}, {256, 256}};
constexpr double kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 32};
constexpr double kStep = 64;  // elements of k that a tile processes at once

}  // namespace

double Gemm(const GemmConstants& c, const Unit& unit, double bytes, double batch, double m, double n,
            double k) {
  const double cycles = 1 / unit.cycles_per_us;
  const double rate = unit.peak_per_us / unit.units * c[kPeakShare];
  const double memory = unit.bytes_per_us * c[kMemoryShare];
  const double feed = std::max(c[kFeedBytes] * unit.peak_per_us, 2 * memory) / unit.units;
  const double around = c[kTileCycles] * cycles, step = c[kStepCycles] * cycles;
  const double operands = (m + n) * k * bytes;
  const double compulsory = batch * (operands + m * n * std::max(2.0, bytes));
  const double miss = std::clamp(1 - unit.l2_bytes / operands, 0.0, 1.0);
  double best = HUGE_VAL;
  for (const Tile& tile : kTiles) {
    const double rows = std::ceil(m / tile.m), tiles = batch * rows * std::ceil(n / tile.n);
    const double operations =
        2 * tile.m * tile.n / rate * (1 + c[kHalfTile] * (1 / tile.m + 1 / tile.n));  // us for each k
    const double loads = (std::min(tile.m, m) + std::min(tile.n, n)) * bytes / feed;
    const double each = std::max(operations, loads);
    for (double split : kSplits) {
      if (split > 1 && (tiles * split > 2 * unit.units || k < split * kStep)) break;
      const double depth = std::ceil(k / split / kStep) * kStep;
      const double wave = tiles * split / unit.units;
      const double compute =
          (wave <= 1 ? 1 : std::ceil(wave)) * (each * depth + around) + step * depth / kStep;
      // Bytes that a wave of `along` by `across` tiles reads again if the operands do not stay in the cache.
      const double along = std::min(c[kRasterTiles], rows),
                   across = std::min(unit.units, tiles * split) / along;
      const double again = wave * (along * tile.m + across * tile.n) * depth * bytes;
      double us = std::max(compute, std::max(compulsory, miss * again + (1 - miss) * compulsory) / memory);
      if (split > 1) {
        us += c[kSplitCycles] * cycles + split * batch * m * n * 8 / (unit.bytes_per_us * c[kSplitShare]);
      }
      best = std::min(best, us);
    }
  }
  return c[kStartCycles] * cycles + best * (1 + c[kHotShare] * best / (best + c[kHotUs]));
}

}  // namespace chakra::laws
