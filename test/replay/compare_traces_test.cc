// Differences of two sets of traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "replay/compare/pair_nodes.h"
#include "replay/compare/trace_tables.h"
#include "replay/compare/traces.h"
#include "test/replay/trace_builder.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TraceBuilder Small() {
  TraceBuilder t(2);
  for (int r = 0; r < 2; ++r) {
    t.Comp(r, 10).set_name("mm");
    t.Comp(r, 20, {0}).set_name("mm");
    t.Coll(r, CollectiveType::kAllReduce, 64, {1}, "dp").set_name("reduce");
    t.Comp(r, 5, {1, 2}).set_name("step");
  }
  t.groups["dp"] = {0, 1};
  return t;
}

proto::Comparison Compared(const TraceBuilder& a, const TraceBuilder& b, TraceCompareOptions options = {}) {
  const auto x = a.Build(), y = b.Build();
  EXPECT_TRUE(x.ok() && y.ok()) << x.status() << y.status();
  auto c = CompareTraces(*x, *y, options);
  EXPECT_TRUE(c.ok()) << c.status();
  return *c;
}

const proto::NodeChange* Find(const proto::Comparison& c, const std::string& name) {
  for (const proto::NodeChange& n : c.nodes().change()) {
    if (n.name() == name) return &n;
  }
  return nullptr;
}

const proto::Section& Section(const proto::Comparison& c, const std::string& name) {
  for (const proto::Section& s : c.section()) {
    if (s.name() == name) return s;
  }
  return proto::Section::default_instance();
}

TEST(CompareTraces, TracesEqualThemselves) {
  const proto::Comparison c = Compared(Small(), Small());
  EXPECT_TRUE(c.identical()) << c.DebugString();
  EXPECT_EQ(c.nodes().paired(), 8u);
  EXPECT_EQ(c.nodes().changed(), 0u);
}

// Each change of one node is reported as that change, and as no other.
TEST(CompareTraces, EveryChangedAttributeIsReported) {
  using Edit = std::function<void(TraceBuilder*)>;
  const std::vector<std::pair<std::string, Edit>> edits = {
      {"duration", [](TraceBuilder* t) { t->Nodes(1)[0].set_duration_micros(11); }},
      {"start", [](TraceBuilder* t) { t->Nodes(1)[0].set_start_time_micros(3); }},
      {"name", [](TraceBuilder* t) { t->Nodes(1)[3].set_name("stop"); }},
      {"type", [](TraceBuilder* t) { t->Nodes(1)[3].set_type(et::METADATA_NODE); }},
      {"operations", [](TraceBuilder* t) { t->Int(&t->Nodes(1)[0], "num_ops", 7); }},
      {"tensor bytes", [](TraceBuilder* t) { t->Int(&t->Nodes(1)[0], "tensor_size", 0); }},
      {"lane", [](TraceBuilder* t) { t->Int(&t->Nodes(1)[0], "stream", 7); }},
      {"host operation", [](TraceBuilder* t) { t->Int(&t->Nodes(1)[0], "is_cpu_op", 1); }},
      {"shapes", [](TraceBuilder* t) { t->Nodes(1)[0].mutable_inputs()->set_shapes("[[1]]"); }},
      {"data types", [](TraceBuilder* t) { t->Nodes(1)[0].mutable_inputs()->set_types("['f']"); }},
      {"communication bytes", [](TraceBuilder* t) { t->Nodes(1)[2].mutable_attr(1)->set_int64_val(65); }},
      {"collective", [](TraceBuilder* t) { t->Nodes(1)[2].mutable_attr(0)->set_int64_val(5); }},
      {"group", [](TraceBuilder* t) { t->Nodes(1)[2].mutable_attr(2)->set_string_val("tp"); }},
      {"priority", [](TraceBuilder* t) { t->Int(&t->Nodes(1)[2], "comm_priority", 2); }},
      {"root", [](TraceBuilder* t) { t->Int(&t->Nodes(1)[2], "root", 1); }},
      {"transfer", [](TraceBuilder* t) { t->Int(&t->Nodes(1)[2], "transfer_ns", 4); }},
      {"dependency only in A", [](TraceBuilder* t) { t->Nodes(1)[3].mutable_data_deps()->Truncate(1); }},
      {"dependency only in B", [](TraceBuilder* t) { t->Nodes(1)[3].add_data_deps(0); }},
      {"delay of a dependency",
       [](TraceBuilder* t) {
         t->Delays(&t->Nodes(1)[3], {0, 9});
       }},
  };
  for (const auto& [name, edit] : edits) {
    TraceBuilder b = Small();
    edit(&b);
    const proto::Comparison c = Compared(Small(), b);
    EXPECT_FALSE(c.identical()) << name;
    EXPECT_EQ(c.nodes().changed(), 1u) << name;
    EXPECT_EQ(c.nodes().paired(), 8u) << name;
    ASSERT_EQ(c.nodes().change_size(), 1) << name << "\n" << c.nodes().DebugString();
    EXPECT_EQ(c.nodes().change(0).name(), name);
    EXPECT_EQ(c.nodes().change(0).first_rank(), 1) << name;
    EXPECT_EQ(c.nodes().change(0).nodes(), 1u) << name;
  }
}

