// --critical-path, as users see it.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "proto/report.pb.h"
#include "test/folders.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class CriticalPathCli : public Bench {
 protected:
  proto::Report Report(const std::string& arguments) const {
    return ReportOf("--critical-path " + arguments);
  }
  const std::string step_ = std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step";
};

TEST_F(CriticalPathCli, SharesAddUpToTheMakespan) {
  for (const char* machine : {"dgx-h100", "dgx-a100:nodes=4"}) {
    const proto::Report r = Report(step_ + " --cluster " + machine);
    ExpectWholePath(r);
    EXPECT_GT(r.critical_path().link_size(), 0);
  }
}

TEST_F(CriticalPathCli, ClosedFormsKeepTheCriticalPath) {
  const std::string run = step_ + " --cluster dgx-a100:nodes=4 ";
  proto::Report closed = Report(run), steps = Report(run + "--no-fast-path");
  EXPECT_GT(steps.flows(), closed.flows());
  EXPECT_EQ(closed.critical_path().SerializeAsString(), steps.critical_path().SerializeAsString());
}

// A run with the change gains what the path predicts: without contention, to a thousandth of the gain. It
// gains less if another path becomes critical before the whole change is made.
TEST_F(CriticalPathCli, SensitivitiesMatchRunsWithTheChange) {
  for (const char* machine : {"dgx-h100", "dgx-a100"}) {
    const proto::Report r = Report(step_ + " --sensitivity --cluster " + machine);
    int measured = 0, exact = 0;
    for (const proto::Sensitivity& s : r.critical_path().sensitivity()) {
      if (!s.measured()) continue;
      ++measured;
      const auto gain = static_cast<double>(s.gain_ps()), got = static_cast<double>(s.measured_ps());
      EXPECT_LE(got, 1.001 * gain + 1000) << s.of() << " on " << machine;
      EXPECT_GE(got, 0.95 * gain - 1000) << s.of() << " on " << machine;
      exact += std::abs(got - gain) <= 1e-3 * gain + 1000;
    }
    EXPECT_GE(measured, 4) << machine;
    EXPECT_GE(exact, measured - 1) << machine;
  }
}

// Each dimension that a message crosses has its part. Here the outer one is wider than the inner one.
TEST_F(CriticalPathCli, EachCrossedDimensionHasItsPart) {
  Write(
      "two.txtpb",
      "topology { dimension { name: 'node' kind: SWITCH size: 4 bandwidth_gbytes_per_s: 20 latency_ns: 700 } "
      "dimension { name: 'rail' kind: RING size: 4 bandwidth_gbytes_per_s: 50 latency_ns: 5000 } }\n");
  for (int r = 0; r < 16; ++r) {
    Rank("t", r,
         r == 0    ? std::vector<PbNode>{Comp(0, 3), Send(1, 10, 1 << 20)}
         : r == 10 ? std::vector<PbNode>{Recv(0, 0, 1 << 20), Comp(1, 5, {0})}
                   : std::vector<PbNode>{Comp(0, 1)});
  }
  for (const char* more : {"", " --store-and-forward", " --fabric fluid", " --fabric analytical-fifo"}) {
    const proto::Report r =
        Report(std::string("t --sensitivity --cluster two.txtpb --compute recorded") + more);
    ExpectWholePath(r);
    std::map<std::string, int64_t> gain;
    for (const proto::Sensitivity& s : r.critical_path().sensitivity()) {
      EXPECT_TRUE(s.measured());
      EXPECT_NEAR(static_cast<double>(s.measured_ps()), static_cast<double>(s.gain_ps()), 100)
          << s.of() << more;
      gain[s.of()] = s.gain_ps();
    }
    EXPECT_EQ(gain.at("latency of node"), 2 * 7000) << more;
    EXPECT_EQ(gain.at("latency of rail"), 2 * 50000) << more;
    EXPECT_EQ(gain.count("bandwidth of rail"), more == std::string(" --store-and-forward") ? 1u : 0u) << more;
  }
}

