// Jobs of pipelines and subgroups on known machines (machine.h): ranks hold a share of a stage, all-reduce
// among the shares, send activations on and gradients back, and all-reduce gradients among replicas. A
// capture of such a job, replayed with other durations, must give the times of the machines with these
// durations: exactly, if the capture records groups, peers and waits.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "test/replay/captured_machine.h"
#include "test/sanitized.h"

namespace chakra::CHAKRA_FILE {
namespace {

using pytorch::CommArgs;
using JobOutcome = pytorch::machine::Outcome;
using MachineStep = pytorch::machine::Step;

constexpr int kTp = 2, kDp = 2;                          // ranks are numbered by share, replica, stage
constexpr int kCompute = 0, kShares = 1, kMessages = 2;  // streams

// The ranks of a rendezvous: all members of a group, or both sides of a message, the sender first.
struct Rendezvous {
  std::vector<int> ranks;
  bool message = false;
  bool eager = false;  // the sender goes on before the receiver has come
  int64_t transfer = 0;
};

struct EmulatedJob {
  int stages = 2;
  std::vector<std::vector<MachineStep>> programs;  // by rank
  std::vector<Rendezvous> all_rendezvous;
  std::vector<std::vector<size_t>> met;  // by rank: the rendezvous of its calls, in order

  int ranks() const { return stages * kTp * kDp; }
};

// The facts of communication that a capture records.
enum class CommFacts {
  kAll,    // groups, members and peers
  kKinds,  // kinds of calls, but neither groups nor peers
};

class JobMaker {
 public:
  JobMaker(uint32_t seed, int stages, CommFacts facts, bool eager)
      : random_(seed), facts_(facts), eager_(eager) {
    job_.stages = stages;
    job_.programs.resize(static_cast<size_t>(job_.ranks()));
    job_.met.resize(static_cast<size_t>(job_.ranks()));
  }

  EmulatedJob Make(int micro_batches) {
    for (int m = 0; m < micro_batches; ++m) Forward();
    for (int m = 0; m < micro_batches; ++m) Backward();
    for (int r = 0; r < job_.ranks(); ++r) program(r).push_back({MachineStep::kDeviceSync});
    for (int layer = 0; layer < 2; ++layer) Replicas();
    for (int r = 0; r < job_.ranks(); ++r) {
      Launch(r, 9000);
      program(r).push_back({MachineStep::kDeviceSync});
    }
    return std::move(job_);
  }

 private:
  std::vector<MachineStep>& program(int rank) { return job_.programs[static_cast<size_t>(rank)]; }
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  int StageOf(int rank) const { return rank / (kTp * kDp); }

  void Launch(int rank, int64_t least) {
    program(rank).push_back({MachineStep::kWork, 900 + Below(2500)});
    program(rank).push_back({MachineStep::kLaunch, least + Below(least), kCompute});
  }
  void After(int rank, int stream, int from) {
    program(rank).push_back({MachineStep::kRecordAndWait, 0, stream, from});
  }
  void Call(int rank, int stream, const Rendezvous& rendezvous, const std::string& kernel,
            const std::string& args) {
    MachineStep step = {MachineStep::kAllReduce, rendezvous.transfer, stream};
    step.kernel = kernel;
    step.comm = args;
    program(rank).push_back(step);
    job_.met[static_cast<size_t>(rank)].push_back(job_.all_rendezvous.size());
  }