TEST(CompareTraces, SumsByOperatorCollectiveLaneAndRank) {
  TraceBuilder b = Small();
  b.Nodes(1)[1].set_duration_micros(50);
  b.Nodes(0)[2].mutable_attr(1)->set_int64_val(1064);
  const proto::Comparison c = Compared(Small(), b);
  ASSERT_EQ(Section(c, "operators").change_size(), 2);
  EXPECT_EQ(Section(c, "operators").change(0).name(), "mm");
  EXPECT_EQ(Section(c, "operators").change(0).measure(0).difference(), 30000000);
  EXPECT_EQ(Section(c, "operators").change(0).measure(0).a(), 60000000);
  ASSERT_EQ(Section(c, "collectives").change_size(), 1);
  EXPECT_EQ(Section(c, "collectives").change(0).name(), "all_reduce on group \"dp\"");
  EXPECT_EQ(Section(c, "collectives").by(), "bytes");
  EXPECT_EQ(Section(c, "collectives").change(0).measure(0).difference(), 1000);
  EXPECT_EQ(Section(c, "lanes").change(0).name(), "compute");
  EXPECT_EQ(Section(c, "ranks").change(0).name(), "rank 1");
}

TEST(CompareTraces, NodesPairByIdNameAndOrder) {
  TraceBuilder b = Small();
  for (et::Node& n : b.Nodes(0)) {  // renumbered
    n.set_id(n.id() + 100);
    for (uint64_t& d : *n.mutable_data_deps()) d += 100;
  }
  b.Comp(1, 1).set_name("new");
  const proto::Comparison c = Compared(Small(), b);
  EXPECT_EQ(c.nodes().paired(), 8u);
  EXPECT_EQ(c.nodes().changed(), 0u) << c.nodes().DebugString();
  EXPECT_EQ(c.nodes().renumbered(), 4u);
  EXPECT_EQ(c.nodes().only_b(), 1u);
  EXPECT_EQ(Section(c, "unpaired").change(0).name(), "new");
  EXPECT_FALSE(c.identical());
}

TEST(CompareTraces, DifferentNodesWithOneIdAreUnpaired) {
  TraceBuilder b = Small();
  b.Nodes(1)[3].set_name("other");
  b.Nodes(1)[3].mutable_data_deps()->Truncate(1);
  const proto::Comparison c = Compared(Small(), b);
  EXPECT_EQ(c.nodes().paired(), 7u);
  EXPECT_EQ(c.nodes().only_a(), 1u);
  EXPECT_EQ(c.nodes().only_b(), 1u);
}

TEST(CompareTraces, AdditionalRanksAreInOneSideOnly) {
  TraceBuilder b(3);
  for (int r = 0; r < 2; ++r) b.Nodes(r) = Small().Nodes(r);
  b.groups = Small().groups;
  b.Comp(2, 9).set_name("extra");
  const proto::Comparison c = Compared(Small(), b);
  EXPECT_EQ(c.nodes().only_b(), 1u);
  EXPECT_EQ(Section(c, "ranks").change(0).name(), "rank 2");
  EXPECT_EQ(Section(c, "ranks").change(0).only_in(), "b");
  const proto::Comparison back = Compared(b, Small());
  EXPECT_EQ(back.nodes().only_a(), 1u);
  EXPECT_EQ(Section(back, "ranks").change(0).only_in(), "a");
}

TEST(CompareTraces, ComparesMetadataAndGroups) {
  TraceBuilder b = Small();
  b.Metadata(1).set_version("1.0.0");
  et::AttributeProto* key = b.Metadata(1).add_attr();
  key->set_name("made_by");
  key->set_string_val("hand");
  b.groups["tp"] = {0, 1};
  const proto::Comparison c = Compared(Small(), b);
  ASSERT_EQ(c.setting_size(), 2);
  EXPECT_EQ(c.setting(0).name(), "schema version (rank 1)");
  EXPECT_EQ(c.setting(1).name(), "metadata made_by (rank 1)");
  EXPECT_THAT(c.setting(1).b(), HasSubstr("hand"));
  EXPECT_EQ(Section(c, "groups").change(0).name(), "group \"tp\"");
  EXPECT_EQ(Section(c, "groups").change(0).text(0).b(), "0-1");
}

