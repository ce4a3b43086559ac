// A long run that fails and starts again: exact expectations, and a simulation of the same.
//
// The run alternates work of `interval` and a save that blocks for `block`. Failures come at a constant rate, whatever
// the run does, and while it restarts too. A failure costs what was done since the last save that is on storage,
// `detect`, and `restart`, which itself can fail.
#pragma once

#include <cstdint>

namespace chakra::goodput {

// Seconds.
struct Cycle {
  double between = 0;   // mean time between failures of the whole run; 0: none
  double interval = 0;  // work between saves
  double block = 0;     // that a save keeps the run from work
  double persist = 0;   // after the block, until the save counts; at most interval
  double restart = 0;   // and load
  double detect = 0;    // and waiting, in which no further failure counts
};

// Seconds of run for each second of work: exp(R / M) (M + D) (exp((t + C) / M) - 1) / t; 1 + C / t without failures.
// Exact where persist is 0. An asynchronous save that is not yet on storage costs the work since the save before it:
// its persist time is lost work at each failure, to first order in persist / M.
double TimeOfWork(const Cycle& cycle);
inline double Goodput(const Cycle& cycle) { return 1 / TimeOfWork(cycle); }

// Work between saves: the best, t = M (1 + W0(-exp(-C / M - 1))); Young's sqrt(2 C M); Daly's.
double BestInterval(double between, double block);
double YoungInterval(double between, double block);
double DalyInterval(double between, double block);

// Principal branch of Lambert's W for x in [-1/e, 0].
double LambertW0(double x);

// Meta's approximation of the effective training time ratio (Kokolis et al., arXiv 2410.21680): additive, so low where
// losses are large. `restart` and `detect` together are its u0.
double MetaGoodput(const Cycle& cycle);

// Where the time of a run goes, in seconds.
struct Spent {
  double work = 0;      // that counts
  double saves = 0;     // blocked
  double lost = 0;      // work and saves done again
  double detection = 0;
  double restarts = 0;  // those that failed too
  uint64_t failures = 0;
  double all() const { return work + saves + lost + detection + restarts; }
};

// One run of `work` seconds, failure by failure. Same seed, same run.
Spent SimulateRun(const Cycle& cycle, double work, uint64_t seed);

// The mean of `runs` runs of `work` seconds, and the standard error of their effective share.
struct Simulated {
  Spent mean;
  double goodput = 0;  // work over all, over all runs
  double error = 0;
};
Simulated SimulateRuns(const Cycle& cycle, double work, int runs, uint64_t seed);

// The fewest spare nodes with which, with `probability`, no more nodes are in repair at once; `in_repair` on average.
int SparesFor(double in_repair, double probability);
// The share of failures that find fewer than `spares` nodes in repair, and so a spare.
double ChanceOfSpare(double in_repair, int spares);

}  // namespace chakra::goodput