// Links of a network are named by their class.
TEST_F(CriticalPathCli, NetworkLinksAreNamedByClass) {
  const proto::Report r = Report(step_ + " --cluster dgx-a100:nodes=4 --placement stride:8 --fabric fluid " +
                                 "--network leaf_spine:leaves=2,hosts_per_leaf=16,spines=1");
  ExpectWholePath(r);
  std::set<std::string> names;
  for (const proto::PathShare& link : r.critical_path().link()) names.insert(link.name());
  EXPECT_TRUE(names.count("leaf_spine host latency")) << ::testing::PrintToString(names);
  EXPECT_TRUE(names.count("leaf_spine leaf-spine latency")) << ::testing::PrintToString(names);
}

// An edit, which does not use sensitivities, gives the same gain.
TEST_F(CriticalPathCli, SensitivitiesAgreeWithEdits) {
  const std::string edit = " --do \"select { type: 'device' } duration { factor: 0.99009900990099 }\"";
  const proto::Report now = Report(step_), then = Report(step_ + edit);
  const auto& s = now.critical_path().sensitivity(0);
  ASSERT_EQ(s.of(), "speed of device computation");
  EXPECT_NEAR(static_cast<double>(now.makespan_ps() - then.makespan_ps()), static_cast<double>(s.gain_ps()),
              1e4);
}

// A measured sensitivity is the gain of a run with the change. Here, other options make the same change.
TEST_F(CriticalPathCli, MeasuredSensitivitiesEqualChangedRuns) {
  const std::string spread =
      step_ + " --cluster dgx-a100 --placement stride:3 --set topology.dimension[1].size=4 ";
  const std::string shared = step_ +
                             " --cluster dgx-a100 --set topology.dimension[0].size=2 --fabric fluid "
                             "--network leaf_spine:hosts_per_leaf=2,";
  struct Case {
    std::string base, change, of;
  };
  const std::vector<Case> cases = {
      {spread, spread + "--set topology.dimension[1].bandwidth_gbytes_per_s=25.25", "bandwidth of nic"},
      {spread, spread + "--set topology.dimension[1].latency_ns=495", "latency of nic"},
      {shared + "link=200Gb/s", shared + "link=202Gb/s", "bandwidth of leaf_spine"},
      {shared + "latency=500ns", shared + "latency=495ns", "latency of leaf_spine"},
  };
  for (const Case& c : cases) {
    const proto::Report now = Report(c.base + " --sensitivity"), then = Report(c.change);
    const auto& all = now.critical_path().sensitivity();
    const auto s = std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.of() == c.of; });
    ASSERT_NE(s, all.end()) << c.base;
    EXPECT_TRUE(s->measured());
    EXPECT_NE(s->measured_ps(), 0);
    EXPECT_NEAR(static_cast<double>(now.makespan_ps() - then.makespan_ps()),
                static_cast<double>(s->measured_ps()), 100)
        << c.change;
  }
}

TEST_F(CriticalPathCli, NamesStragglers) {
  const proto::Report r = Report(step_ + " --straggler 3=1.5");
  const auto most = std::max_element(r.rank().begin(), r.rank().end(), [](const auto& a, const auto& b) {
    return a.kept_waiting_ps() < b.kept_waiting_ps();
  });
  EXPECT_EQ(most->rank(), 3);
  EXPECT_EQ(r.critical_path().rank(0).name(), "rank 3");
  for (const proto::RankReport& rank : r.rank()) {
    EXPECT_EQ(rank.bubble_ps(), r.makespan_ps() - rank.end_ps() + rank.idle_ps());
  }
  EXPECT_THAT(Run("replay -q --critical-path " + step_ + " --straggler 3=1.5").out,
              ContainsRegex("\nStragglers: last to arrive at collectives\n[^\n]*\n  3 "));
  EXPECT_THAT(Run("replay -q --critical-path " + step_).out, Not(HasSubstr("Stragglers")))
      << "nobody is late";
}

TEST_F(CriticalPathCli, TextShowsThePathOnlyWhenAsked) {
  const Outcome asked = Run("replay -q --critical-path " + step_);
  for (const char* part :
       {"\nCritical path, of ", "device computation", "rank 4 stream 7", "bandwidth of nvlink"})
    EXPECT_THAT(asked.out, HasSubstr(part));
  EXPECT_THAT(Run("replay -q " + step_).out, Not(HasSubstr("Critical path")));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