TEST(CompareTraces, NumbersThreadsWhoseIdsDiffer) {
  const auto traced = [](int64_t main, int64_t second, uint64_t micros) {
    TraceBuilder t(1);
    for (int i = 0; i < 3; ++i) {
      et::Node& n = t.Comp(0, i == 1 ? micros : 5);
      t.Int(&n, "is_cpu_op", 1);
      t.Int(&n, "tid", i == 1 ? second : main);
    }
    return t;
  };
  const proto::Comparison other = Compared(traced(100, 200, 7), traced(300, 400, 9));
  ASSERT_EQ(Section(other, "lanes").change_size(), 1);
  EXPECT_EQ(Section(other, "lanes").change(0).name(), "thread no. 2");
  const proto::Comparison same = Compared(traced(100, 200, 7), traced(100, 200, 9));
  EXPECT_EQ(Section(same, "lanes").change(0).name(), "thread 200");
}

// A capture: a host thread whose operators launch kernels, in `steps` steps of 40 us.
TraceBuilder Captured(int steps, const std::string& attention, uint64_t micros) {
  TraceBuilder t(1);
  std::vector<uint64_t> first, last;
  const auto host = [&](const std::string& name, uint64_t at) -> uint64_t {
    et::Node& n = t.Comp(0, 2);
    n.set_name(name);
    n.set_start_time_micros(at);
    t.Int(&n, "is_cpu_op", 1);
    t.Int(&n, "tid", 9);
    return n.id();
  };
  const auto kernel = [&](const std::string& name, uint64_t launch, uint64_t at, uint64_t lasts) -> uint64_t {
    et::Node& n = t.Comp(0, lasts, {launch});
    n.set_name(name);
    n.set_start_time_micros(at);
    t.Int(&n, "is_cpu_op", 0);
    t.Int(&n, "stream", 7);
    return n.id();
  };
  for (int i = 0; i < steps; ++i) {
    const auto at = static_cast<uint64_t>(40 * i);
    first.push_back(host("aten::mm", at));
    kernel("gemm", host("cudaLaunchKernel", at + 2), at + 5, 10);
    host("aten::attention", at + 4);
    kernel(attention, host("cuLaunchKernelEx", at + 6), at + 15, micros);
    host("[between calls]", at + 8);
    last.push_back(kernel("fill", host("hipLaunchKernel", at + 10), at + 39, 1));
  }
  const auto list = [&](const char* name, const std::vector<uint64_t>& ids) {
    et::AttributeProto* attr = t.Metadata(0).add_attr();
    attr->set_name(name);
    for (const uint64_t id : ids) attr->mutable_uint64_list()->add_values(id);
  };
  et::AttributeProto* attr = t.Metadata(0).add_attr();
  attr->set_name("capture");
  attr->set_string_val("pytorch");
  for (const char* name : {"rank", "window_end_ns"}) {
    attr = t.Metadata(0).add_attr();
    attr->set_name(name);
    attr->set_int64_val(name[0] == 'r' ? 0 : 40000 * steps);
  }
  list("step_first_nodes", first);
  list("step_last_nodes", last);
  attr = t.Metadata(0).add_attr();
  attr->set_name("step_names");
  for (int i = 0; i < steps; ++i) attr->mutable_string_list()->add_values(absl::StrCat("ProfilerStep#", i));
  return t;
}

std::vector<std::string> Rows(const proto::Section& section) {
  std::vector<std::string> out;
  for (const proto::Change& x : section.change())
    out.push_back(absl::StrCat(x.name(), " ", x.measure(0).a() / 1000000, " ", x.measure(0).b() / 1000000));
  return out;
}

TEST(CompareTraces, ComparesCapturesByKernelAndLaunchingOperator) {
  const proto::Comparison c = Compared(Captured(2, "flash2", 20), Captured(2, "flash3", 10));
  EXPECT_THAT(Rows(Section(c, "kernels_by_operator")), ElementsAre("aten::attention 40 20"));
  EXPECT_THAT(Rows(Section(c, "kernels")), ElementsAre("flash2 40 0", "flash3 0 20"));
  EXPECT_EQ(Section(c, "operators").change_size(), 0);        // of the host, which has not changed
  EXPECT_EQ(Section(c, "kernels_by_operator").rows_a(), 3u);  // and those that no operator launched
  EXPECT_TRUE(c.note().empty());
}

