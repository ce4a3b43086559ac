#include "trace/import/join/infer_groups.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A job whose groups are known: tensor x data x pipeline parallel. Each rank's clock has its own error.
struct Job {
  int tensor = 2, data = 2, stages = 1;
  int steps = 4, layers = 4;
  int64_t compute = 300000, jitter = 50000;  // ns of a layer
  int64_t transfer = 80000, noise = 3000;    // ns of a collective, and the variation of its ends
  int per_machine = 1 << 20;                 // ranks of a machine
  bool machines_known = true;
  int64_t clocks_off = 0;  // up to, between machines
  bool step_marks = true;
  bool one_size = false;    // all collectives are of one size
  bool world_calls = true;  // one call of all ranks in each step
  bool uneven_windows = false;

  int ranks() const { return tensor * data * stages; }
};

// The recorded calls, and the true groups.
struct Recorded {
  std::vector<CallStream> streams;
  std::vector<std::vector<int>> truth;
};

class Simulator {
 public:
  Simulator(const Job& job, uint32_t seed)
      : job_(job), random_(seed), now_(static_cast<size_t>(job.ranks())) {}

  Recorded Run() {
    const int n = job_.ranks();
    for (step_ = 0; step_ < job_.steps; ++step_) {
      for (int s = 0; s < job_.stages; ++s) Pass(s, s - 1, s % 2 == 0 ? job_.layers : job_.layers + 1);
      for (int s = job_.stages; s-- > 0;) Pass(s, s + 1, job_.layers);
      for (int s = 0; s < job_.stages; ++s) {
        for (int b = 0; b < 3; ++b) {
          for (int t = 0; t < job_.tensor; ++t) {
            for (const int r : DataGroup(s, t)) Now(r) += 20000 + Below(job_.jitter);
            Collective("dp", DataGroup(s, t), job_.one_size ? 1 : 2);
          }
        }
      }
      std::vector<int> all;
      for (int r = 0; r < n; ++r) all.push_back(r);
      for (int r = 0; r < n; ++r) Now(r) += 100000 + Below(job_.jitter);
      if (job_.world_calls) Collective("world", all, 3);
    }
    return Record();
  }

 private:
  int64_t Below(int64_t n) { return n <= 0 ? 0 : static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  int64_t& Now(int r) { return now_[static_cast<size_t>(r)]; }
  std::vector<int> TensorGroup(int stage, int d) const {
    std::vector<int> group;
    for (int t = 0; t < job_.tensor; ++t) group.push_back((stage * job_.data + d) * job_.tensor + t);
    return group;
  }
  std::vector<int> DataGroup(int stage, int t) const {
    std::vector<int> group;
    for (int d = 0; d < job_.data; ++d) group.push_back((stage * job_.data + d) * job_.tensor + t);
    return group;
  }
  // A stage's layers, after those of stage `after`.
  void Pass(int stage, int after, int layers) {
    for (int d = 0; d < job_.data; ++d) {
      for (const int r : TensorGroup(stage, d)) {
        const int from = r + (after - stage) * job_.data * job_.tensor;
        if (after >= 0 && after < job_.stages) Now(r) = std::max(Now(r), Now(from) + 20000);
      }
      for (int l = 0; l < layers; ++l) {
        for (const int r : TensorGroup(stage, d)) Now(r) += job_.compute + Below(job_.jitter);
        if (job_.tensor > 1) Collective("tp", TensorGroup(stage, d), 1);
      }
    }
  }
  void Collective(const std::string& what, const std::vector<int>& group, uint64_t key) {
    if (group.size() < 2) return;
    int64_t last = 0;
    for (const int r : group) last = std::max(last, Now(r) += 5000 + Below(5000));
    const int64_t end = last + job_.transfer + static_cast<int64_t>(key) * 1000;
    for (const int r : group) {
      auto& [calls, members] = calls_[r][what];
      members = group;
      const int64_t own = end + Below(job_.noise);
      calls.push_back({key, job_.step_marks ? step_ : StreamCall::kNoStep, Now(r), own, true});
      Now(r) = own;
    }
  }
  Recorded Record() {
    Recorded out;
    std::map<int, int64_t> clock;  // by machine
    for (auto& [r, streams] : calls_) {
      const int machine = r / job_.per_machine;
      const int64_t off = clock.try_emplace(machine, Below(job_.clocks_off)).first->second;
      for (auto& [what, made] : streams) {
        auto& [calls, members] = made;
        CallStream stream;
        stream.rank = r;
        stream.machine = job_.machines_known ? machine : -1;
        for (StreamCall& c : calls) {
          c.begin += off;
          c.end += off;
        }
        if (job_.uneven_windows) calls.erase(calls.begin(), calls.begin() + Below(3));
        stream.calls = calls;
        out.streams.push_back(std::move(stream));
        out.truth.push_back(members);
      }
    }
    return out;
  }

  const Job job_;
  std::mt19937 random_;
  int step_ = 0;
  std::vector<int64_t> now_;
  std::map<int, std::map<std::string, std::pair<std::vector<StreamCall>, std::vector<int>>>> calls_;
};

struct Score {
  int right = 0, guessed = 0, wrong = 0;
  std::string first_wrong;
};

void Count(const Recorded& recorded, const std::vector<InferredGroup>& groups, Score* score) {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].origin != GroupOrigin::kInferred) {
      ++score->guessed;
    } else if (groups[i].ranks == recorded.truth[i]) {
      ++score->right;
    } else {
      ++score->wrong;
      if (score->first_wrong.empty()) {
        score->first_wrong =
            absl::StrCat("rank ", recorded.streams[i].rank, ": ", absl::StrJoin(groups[i].ranks, ","),
                         " for ", absl::StrJoin(recorded.truth[i], ","), ": ", groups[i].evidence);
      }
    }
  }
}

