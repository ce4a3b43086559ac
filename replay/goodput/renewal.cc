#include "replay/goodput/renewal.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace chakra::goodput {
namespace {

constexpr int kMostSpares = 1000000;

// Exponential times from one stream of random bits, the same on every machine.
class Failures {
 public:
  Failures(double between, uint64_t seed) : between_(between), bits_(seed) {}
  // The time until the next failure.
  double Next() {
    if (between_ <= 0) return HUGE_VAL;
    const double uniform = (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53;
    return -between_ * std::log(uniform);
  }

 private:
  double between_;
  std::mt19937_64 bits_;
};

// Restarts until one succeeds.
void Restart(const Cycle& cycle, Failures* failures, Spent* spent) {
  for (;;) {
    spent->detection += cycle.detect;
    const double next = failures->Next();
    if (next >= cycle.restart) {
      spent->restarts += cycle.restart;
      return;
    }
    spent->restarts += next;
    ++spent->failures;
  }
}

}  // namespace

double TimeOfWork(const Cycle& c) {
  if (c.interval <= 0) return HUGE_VAL;
  if (c.between <= 0) return 1 + c.block / c.interval;
  const double m = c.between;
  const double cycle = std::exp(c.restart / m) * (m + c.detect) * std::expm1((c.interval + c.block) / m);
  // A failure within `persist` after a save also loses the interval before the save.
  const double late = std::expm1(std::min(c.persist, c.interval) / m);
  return (cycle + late * c.interval) / c.interval;
}

double LambertW0(double x) {
  if (x <= -std::exp(-1.0)) return -1;
  // Start: the series near the branch point, else the logarithm. Then Halley's iteration.
  const double p = std::sqrt(2 * (std::exp(1.0) * x + 1));
  double w = p < 1 ? -1 + p - p * p / 3 + 11 * p * p * p / 72 : std::log1p(x);
  for (int i = 0; i < 40; ++i) {
    const double e = std::exp(w), f = w * e - x;
    if (w <= -1) return -1;
    const double step = f / (e * (w + 1) - (w + 2) * f / (2 * w + 2));
    w -= step;
    if (std::fabs(step) < 1e-16) break;
  }
  return w;
}

double BestInterval(double between, double block) {
  if (between <= 0 || block <= 0) return 0;
  return between * (1 + LambertW0(-std::exp(-block / between - 1)));
}

double YoungInterval(double between, double block) { return std::sqrt(2 * block * between); }

double DalyInterval(double between, double block) {
  if (between <= 0) return 0;
  if (block >= 2 * between) return between;
  const double ratio = block / (2 * between);
  return std::sqrt(2 * block * between) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - block;
}

double MetaGoodput(const Cycle& c) {
  if (c.interval <= 0) return 0;
  const double rate = c.between > 0 ? 1 / c.between : 0;
  return std::max(0.0, (1 - rate * (c.restart + c.detect + c.interval / 2)) / (1 + c.block / c.interval));
}

Spent SimulateRun(const Cycle& cycle, double work, uint64_t seed) {
  Failures failures(cycle.between, seed);
  Spent spent;
  double left = failures.Next();  // time until the next failure
  double safe = 0, done = 0;      // work on storage; work done since the start or the last load
  double pending = -1;            // >= 0: a save is not on storage yet; < 0: none
  while (safe < work) {
    // A cycle: work, then the save. Only saved work counts.
    const double part = cycle.interval + cycle.block;
    const bool counts_late = pending >= 0 && cycle.persist > 0;
    if (left >= part) {
      left -= part;
      if (counts_late) safe = done;  // persist <= interval, so the save has reached storage
      done += cycle.interval;
      pending = cycle.persist > 0 ? 0 : -1;
      if (pending < 0) safe = done;
      spent.saves += cycle.block;
      spent.work += cycle.interval;
      if (cycle.persist > 0 && done >= work) break;
      continue;
    }
    if (counts_late && left >= cycle.persist) safe = done;
    const double again = done - safe;  // whole intervals whose save was not on storage
    spent.work -= again;
    spent.saves -= again > 0 ? cycle.block * again / cycle.interval : 0;
    spent.lost += left + again + (again > 0 ? cycle.block * again / cycle.interval : 0);
    done = safe;
    pending = -1;
    ++spent.failures;
    Restart(cycle, &failures, &spent);
    // Failures have no memory, so a new time is drawn after the restart.
    left = failures.Next();
  }
  return spent;
}

Simulated SimulateRuns(const Cycle& cycle, double work, int runs, uint64_t seed) {
  Simulated out;
  double sum = 0, squares = 0;
  for (int i = 0; i < runs; ++i) {
    const Spent one = SimulateRun(cycle, work, seed + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u);
    const double ratio = one.all() / std::max(one.work, 1e-300);
    sum += ratio;
    squares += ratio * ratio;
    out.mean.work += one.work / runs;
    out.mean.saves += one.saves / runs;
    out.mean.lost += one.lost / runs;
    out.mean.detection += one.detection / runs;
    out.mean.restarts += one.restarts / runs;
    out.mean.failures += one.failures;
  }
  out.mean.failures /= static_cast<uint64_t>(runs);
  const double mean = sum / runs;
  const double variance = runs > 1 ? std::max(0.0, (squares - runs * mean * mean) / (runs - 1)) : 0;
  out.goodput = 1 / mean;
  out.error = std::sqrt(variance / runs) / (mean * mean);  // standard error of 1 / mean
  return out;
}

double ChanceOfSpare(double in_repair, int spares) {
  // Poisson distribution: P(fewer than `spares` in repair).
  double term = std::exp(-in_repair), sum = 0;
  for (int k = 0; k < spares; ++k) {
    sum += term;
    term *= in_repair / (k + 1);
  }
  return std::min(1.0, sum);
}

int SparesFor(double in_repair, double probability) {
  for (int s = 0; s < kMostSpares; ++s) {
    if (ChanceOfSpare(in_repair, s + 1) >= probability) return s;
  }
  return kMostSpares;
}

}  // namespace chakra::goodput