  void AllReduce(const std::vector<int>& ranks, const std::string& group, int64_t elements) {
    const Rendezvous rendezvous = {ranks, false, false, 5000 + Below(4000)};
    const bool all = facts_ == CommFacts::kAll;
    const std::string args = CommArgs("allreduce", elements, elements, all ? group : "",
                                      all ? absl::StrCat("[", absl::StrJoin(ranks, ", "), "]") : "",
                                      all ? static_cast<int>(ranks.size()) : 0);
    for (const int r : ranks) {
      After(r, kShares, kCompute);
      Call(r, kShares, rendezvous, "ncclDevKernel_AllReduce_", args);
      After(r, kCompute, kShares);
    }
    job_.all_rendezvous.push_back(rendezvous);
  }
  void Shares(int rank, int64_t elements) {
    if (rank % kTp == 0) AllReduce({rank, rank + 1}, absl::StrCat("shares", rank), elements);
  }
  void Message(int from, int to) {
    const Rendezvous rendezvous = {{from, to}, true, eager_, 7000 + Below(5000)};
    for (const int r : {from, to}) {
      const bool sends = r == from;
      After(r, kMessages, kCompute);
      const std::string peer =
          facts_ == CommFacts::kAll
              ? absl::StrCat(sends ? ",\"Dst Rank\":" : ",\"Src Rank\":", sends ? to : from)
              : "";
      Call(r, kMessages, rendezvous, "ncclDevKernel_SendRecv_",
           CommArgs(sends ? "send" : "recv", 4096, 4096, "", "", 0, "Float", peer));
      if (!sends) After(r, kCompute, kMessages);
    }
    job_.all_rendezvous.push_back(rendezvous);
  }
  // The layers of one stage, on all its ranks.
  void Layers(int stage, int64_t least) {
    for (int layer = 0; layer < 2; ++layer) {
      for (int r = 0; r < job_.ranks(); ++r) {
        if (StageOf(r) == stage) Launch(r, least);
      }
      for (int r = 0; r < job_.ranks(); ++r) {
        if (StageOf(r) == stage) Shares(r, 2048);
      }
    }
  }
  void Between(int from, int to) {
    for (int r = 0; r < kTp * kDp; ++r) Message(from * kTp * kDp + r, to * kTp * kDp + r);
  }
  void Forward() {
    for (int s = 0; s < job_.stages; ++s) {
      if (s > 0) Between(s - 1, s);
      Layers(s, 15000);
    }
  }
  void Backward() {
    for (int s = job_.stages; s-- > 0;) {
      if (s + 1 < job_.stages) Between(s + 1, s);
      Layers(s, 30000);
    }
  }
  void Replicas() {
    for (int r = 0; r < job_.ranks(); ++r) {
      if (r / kTp % kDp == 0) AllReduce({r, r + kTp}, absl::StrCat("replicas", r), 65536);
    }
  }

