// Infers the collective and the number of ranks from rows, if no line contains them.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/calibrate/nccl_tests_rows.h"

namespace chakra::nccl_tests {
namespace {

constexpr int kMaxInferredRanks = 4096;
constexpr size_t kSampledHalves = 16;

struct Sample {
  const Half* half;
  uint64_t size;
};

// The most informative halves: those with the largest bandwidth.
std::vector<Sample> Samples(const Run& run) {
  std::vector<Sample> all;
  for (const Row& row : run.rows) {
    for (const Half& half : row.halves) {
      if (row.size > 0 && half.alg.present && half.bus.present && half.alg.value > 0) {
        all.push_back({&half, row.size});
      }
    }
  }
  const auto digits = [](const Sample& s) { return s.half->alg.value / s.half->alg.half; };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Sample& a, const Sample& b) { return digits(a) > digits(b); });
  if (all.size() > kSampledHalves) all.resize(kSampledHalves);
  return all;
}

// Whether at least three quarters of the samples agree with `test` on n ranks.
bool MostFit(const std::vector<Sample>& samples, Test test, int n) {
  size_t odd = 0;
  for (const Sample& s : samples) {
    if (Fits(*s.half, s.size, test, n, 1)) continue;
    if (MovesBlocks(test) && Fits(*s.half, s.size, test, n, n)) continue;
    if (++odd * 4 > samples.size()) return false;
  }
  return true;
}

// The number of blocks in the buffer: size / (count * element), if equal in all rows; else 0.
int Blocks(const Run& run) {
  uint64_t blocks = 0;
  for (const Row& row : run.rows) {
    const uint64_t element = static_cast<uint64_t>(ElementBytes(row.dtype));
    if (element == 0 || !row.count || *row.count == 0 || row.size == 0) continue;
    if (*row.count > row.size / element) return 0;
    const uint64_t block = *row.count * element;
    if (row.size % block != 0 || (blocks != 0 && row.size / block != blocks)) return 0;
    blocks = row.size / block;
  }
  return blocks <= (1u << 22) ? static_cast<int>(blocks) : 0;
}

// The tests that the columns redop and root allow: both columns from version 2.13 on ("none", -1); before, a
// test printed only the columns that it used.
std::vector<Test> TestsOfColumns(const Row& row) {
  using enum Test;
  const bool op = row.redop && !row.redop->empty() && *row.redop != "none";
  const bool rooted = row.root && *row.root >= 0;
  if (row.redop && row.root) {
    if (row.redop->empty()) return {kHypercube, kAllToAllV};
    if (op)
      return rooted ? std::vector<Test>{kReduce} : std::vector<Test>{kAllReduce, kReduceScatter, kSendRecv};
    return rooted ? std::vector<Test>{kBroadcast, kGather, kScatter}
                  : std::vector<Test>{kAllGather, kAllToAll};
  }
  if (row.redop)
    return op ? std::vector<Test>{kAllReduce, kReduceScatter, kAllToAll} : std::vector<Test>{kAllToAll};
  if (row.root) return {kBroadcast, kGather, kScatter};
  return {kAllGather, kSendRecv, kHypercube};
}

bool Overlap(double low, double high, double low2, double high2) {
  constexpr double kSlack = 0.003;
  return low * (1 - kSlack) <= high2 && low2 <= high * (1 + kSlack);
}

}  // namespace

bool Fits(const Half& half, uint64_t size, Test test, int n, uint64_t scale) {
  if (!half.alg.present) return true;
  const double a0 = std::max(0.0, half.alg.value - half.alg.half);
  const double a1 = half.alg.value + half.alg.half;
  const double share = (n - 1.0) / n;
  const bool blocks = MovesBlocks(test);
  // busbw / algbw (PERFORMANCE.md of nccl-tests). Before 2.13, algbw of these tests counted only the n - 1
  // blocks that move, and busbw was equal to algbw.
  const double factor[2] = {test == Test::kAllReduce ? 2 * share : blocks ? share : 1.0, 1.0};
  const double moved[2] = {1.0, share};
  for (int style = 0; style < (blocks ? 2 : 1); ++style) {
    const double bytes = static_cast<double>(size) * static_cast<double>(scale) * moved[style];
    const double t1 = half.time.value + half.time.half;
    const double t0 = std::max(half.time.value - half.time.half, 0.0);
    const bool timed = half.cpu_time || !half.time.present || t1 <= 0 ||
                       Overlap(a0, a1, bytes / t1 / 1000, t0 > 0 ? bytes / t0 / 1000 : INFINITY);
    const bool bus =
        !half.bus.present || Overlap(a0 * factor[style], a1 * factor[style], half.bus.value - half.bus.half,
                                     half.bus.value + half.bus.half);
    if (timed && bus) return true;
  }
  return false;
}