// For kernels of a graph, the node gives the operator; without one, it is the call that launched the graph.
TEST(CompareTraces, GraphKernelsBelongToTheirOperators) {
  const auto captured = [](uint64_t micros, bool written) {
    TraceBuilder t = Captured(1, "flash2", micros);
    for (et::Node& n : t.Nodes(0)) {
      if (n.name() == "cuLaunchKernelEx") n.set_name("cudaGraphLaunch");
      if (n.name() == "flash2" && written) t.Text(&n, "op", "vllm::attention");
    }
    return t;
  };
  for (const bool written : {false, true}) {
    const auto a = captured(20, written).Build(true), b = captured(10, written).Build(true);
    ASSERT_TRUE(a.ok() && b.ok());
    const auto c = CompareTraces(*a, *b, {});
    ASSERT_TRUE(c.ok()) << c.status();
    EXPECT_THAT(Rows(Section(*c, "kernels_by_operator")),
                ElementsAre(written ? "vllm::attention 20 10" : "cudaGraphLaunch 20 10"));
  }
}

TEST(CompareTraces, StepCountDoesNotChangeTheMean) {
  const proto::Comparison c = Compared(Captured(2, "flash2", 20), Captured(5, "flash2", 20));
  std::map<std::string, std::pair<int64_t, int64_t>> whole;
  for (const proto::MeasureChange& m : Section(c, "run").change(0).measure())
    whole[m.name()] = {m.a(), m.b()};
  EXPECT_EQ(whole["steps"], std::pair(int64_t{2}, int64_t{5}));
  EXPECT_EQ(whole["mean_step_ps"], std::pair(int64_t{40000000}, int64_t{40000000}));
  ASSERT_EQ(c.note_size(), 1);
  EXPECT_THAT(c.note(0), HasSubstr("A has 2 steps, B 5"));
}

TEST(CompareTraces, ComparingAttributesNeedsRawFrames) {
  const auto x = Small().Build();
  const auto c = CompareTraces(*x, *x, {false, true});
  EXPECT_EQ(c.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(CompareTraces, FormatsRangesOfRanks) {
  EXPECT_EQ(RankRanges({}), "");
  EXPECT_EQ(RankRanges({3}), "3");
  EXPECT_EQ(RankRanges({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

// Random traces: nodes that are only in A of one comparison are only in B of the other, pairs are one to one,
// and differences of sums change sign.
TEST(CompareTraces, SwappedSidesGiveOppositeDifferences) {
  std::mt19937 random(7);
  const auto below = [&random](uint32_t n) { return random() % n; };
  const auto make = [&below] {
    TraceBuilder t(2);
    for (int r = 0; r < 2; ++r) {
      const uint32_t nodes = 5 + below(20);
      for (uint32_t i = 0; i < nodes; ++i) {
        std::vector<uint64_t> deps;
        if (i > 0 && below(2) > 0) deps.push_back(t.Nodes(r)[below(i)].id());
        et::Node& n = t.Comp(r, below(4), deps);
        n.set_name(std::string(1, static_cast<char>('a' + below(5))));
        n.set_id(n.id() + (below(3) == 0 ? 1000 : 0));
      }
    }
    return t;
  };
  for (int i = 0; i < 50; ++i) {
    const TraceBuilder a = make(), b = make();
    const proto::Comparison x = Compared(a, b), y = Compared(b, a);
    EXPECT_EQ(x.nodes().paired(), y.nodes().paired());
    EXPECT_EQ(x.nodes().changed(), y.nodes().changed());
    EXPECT_EQ(x.nodes().renumbered(), y.nodes().renumbered());
    EXPECT_EQ(x.nodes().only_a(), y.nodes().only_b());
    EXPECT_EQ(x.nodes().only_b(), y.nodes().only_a());
    for (const char* name : {"dependency only in A", "dependency only in B", "duration"}) {
      const std::string other = name == std::string("duration") ? name
                                : name[19] == 'A'               ? "dependency only in B"
                                                                : "dependency only in A";
      const proto::NodeChange *n = Find(x, name), *m = Find(y, other);
      EXPECT_EQ(n == nullptr ? 0 : n->nodes(), m == nullptr ? 0 : m->nodes()) << name;
    }
    for (const char* name : {"operators", "ranks", "types", "lanes"}) {
      const proto::Section &s = Section(x, name), &t = Section(y, name);
      ASSERT_EQ(s.change_size(), t.change_size());
      for (int k = 0; k < s.change_size(); ++k) {
        EXPECT_EQ(s.change(k).name(), t.change(k).name());
        EXPECT_EQ(s.change(k).measure(0).difference(), -t.change(k).measure(0).difference());
      }
    }
    EXPECT_TRUE(Compared(a, a).identical());
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
