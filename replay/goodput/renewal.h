// A long run that fails and restarts: exact expectations, and a simulation of the same model.
//
// The run alternates between work for `interval` and a save that blocks for `block`. Failures come at a
// constant rate, also during saves and restarts, but not during detection. A failure costs the work since the
// last save that is on storage, `detect`, and `restart`, which can fail too.
#pragma once

#include <cstdint>

namespace chakra::goodput {

// All values are in seconds.
struct Cycle {
  double between = 0;   // mean time between failures of the whole run; 0: none
  double interval = 0;  // work between saves
  double block = 0;     // time that a save blocks the run
  double persist = 0;   // time after the block until the save is on storage; at most interval
  double restart = 0;   // restart and load
  double detect = 0;    // detection and waiting; no failure can happen meanwhile
};

// Time per second of work: exp(R / M) (M + D) (exp((t + C) / M) - 1) / t; 1 + C / t without failures. Exact
// if persist is 0. A failure before an asynchronous save is on storage also loses the interval before it.
// That term is of first order in persist / M.
double TimeOfWork(const Cycle& cycle);
inline double Goodput(const Cycle& cycle) { return 1 / TimeOfWork(cycle); }

// Intervals between saves: the optimum t = M (1 + W0(-exp(-C / M - 1))); Young's sqrt(2 C M); Daly's.
double BestInterval(double between, double block);
double YoungInterval(double between, double block);
double DalyInterval(double between, double block);

// The principal branch of Lambert's W for x in [-1/e, 0].
double LambertW0(double x);

// Meta's approximation of the effective training time ratio (Kokolis et al., arXiv 2410.21680). It adds
// losses up, so it is low if losses are large. `restart` + `detect` are its u0.
double MetaGoodput(const Cycle& cycle);

// The time of a run by use, in seconds.
struct Spent {
  double work = 0;   // work that counts
  double saves = 0;  // blocked by saves
  double lost = 0;   // work and saves done again
  double detection = 0;
  double restarts = 0;  // successful and failed
  uint64_t failures = 0;
  double all() const { return work + saves + lost + detection + restarts; }
};

// Simulates one run of `work` seconds, failure by failure. Equal seeds give equal runs.
Spent SimulateRun(const Cycle& cycle, double work, uint64_t seed);

// The mean of `runs` runs of `work` seconds, and the standard error of their goodput.
struct Simulated {
  Spent mean;
  double goodput = 0;  // 1 / mean of (all / work) over the runs
  double error = 0;
};
Simulated SimulateRuns(const Cycle& cycle, double work, int runs, uint64_t seed);

// The minimum number of spare nodes such that, with `probability`, at most that many nodes are in repair at
// once. `in_repair`: the mean number of nodes in repair.
int SparesFor(double in_repair, double probability);
// The probability that fewer than `spares` nodes are in repair.
double ChanceOfSpare(double in_repair, int spares);

}  // namespace chakra::goodput
