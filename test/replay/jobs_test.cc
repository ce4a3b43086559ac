// Several jobs on one machine.
#include "replay/run/jobs.h"

#include "gmock/gmock.h"
#include "replay/engine/options.h"
#include "test/replay/engine_testing.h"

namespace chakra::CHAKRA_FILE {
namespace {

// Compute, then a message of 1 MB from rank 0 to rank 1.
TraceSet Pair(uint64_t micros = 0) {
  TraceBuilder b(2);
  b.Send(0, 1, 1000000, 7, {b.Comp(0, micros).id()});
  b.Recv(1, 0, 1000000, 7);
  return *b.Build();
}

TraceSet Merged(std::vector<TraceSet> sets, std::vector<Job>* jobs, std::vector<Time> starts = {}) {
  std::vector<JobInput> inputs;
  for (size_t i = 0; i < sets.size(); ++i) {
    inputs.push_back(
        {absl::StrCat("in", i), std::move(sets[i]), i < starts.size() ? starts[i] : Time::Zero()});
  }
  absl::StatusOr<TraceSet> merged = MergeJobs(std::move(inputs), jobs);
  EXPECT_TRUE(merged.ok()) << merged.status();
  return merged.ok() ? *std::move(merged) : TraceSet();
}

absl::StatusOr<Metrics> Ran(const TraceSet& traces, const std::vector<Job>& jobs, const Topology& topology,
                            const char* fabric = "fluid", const std::vector<int>& device_of = {}) {
  auto made = *MakeMachine(fabric, topology, {});
  made->Place(device_of);
  EngineOptions options;
  options.start = RankStarts(jobs);
  return Replay(traces, Recorded(traces), *made, options);
}

Topology Product(std::vector<std::pair<TopologyDimension::Kind, int>> shape) {
  std::vector<TopologyDimension> dimensions;
  for (const auto& [kind, size] : shape) {
    TopologyDimension d;
    d.kind = kind;
    d.size = size;
    d.bandwidth = Bandwidth::BytesPerSecond(50000000000);
    d.name = absl::StrCat("d", dimensions.size());
    dimensions.push_back(d);
  }
  return *Topology::Make(dimensions);
}

const Topology& Line() {  // a ring of 4: 0 to 2 and 1 to 3 share the link from 1 to 2
  static const Topology* const ring = new Topology(Product({{TopologyDimension::Kind::kRing, 4}}));
  return *ring;
}

TEST(JobSpec, ReadsTraceAndStart) {
  EXPECT_EQ(ParseJob("dir/b")->trace, "dir/b");
  EXPECT_EQ(ParseJob("dir/b")->start, Time::Zero());
  EXPECT_EQ(ParseJob("dir/b@1.5us")->start, Time::Nanos(1500));
  EXPECT_EQ(ParseJob("dir/b@1.5us")->trace, "dir/b");
  EXPECT_EQ(ParseJob("a@b")->trace, "a@b");
  EXPECT_EQ(ParseJob("a@2/b")->trace, "a@2/b");
  EXPECT_EQ(ParseJob("a@20s")->start, Time::Picos(20000000000000));
  for (const char* bad : {"", "@1s", "a@10", "a@1h", "a@2000000s", "a@1e999s"})
    EXPECT_FALSE(ParseJob(bad).ok()) << bad;
}

TEST(Jobs, RanksAreNumberedJobByJob) {
  std::vector<Job> jobs;
  const TraceSet set = Merged({Pair(), Pair(), Pair()}, &jobs);
  ASSERT_EQ(set.ranks.size(), 6u);
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[2].first_rank, 4);
  EXPECT_EQ(jobs[2].name, "job2");
  for (int r = 0; r < 6; ++r) EXPECT_EQ(set.ranks[static_cast<size_t>(r)].rank, r);
  EXPECT_EQ(set.ranks[4].peers[0].dst, 5);
  EXPECT_EQ(set.groups.at("job1"), (std::vector<int>{2, 3}));
}

// 1 MB at 50 GB/s are 20 us.
TEST(Jobs, OnDisjointRailsAreIndependent) {
  const Topology rails =
      Product({{TopologyDimension::Kind::kSwitch, 2}, {TopologyDimension::Kind::kSwitch, 2}});
  std::vector<Job> jobs;
  const TraceSet set = Merged({Pair(), Pair()}, &jobs);
  const auto metrics = Ran(set, jobs, rails, "fluid", {0, 2, 1, 3});
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  for (size_t r : {1, 3}) EXPECT_EQ(metrics->ranks[r].end, Time::Micros(20));
}

TEST(Jobs, TakeTwiceAsLongOnSharedLinks) {
  std::vector<Job> jobs;
  const TraceSet set = Merged({Pair(), Pair()}, &jobs);
  const auto metrics = Ran(set, jobs, Line(), "fluid", {0, 2, 1, 3});
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  for (size_t r : {1, 3}) EXPECT_EQ(metrics->ranks[r].end, Time::Micros(40));
  const auto free = Ran(set, jobs, Line(), "analytical", {0, 2, 1, 3});
  for (size_t r : {1, 3}) EXPECT_EQ(free->ranks[r].end, Time::Micros(20));
}

// The second job begins when half of the first message has been sent. Then both have half of the link, and
// the other half of the first message takes 20 us more.
TEST(Jobs, MayStartLater) {
  std::vector<Job> jobs;
  const TraceSet set = Merged({Pair(), Pair()}, &jobs, {Time::Zero(), Time::Micros(10)});
  const auto metrics = Ran(set, jobs, Line(), "fluid", {0, 2, 1, 3});
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  const std::vector<proto::JobReport> reports = ReportJobs(jobs, *metrics);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].end_ps(), 30 * kUs);
  EXPECT_EQ(reports[0].makespan_ps(), 30 * kUs);
  EXPECT_EQ(reports[1].start_ps(), 10 * kUs);
  EXPECT_EQ(reports[1].end_ps(), 40 * kUs);
  EXPECT_EQ(reports[1].makespan_ps(), 30 * kUs);
  EXPECT_EQ(reports[1].first_rank(), 2);
  EXPECT_EQ(reports[1].ranks(), 2);
  EXPECT_EQ(reports[1].input(), "in1");
}

