// Passes that run together: the exchanges of experts that they hide, and the memory that they keep.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/memory.h"
#include "trace/generate/stage.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

bool IsExchange(const StepNode& n) { return n.stream == Stream::kExpert || n.stream == Stream::kExpertRail; }

bool DependsOn(const StageGraph& graph, size_t node, size_t on) {
  const StepNode& n = graph.nodes[node];
  for (uint32_t d = n.dep_begin; d < n.dep_end; ++d) {
    if (graph.deps[d] == on) return true;
  }
  return false;
}

struct Counted {
  int all = 0, alone = 0;
};

// Exchanges between computations of two passes. `alone`: exchanges that wait for the computation before them,
// while the computation after them waits for the exchange.
Counted Count(const StageGraph& graph) {
  Counted out;
  int64_t before = -1;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const StepNode& n = graph.nodes[i];
    if (n.stream == Stream::kCompute) before = static_cast<int64_t>(i);
    if (!IsExchange(n) || before < 0) continue;
    size_t behind = i;
    while (behind < graph.nodes.size() && graph.nodes[behind].stream != Stream::kCompute) ++behind;
    if (behind == graph.nodes.size()) continue;
    // If the computation after the exchange is of the other pass, no data flow between them.
    if (graph.nodes[behind].spot.micro_batch == n.spot.micro_batch) continue;
    ++out.all;
    out.alone += DependsOn(graph, i, static_cast<size_t>(before)) && DependsOn(graph, behind, i) ? 1 : 0;
  }
  return out;
}

StageGraph StageOf(const std::string& parallel) {
  const StepPlan plan =
      PlanOf(kExperts, absl::StrCat("ep=4,dp=4,dispatcher=alltoall,overlap_expert=yes", parallel),
             "seq=64,global_batch=64,launch=0us");
  auto graph = BuildStage(plan, 0);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : StageGraph();
}

TEST(GenerateMerge, HidesTheGivenShareOfExchanges) {
  const Counted within = Count(StageOf(""));
  EXPECT_GT(within.all, 300);
  EXPECT_EQ(within.alone, 0) << "within a NVLink domain all are hidden";
  for (const double hidden : {0.25, 0.5, 0.9}) {
    const Counted c = Count(StageOf(absl::StrCat(",hidden_share=", hidden)));
    EXPECT_EQ(c.all, within.all);
    EXPECT_NEAR(c.alone, (1 - hidden) * c.all, 0.02 * c.all) << hidden;
  }
  const Counted between = Count(StageOf(",domain=2"));
  EXPECT_NEAR(between.alone, (1 - 0.3655) * between.all, 0.02 * between.all);
}

TEST(GenerateMerge, HiddenShareNeedsOverlappedPasses) {
  const std::string error = ErrorOf(kExperts, "ep=2,dp=2,hidden_share=0.5", "seq=64");
  EXPECT_NE(error.find("expected parallel.overlap_expert=yes too"), std::string::npos) << error;
}

// Tokens cross the network first when they go to the experts, and last when they return; each exchange
// follows the other.
TEST(GenerateMerge, RailsAndNodesFollowEachOther) {
  const StepPlan plan = PlanOf(kExperts, "ep=4,dp=4,domain=2,dispatcher=deep", "seq=64,global_batch=4");
  const auto graph = BuildStage(plan, 0);
  ASSERT_TRUE(graph.ok());
  int there = 0, back = 0;
  for (size_t i = 0; i + 1 < graph->nodes.size(); ++i) {
    if (!IsExchange(graph->nodes[i])) continue;
    size_t next = i + 1;
    while (next < graph->nodes.size() && !IsExchange(graph->nodes[next])) ++next;
    if (next == graph->nodes.size() || Print(graph->nodes[next].spot) != Print(graph->nodes[i].spot))
      continue;
    EXPECT_TRUE(DependsOn(*graph, next, i));
    const bool out = graph->nodes[i].stream == Stream::kExpertRail;
    EXPECT_NE(graph->nodes[i].stream, graph->nodes[next].stream);
    const bool forward = std::string(graph->nodes[i].spot.phase) == "forward";
    const bool dispatch = std::string(graph->nodes[i].spot.part) == "experts.dispatch";
    EXPECT_EQ(out, forward == dispatch) << i;
    ++(out ? there : back);
  }
  EXPECT_EQ(there, 6 * 2);  // six layers of experts, forward and backward
  EXPECT_EQ(back, 6 * 2);
}

// One pass frees a layer while the other fills one: one of two micro-batches in flight is kept.
TEST(GenerateMerge, TwoPassesKeepOneMicroBatchAndALayer) {
  const auto activations = [](const char* more) {
    return MemoryOfStage(PlanOf(kExperts, absl::StrCat("ep=2,dp=2", more), "seq=64,global_batch=16"), 0)
        .activations;
  };
  const StepPlan plan = PlanOf(kExperts, "ep=2,dp=2", "seq=64,global_batch=16");
  const int64_t layer = std::max(ActivationsOfLayer(plan, 0), ActivationsOfLayer(plan, 7));
  EXPECT_EQ(activations(",overlap_expert=yes"), activations("") + layer);
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