  std::mt19937 random_;
  const CommFacts facts_;
  const bool eager_;
  EmulatedJob job_;
};

// Runs the ranks again until the ends of communication follow from the arrivals of the members. `ends`: by
// rank and call, times that are known to be too early.
std::vector<JobOutcome> RunJob(const EmulatedJob& job, bool profile,
                            std::vector<std::vector<int64_t>> ends = {}) {
  const auto n = static_cast<size_t>(job.ranks());
  ends.resize(n);
  for (bool again = true;;) {
    std::vector<JobOutcome> out;
    for (size_t r = 0; r < n; ++r) {
      out.push_back(pytorch::machine::Run(
          job.programs[r], {.sync_rows = true, .collective_ends = ends[r], .profile = profile && !again}));
    }
    std::map<size_t, int64_t> last, sent;
    for (size_t r = 0; r < n; ++r) {
      for (size_t k = 0; k < job.met[r].size(); ++k) {
        const size_t m = job.met[r][k];
        const auto [at, fresh] = last.emplace(m, out[r].arrivals[k]);
        at->second = std::max(at->second, out[r].arrivals[k]);
        if (static_cast<int>(r) == job.all_rendezvous[m].ranks[0]) sent[m] = out[r].arrivals[k];
      }
    }
    if (!again) return out;
    again = false;
    for (size_t r = 0; r < n; ++r) {
      ends[r].resize(job.met[r].size());
      for (size_t k = 0; k < ends[r].size(); ++k) {
        const Rendezvous& rendezvous = job.all_rendezvous[job.met[r][k]];
        const bool leaves = rendezvous.eager && static_cast<int>(r) == rendezvous.ranks[0];
        const int64_t end = leaves ? sent[job.met[r][k]] + rendezvous.transfer / 4
                                   : last[job.met[r][k]] + rendezvous.transfer;
        again |= end != ends[r][k];
        ends[r][k] = end;
      }
    }
  }
}

// How well the replay of a capture predicts the effect of changes.
struct Score {
  uint64_t events = 0, right = 0;       // all
  uint64_t moved = 0, moved_right = 0;  // those that the change moves
  uint64_t elsewhere = 0;               // of these on other ranks
  std::string first_wrong;
};

void Compare(const EmulatedJob& job, const Captured& capture, const std::vector<JobOutcome>& before, int rank,
             size_t step, int64_t more, Score* score) {
  EmulatedJob changed = job;
  MachineStep& s = changed.programs[static_cast<size_t>(rank)][step];
  s.time += more;
  const std::string name = absl::StrCat(s.what == MachineStep::kLaunch ? "kernel" : "work", step);
  const std::vector<JobOutcome> after = RunJob(changed, false);
  const NodeSpans spans = capture.Replayed(rank, name, Time::Nanos(more));
  for (int r = 0; r < job.ranks(); ++r) {
    const auto index = static_cast<size_t>(r);
    for (const auto& [event, begin] : after[index].begin) {
      if (!event.starts_with("kernel") && !event.starts_with("work") && !event.starts_with("nccl")) continue;
      const bool moved = begin != before[index].begin.at(event);
      const int64_t found = spans[index][capture.RowOf(r, event)].begin.picos();
      const bool right = found == begin * 1000;
      ++score->events;
      score->right += right ? 1 : 0;
      score->moved += moved ? 1 : 0;
      score->moved_right += moved && right ? 1 : 0;
      score->elsewhere += moved && r != rank ? 1 : 0;
      if (!right && score->first_wrong.empty()) {
        score->first_wrong = absl::StrCat(name, " of rank ", rank, " longer by ", more, ": ", event,
                                          " of rank ", r, " began at ", before[index].begin.at(event),
                                          ", begins at ", begin, ", replayed ", found / 1000);
      }
    }
  }
}

// Changes of some kernels and operators of each rank, in jobs of several seeds.
Score ScoreOf(int stages, CommFacts facts, bool eager) {
  Score score;
  for (uint32_t seed = 0; seed < (kSanitized ? 1 : 4); ++seed) {
    const EmulatedJob job =
        JobMaker(100 * static_cast<uint32_t>(stages) + seed, stages, facts, eager).Make(3);
    const std::vector<JobOutcome> before = RunJob(job, true);
    const Captured capture(Profiles(before));
    if (capture.traces().ranks.size() != before.size()) return score;
    for (int r = 0; r < job.ranks(); ++r) {
      const auto& program = job.programs[static_cast<size_t>(r)];
      for (size_t i = 3 + static_cast<size_t>(r); i < program.size(); i += kSanitized ? 61 : 37) {
        if (program[i].what != MachineStep::kLaunch && program[i].what != MachineStep::kWork) continue;
        const int64_t more = i % 2 == 0 ? 40000 : -program[i].time / 2;
        Compare(job, capture, before, r, i, more, &score);
      }
    }
  }
  return score;
}

TEST(JobMachine, ReplaysPipelinesAndSubgroupsExactly) {
  for (const int stages : {1, 2, 4}) {
    const Score score = ScoreOf(stages, CommFacts::kAll, false);
    EXPECT_EQ(score.right, score.events) << stages << " stages: " << score.first_wrong;
    EXPECT_GT(score.moved, score.events / 20);
    EXPECT_GT(score.elsewhere, score.moved / 4) << "changes reach other ranks through what they share";
  }
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The capture names neither groups nor peers, and calls of both kinds of groups are on one stream. Sizes,
// order and times identify them, except the two calls among replicas whose members begin together.
TEST(JobMachine, ReplaysInferredGroupsAndPeersClosely) {
  struct Least {
    int stages;
    double right, moved_right;  // measured: 1 and 1, 0.998 and 0.992, 1 and 1
  };
  for (const Least& least : {Least{1, 0.995, 0.97}, Least{2, 0.995, 0.97}, Least{4, 0.995, 0.97}}) {
    const Score score = ScoreOf(least.stages, CommFacts::kKinds, false);
    EXPECT_GE(Share(score.right, score.events), least.right) << least.stages << ": " << score.first_wrong;
    EXPECT_GE(Share(score.moved_right, score.moved), least.moved_right)
        << least.stages << ": " << score.first_wrong;
  }
}

// Eager senders do not wait. If a sender came after its receiver, the capture does not show that.
TEST(JobMachine, ReplaysEagerSendsWithLateReceivers) {
  const Score score = ScoreOf(2, CommFacts::kAll, true);
  EXPECT_EQ(score.moved_right, score.moved) << score.first_wrong;
  EXPECT_GE(Share(score.right, score.events), 0.99) << score.first_wrong;
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