Job RandomJob(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::initializer_list<int64_t> of) { return *(of.begin() + random() % of.size()); };
  Job job;
  do {
    job.tensor = static_cast<int>(pick({1, 2, 3, 4, 8}));
    job.data = static_cast<int>(pick({1, 2, 4, 6}));
    job.stages = static_cast<int>(pick({1, 2, 4}));
  } while (job.ranks() < 4 || job.ranks() > 16);
  job.steps = static_cast<int>(pick({2, 4, 8}));
  job.layers = static_cast<int>(pick({1, 3, 6}));
  job.jitter = pick({0, 2000, 20000, 100000, 400000});
  job.noise = pick({1, 2000, 10000});
  job.per_machine = static_cast<int>(pick({1, 2, 8, 64}));
  job.machines_known = random() % 2 == 0;
  job.clocks_off = pick({0, 1000000, 500000000});
  job.step_marks = random() % 2 == 0;
  job.one_size = random() % 2 == 0;
  job.world_calls = random() % 2 == 0;
  job.uneven_windows = random() % 4 == 0;
  return job;
}

// No group may be wrong in these jobs, although many of them give no evidence (no jitter, two steps, ends
// that vary as much as begins do).
TEST(InferGroups, NeverInfersWrongGroupsOfRandomJobs) {
  Score score;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    const Job job = RandomJob(seed);
    const Recorded recorded = Simulator(job, seed).Run();
    Count(recorded, InferGroups(recorded.streams, job.ranks(), job.ranks()), &score);
    ASSERT_EQ(score.wrong, 0) << "seed " << seed << ", " << job.tensor << " x " << job.data << " x "
                              << job.stages << ": " << score.first_wrong;
  }
  EXPECT_GT(score.right, (score.right + score.guessed) / 3);
}

// Jobs with clear evidence: ranks wait for each other far longer than ends vary.
TEST(InferGroups, InfersAllGroupsOfClearJobs) {
  for (const bool known : {true, false}) {
    for (const auto& [tensor, data, stages] : std::vector<std::tuple<int, int, int>>{
             {2, 2, 1}, {2, 4, 1}, {4, 2, 1}, {2, 2, 2}, {4, 4, 1}, {8, 2, 1}, {2, 2, 4}, {1, 8, 1}}) {
      Job job;
      job.tensor = tensor;
      job.data = data;
      job.stages = stages;
      job.steps = 8;
      job.jitter = 200000;
      job.noise = 2000;
      job.per_machine = 4;
      job.machines_known = known;
      job.clocks_off = 300000000;
      const Recorded recorded = Simulator(job, 7).Run();
      Score score;
      Count(recorded, InferGroups(recorded.streams, job.ranks(), job.ranks()), &score);
      EXPECT_EQ(score.wrong, 0) << score.first_wrong;
      EXPECT_EQ(score.guessed, 0) << tensor << " x " << data << " x " << stages;
    }
  }
}

TEST(InferGroups, InfersGroupsOfHundredsOfRanks) {
  Job job;
  job.tensor = 8;
  job.data = 64;
  job.steps = 6;
  job.layers = 8;
  job.jitter = 200000;
  job.machines_known = false;
  const Recorded recorded = Simulator(job, 3).Run();
  Score score;
  Count(recorded, InferGroups(recorded.streams, job.ranks(), job.ranks()), &score);
  EXPECT_EQ(score.wrong, 0) << score.first_wrong;
  EXPECT_GE(score.right, 2 * 512) << "tensor and data groups at least";
}

