// Builds steps, and runs their stages with unit times, without a machine or an engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/write.h"

namespace chakra::generate {

// Fails the test, and returns an empty step, where the parts do not fit.
inline StepGraphs Step(const std::string& model, const std::string& parallel, const std::string& training) {
  const StepPlan plan = PlanOf(model, parallel, training);
  if (plan.model.layers == 0) return {};  // refused: the test has failed
  const auto step = BuildStep(plan);
  EXPECT_TRUE(step.ok()) << step.status();
  return step.ok() ? *step : StepGraphs();
}

// Elements of gradients that the ranks of a stage reduce in the last micro-batch.
inline int64_t Reduced(const StepGraphs& step, const StageGraph& stage) {
  int64_t bytes = 0;
  for (const StepNode& n : stage.nodes) {
    const bool last = n.spot.micro_batch + 1 == step.plan.micro_batches();
    if (n.type == NodeType::kCollective && n.stream == Stream::kReduce && last &&
        absl::EndsWith(n.spot.part, "gradients"))
      bytes += n.bytes;
  }
  return bytes / step.plan.gradient_bytes();
}

// The length of a step whose streams run their nodes in order. A computation of a part that begins with
// `part` takes `forward` in the forward pass and 1 in all other phases; everything else takes no time. Fails
// the test if a stage waits forever.
inline double UnitLength(const StepGraphs& step, absl::string_view part = "mlp.up", double forward = 1) {
  std::map<std::tuple<int64_t, int64_t, int32_t>, double> sent;  // from, to, tag
  struct Run {
    size_t next = 0;
    std::vector<double> end;
    double stream[kStreams] = {};
  };
  std::vector<Run> runs(step.stages.size());
  const auto unit = [&](const StepNode& n) {
    if (n.type != NodeType::kComp || !absl::StartsWith(n.spot.part, part)) return 0.0;
    return absl::string_view(n.spot.phase) == "forward" ? forward : 1.0;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t s = 0; s < runs.size(); ++s) {
      Run& run = runs[s];
      const StageGraph& stage = step.stages[s];
      for (; run.next < stage.nodes.size(); ++run.next) {
        const StepNode& n = stage.nodes[run.next];
        double begin = run.stream[static_cast<int>(n.stream)];
        for (uint32_t d = n.dep_begin; d < n.dep_end; ++d) begin = std::max(begin, run.end[stage.deps[d]]);
        const auto me = static_cast<int64_t>(s);
        if (n.type == NodeType::kRecv) {
          // Ranks of cp do the same at the same time.
          const bool ring = n.peer != PeerKind::kStage;
          const auto it = sent.find({ring ? me : n.stage, me, n.tag});
          if (it == sent.end()) break;
          begin = std::max(begin, it->second);
        }
        const double end = begin + unit(n);
        if (n.type == NodeType::kSend) sent[{me, n.peer == PeerKind::kStage ? n.stage : me, n.tag}] = end;
        run.stream[static_cast<int>(n.stream)] = end;
        run.end.push_back(end);
        moved = true;
      }
    }
  }
  double length = 0;
  for (size_t s = 0; s < runs.size(); ++s) {
    EXPECT_EQ(runs[s].next, step.stages[s].nodes.size()) << "stage " << s << " waits for ever";
    for (const double e : runs[s].end) length = std::max(length, e);
  }
  return length;
}

}  // namespace chakra::generate