// Calls on all ranks, on a group of one name in both jobs, and on group "0".
TEST(Jobs, KeepTheirGroups) {
  const auto job = [](int ranks, int64_t bytes) {
    TraceBuilder b(ranks);
    b.groups["dp"] = {0, 1};
    for (int r = 0; r < ranks; ++r) {
      const uint64_t all = b.Coll(r, CollectiveType::kAllReduce, bytes).id();
      if (r < 2) b.Coll(r, CollectiveType::kAllGather, bytes, {all}, "dp");
      b.Coll(r, CollectiveType::kBroadcast, bytes, {all}, "0");
    }
    return *b.Build();
  };
  const auto alone = [&](int ranks, int64_t bytes) {
    const TraceSet set = job(ranks, bytes);
    auto fabric = *MakeMachine("analytical", Mesh(ranks), {});
    return Replay(set, Recorded(set), *fabric, {})->makespan;
  };
  std::vector<Job> jobs;
  const TraceSet set = Merged({job(2, 4096), job(3, 9000)}, &jobs);
  const auto metrics = Ran(set, jobs, Mesh(5), "analytical");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_EQ(metrics->collectives.at({"all_reduce", "job0"}).ranks, 2);
  EXPECT_EQ(metrics->collectives.at({"all_reduce", "job1"}).ranks, 3);
  EXPECT_EQ(metrics->collectives.at({"broadcast", "job1"}).ranks, 3);
  EXPECT_EQ(metrics->collectives.at({"all_gather", "job1/dp"}).count, 1u);
  const auto reports = ReportJobs(jobs, *metrics);
  EXPECT_EQ(reports[0].makespan_ps(), alone(2, 4096).picos());
  EXPECT_EQ(reports[1].makespan_ps(), alone(3, 9000).picos());
}

// Groups by dimension contain only ranks of their own job.
TEST(Jobs, ResolveDimensionsWithinAJob) {
  const auto job = [] {
    TraceBuilder b(4);
    for (int r = 0; r < 4; ++r) {
      et::AttributeProto* dims = b.Coll(r, CollectiveType::kAllReduce, 4096).add_attr();
      dims->set_name("involved_dim");
      dims->mutable_bool_list()->add_values(true);
      dims->mutable_bool_list()->add_values(false);
    }
    return *b.Build();
  };
  std::vector<Job> jobs;
  TraceSet set = Merged({job(), job()}, &jobs);
  ResolveJobDimensions(jobs, {2, 4}, &set);
  const auto metrics = Ran(set, jobs, Mesh(8), "analytical");
  ASSERT_TRUE(metrics.ok()) << metrics.status();
  EXPECT_EQ(metrics->collectives.size(), 4u);
  EXPECT_EQ(metrics->collectives.at({"all_reduce", "job1:dims:1:0@2"}).ranks, 2);
  EXPECT_EQ(set.groups.at("job1:dims:1:0@2"), (std::vector<int>{6, 7}));
}

// A group with a rank that has no trace must not take a rank of the next job.
TEST(Jobs, DoNotTakeRanksOfOtherJobs) {
  const auto job = [] {
    TraceBuilder b(2);
    b.groups["tp"] = {0, 1, 2};
    for (int r = 0; r < 2; ++r) b.Coll(r, CollectiveType::kAllReduce, 64, {}, "tp");
    return *b.Build();
  };
  std::vector<Job> jobs;
  const TraceSet set = Merged({job(), job()}, &jobs);
  EXPECT_EQ(set.groups.at("job0/tp"), (std::vector<int>{0, 1, 4}));
  const auto metrics = Ran(set, jobs, Mesh(4), "analytical");
  EXPECT_NE(metrics.status().message().find("which has no trace"), absl::string_view::npos)
      << metrics.status();
}

// The error of a single trace names its rank, and the remedy.
TEST(Jobs, SingleTraceErrorNamesItsRank) {
  TraceBuilder b(1);
  b.groups["world"] = {0, 1, 2, 3};
  b.Coll(0, CollectiveType::kAllReduce, 64, {}, "world");
  TraceSet set = *b.Build();
  set.ranks[0].recorded_rank = 1;
  EXPECT_THAT(std::string(Ran(set, {}, Mesh(1), "analytical").status().message()),
              testing::HasSubstr("names rank 0, which has no trace: the only one is of rank 1; give the "
                                 "traces of all ranks, or replay all ranks like this one: --ranks 4"));
}

TEST(Jobs, RefusesAnEmptyList) {
  std::vector<Job> jobs;
  EXPECT_FALSE(MergeJobs({}, &jobs).ok());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