// A stream whose calls begin and end at these times.
CallStream StreamOf(int rank, const std::vector<std::pair<int64_t, int64_t>>& times) {
  CallStream stream;
  stream.rank = rank;
  stream.machine = 0;
  for (const auto& [begin, end] : times)
    stream.calls.push_back({1, static_cast<int64_t>(stream.calls.size()), begin, end, true});
  return stream;
}

TEST(InferGroups, UsesSizesWhereTimesAreUnclear) {
  std::vector<CallStream> streams;
  for (int r = 0; r < 8; ++r) {
    streams.push_back(StreamOf(r, {{0, 100000}}));
    streams.back().size = 8;
    streams.back().size_from = "reduce_scatter's input by its output";
  }
  const std::vector<InferredGroup> groups = InferGroups(streams, 8, 8);
  EXPECT_EQ(groups[3].origin, GroupOrigin::kInferred);
  EXPECT_THAT(groups[3].ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(groups[3].evidence, HasSubstr("reduce_scatter's input by its output shows groups of 8"));
  for (CallStream& s : streams) s.size = 4;
  EXPECT_EQ(InferGroups(streams, 8, 8)[0].origin, GroupOrigin::kGuessed)
      << "which four, one call does not tell";
  EXPECT_EQ(InferGroups(streams, 8, 8)[0].ranks.size(), 4u);
  for (CallStream& s : streams) s.size = 3;
  EXPECT_EQ(InferGroups(streams, 8, 8)[0].origin, GroupOrigin::kUnknown) << "8 ranks are no groups of 3";
}

TEST(InferGroups, SeparatesCallsThatDoNotOverlap) {
  std::vector<CallStream> streams;
  for (int r = 0; r < 4; ++r) {
    std::vector<std::pair<int64_t, int64_t>> times;
    for (int i = 0; i < 6; ++i) {
      const int64_t at = i * 1000000 + (r / 2 == i % 2 ? 400000 : 0);
      const int64_t late = 20000 + i * 9000;
      times.push_back({at + (r % 2 == i / 2 % 2 ? late : 0), at + late + 60000});
    }
    streams.push_back(StreamOf(r, times));
  }
  const std::vector<InferredGroup> groups = InferGroups(streams, 4, 4);
  EXPECT_EQ(groups[0].origin, GroupOrigin::kInferred) << groups[0].evidence;
  EXPECT_THAT(groups[0].ranks, ElementsAre(0, 1));
  EXPECT_THAT(groups[3].ranks, ElementsAre(2, 3));
  EXPECT_THAT(groups[0].evidence, HasSubstr("contradicted are 2 of 3 splits"));
  // If nothing says that the clocks are one, the same calls contradict the same splits.
  for (CallStream& s : streams) s.machine = -1;
  EXPECT_THAT(InferGroups(streams, 4, 4)[0].ranks, ElementsAre(0, 1));
}

TEST(InferGroups, DifferentBeginsAreNoEvidenceOfAGroup) {
  // They end together except for noise, and their durations vary: nothing shows that they wait for each
  // other.
  std::vector<CallStream> streams;
  const int64_t took[] = {300000, 9000000, 1000000, 6000000, 400000, 2000000};
  for (int r = 0; r < 3; ++r) {
    std::vector<std::pair<int64_t, int64_t>> times;
    for (int i = 0; i < 6; ++i) {
      const int64_t end = (i + 1) * 20000000;
      times.push_back({end - took[(i * 5 + r) % 6], end + r * 100});
    }
    streams.push_back(StreamOf(r, times));
  }
  EXPECT_EQ(InferGroups(streams, 4, 4)[0].origin, GroupOrigin::kGuessed);
}

TEST(InferGroups, MarksGuessesWithoutEvidence) {
  const std::vector<InferredGroup> alone = InferGroups({StreamOf(2, {{0, 100000}})}, 1, 8);
  EXPECT_EQ(alone[0].origin, GroupOrigin::kGuessed);
  EXPECT_EQ(alone[0].ranks.size(), 8u);
  EXPECT_THAT(alone[0].evidence, HasSubstr("all 8 ranks were assumed"));
  const std::vector<InferredGroup> two = InferGroups({StreamOf(1, {{0, 100000}})}, 1, 2);
  EXPECT_EQ(two[0].origin, GroupOrigin::kInferred) << "a group of two of two ranks";
  std::vector<CallStream> equal;
  for (int r = 0; r < 4; ++r) equal.push_back(StreamOf(r, {{0, 100000}, {200000, 300000}}));
  EXPECT_EQ(InferGroups(equal, 4, 4)[0].origin, GroupOrigin::kGuessed);
  EXPECT_EQ(InferGroups({StreamOf(0, {{0, 1000}}), StreamOf(1, {{0, 1000}})}, 4, 4)[0].origin,
            GroupOrigin::kGuessed)
      << "two of four ranks may be a part of a class";
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