absl::Status FindTest(const Run& run, const Output& out, Test* test, std::string* doubt) {
  if (run.test) {
    *test = *run.test;
    return absl::OkStatus();
  }
  const Row& row = run.rows[0];
  std::vector<Test> fit = TestsOfColumns(row);
  const int blocks = Blocks(run);
  if (blocks > 0) {
    std::erase_if(fit, [&](Test t) { return t != Test::kAllToAllV && MovesBlocks(t) != (blocks > 1); });
  }
  const auto has = [&](Test t) { return std::find(fit.begin(), fit.end(), t) != fit.end(); };
  if (has(Test::kAllReduce) && has(Test::kSendRecv)) {
    const std::vector<Sample> samples = Samples(run);
    const bool equal = !samples.empty() && MostFit(samples, Test::kSendRecv, 2);
    if (!equal) {
      std::erase(fit, Test::kSendRecv);
    } else if (run.ranks > 2) {
      std::erase(fit, Test::kAllReduce);
    }
  }
  const size_t slash = out.path().rfind('/');
  const std::optional<Test> named =
      TestIn(slash == std::string::npos ? out.path() : absl::string_view(out.path()).substr(slash + 1));
  if (named && has(*named)) {
    *test = *named;
    return absl::OkStatus();
  }
  if (fit.size() == 2 && has(Test::kHypercube) && has(Test::kAllToAllV)) fit.pop_back();
  if (fit.size() == 2 && has(Test::kAllReduce) && has(Test::kSendRecv) && run.ranks == 2) {
    *doubt = "all_reduce and sendrecv print the same on 2 ranks: read as all_reduce";
    fit = {Test::kAllReduce};
  }
  if (fit.size() == 1) {
    *test = fit[0];
    return absl::OkStatus();
  }
  const std::string names =
      absl::StrJoin(fit, ", ", [](std::string* s, Test t) { absl::StrAppend(s, Name(t)); });
  return out.Error(
      row.line,
      absl::StrCat("cannot determine the collective of this row (",
                   fit.empty() ? absl::StrCat("redop, root and ", blocks, " blocks in the buffer fit none")
                               : absl::StrCat("it may be ", names),
                   "); expected a line \"# Collective test starting: all_reduce_perf\" or the command before "
                   "it, or a file name such as all_reduce.log"));
}

absl::Status FindRanks(const Run& run, Test test, const Output& out, int* ranks, std::string* doubt) {
  const std::vector<Sample> samples = Samples(run);
  const int said = run.ranks;
  if (said > 1 && MostFit(samples, test, said)) {
    *ranks = said;
    return absl::OkStatus();
  }
  const int line = run.rows[0].line;
  std::vector<int> fit;
  if (!samples.empty() && test != Test::kReduce && test != Test::kBroadcast) {
    const int blocks = MovesBlocks(test) ? Blocks(run) : 0;
    if (blocks > 1 && MostFit(samples, test, blocks)) {
      fit = {blocks};
    } else {
      for (int n = 2; n <= kMaxInferredRanks && fit.size() < 3; ++n) {
        if (MostFit(samples, test, n)) fit.push_back(n);
      }
    }
  }
  if (fit.size() == 1) {
    *ranks = fit[0];
    if (said > 0) {
      *doubt = absl::StrCat("the lines before the table show ", said, " ranks, but busbw / algbw fits ",
                            *ranks, " ranks, which are used");
    }
    return absl::OkStatus();
  }
  if (said > 1) {
    return out.Error(line, absl::StrCat("time, algbw and busbw are not those of a ", Name(test), " on ", said,
                                        " ranks, the number in the lines before the table"));
  }
  return out.Error(line, absl::StrCat("cannot determine how many ranks ran this ", Name(test),
                                      ": no line \"#  Rank  0 "
                                      "Group  0 Pid ...\" before it, and busbw / algbw ",
                                      fit.empty() ? "fits no number of ranks"
                                                  : absl::StrCat("fits ", fit[0], " and ", fit[1], " ranks"),
                                      "; expected such lines, one for each rank"));
}

}  // namespace chakra::nccl_tests
