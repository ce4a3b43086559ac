// The scripts of examples/what_if, each on a generated step, on a symbolic one, and on captures.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance {
namespace {

const std::string kFolder = std::string(CHAKRA_SOURCE_DIR) + "/examples/what_if/";

// What a script does to the makespan of a trace.
enum class Effect { kShorter, kNotLonger, kLonger, kRefused };

class WhatIf : public Bench {
 protected:
  // Every script of the folder, on `trace`.
  void Expect(const std::string& trace, const std::map<std::string, Effect>& effects) const {
    std::set<std::string> scripts;
    for (const auto& entry : fs::directory_iterator(kFolder)) {
      if (entry.path().extension() == ".txtpb") scripts.insert(entry.path().stem().string());
    }
    const int64_t before = Replayed(trace).makespan_ps();
    EXPECT_GT(before, 0);
    for (const std::string& name : scripts) {
      SCOPED_TRACE(name);
      const auto expected = effects.find(name);
      ASSERT_NE(expected, effects.end()) << "no expectation of this script";
      const std::string arguments = trace + " --edit " + kFolder + name + ".txtpb";
      if (expected->second == Effect::kRefused) {
        Refused("replay " + arguments, {"matches nothing"});
        continue;
      }
      const proto::Report report = Replayed(arguments);
      uint64_t matched = 0;
      for (const auto& outcome : report.edits().outcome()) matched += outcome.matched();
      EXPECT_GT(matched, 0u);
      const int64_t after = report.makespan_ps();
      if (expected->second == Effect::kShorter) {
        EXPECT_LT(after, before);
      }
      if (expected->second == Effect::kNotLonger) {
        EXPECT_LE(after, before);
      }
      if (expected->second == Effect::kLonger) {
        EXPECT_GT(after, before);
      }
    }
    EXPECT_EQ(scripts.size(), effects.size());
  }
};

TEST_F(WhatIf, OnAGeneratedStep) {
  Expect(std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step --compute recorded",
         {{"faster_gpu", Effect::kShorter},
          {"fused_optimizer", Effect::kNotLonger},
          {"larger_buckets", Effect::kNotLonger},
          {"mixed_precision", Effect::kShorter},
          {"perfect_overlap", Effect::kShorter},
          {"straggler", Effect::kLonger},
          {"twice_the_network", Effect::kShorter},
          {"zero", Effect::kRefused}});  // it has reduce-scatters already
}

// Of the CPU: no kernels.
TEST_F(WhatIf, OnACaptureOfGloo) {
  Expect(kFolder + "captures/batch_2/a", {{"faster_gpu", Effect::kRefused},
                                          {"fused_optimizer", Effect::kShorter},
                                          {"larger_buckets", Effect::kNotLonger},
                                          {"mixed_precision", Effect::kNotLonger},
                                          {"perfect_overlap", Effect::kShorter},
                                          {"straggler", Effect::kLonger},
                                          {"twice_the_network", Effect::kShorter},
                                          {"zero", Effect::kNotLonger}});
}

TEST_F(WhatIf, OnASymbolicStep) {
  const std::string trace = std::string(CHAKRA_SHARED_DATA) + "/stage/llama_tiny_8";
  if (!fs::exists(trace)) GTEST_SKIP() << trace << " is absent";
  Expect(trace, {{"faster_gpu", Effect::kShorter},
                 {"fused_optimizer", Effect::kNotLonger},
                 {"larger_buckets", Effect::kNotLonger},
                 {"mixed_precision", Effect::kShorter},
                 {"perfect_overlap", Effect::kShorter},
                 {"straggler", Effect::kLonger},
                 {"twice_the_network", Effect::kShorter},
                 {"zero", Effect::kNotLonger}});
}

// With kernels, of one rank of two.
TEST_F(WhatIf, OnACaptureOfCuda) {
  const std::string trace = std::string(CHAKRA_SHARED_DATA) + "/hta/a100_resnet50_ddp_rank-0_of_2.json.gz";
  if (!fs::exists(trace)) GTEST_SKIP() << trace << " is absent";
  Expect(trace, {{"faster_gpu", Effect::kNotLonger},
                 {"fused_optimizer", Effect::kNotLonger},
                 {"larger_buckets", Effect::kNotLonger},
                 {"mixed_precision", Effect::kNotLonger},
                 {"perfect_overlap", Effect::kShorter},
                 {"straggler", Effect::kLonger},
                 {"twice_the_network", Effect::kNotLonger},
                 {"zero", Effect::kNotLonger}});
}

}  // namespace
}  // namespace chakra::acceptance
