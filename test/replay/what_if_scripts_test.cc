// The scripts of examples/what_if, each on a generated step, on a symbolic one, and on a capture.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "test/folders.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

const std::string kFolder = std::string(CHAKRA_SOURCE_DIR) + "/examples/what_if/";

// The effect of a script on the makespan of a trace. kRefused: nothing matches; kDisagree: the ranks'
// collectives do not agree afterwards.
enum class Effect { kShorter, kNotLonger, kLonger, kRefused, kDisagree };

class WhatIf : public Bench {
 protected:
  // Expects the effects of all scripts of the folder on `trace`.
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
      if (expected->second == Effect::kRefused || expected->second == Effect::kDisagree) {
        const bool nothing = expected->second == Effect::kRefused;
        Refused("replay " + arguments, {nothing ? "matches nothing" : "must make the same calls"});
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

// Without launches, fusion saves nothing, and the first layer waits for the gradients of the last.
TEST_F(WhatIf, ScriptsWorkOnGeneratedStep) {
  Expect(std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step --compute recorded",
         {{"faster_gpu", Effect::kShorter},
          {"fused_optimizer", Effect::kLonger},
          {"larger_buckets", Effect::kNotLonger},
          {"mixed_precision", Effect::kShorter},
          {"perfect_overlap", Effect::kShorter},
          {"straggler", Effect::kLonger},
          {"twice_the_network", Effect::kShorter},
          {"zero", Effect::kRefused}});  // it has reduce-scatters already
}

// A capture of CPUs: no kernels. The thread of gloo that takes a bucket differs between ranks, so the buckets
// of a thread differ too. One call takes 0.4 ms on one rank and 8.6 ms on the other. Its two halves have a
// rendezvous each, so that the fast rank waits for the slow half of the other rank.
TEST_F(WhatIf, ScriptsWorkOnGlooCapture) {
  Expect(kFolder + "captures/batch_2/a", {{"faster_gpu", Effect::kRefused},
                                          {"fused_optimizer", Effect::kShorter},
                                          {"larger_buckets", Effect::kDisagree},
                                          {"mixed_precision", Effect::kNotLonger},
                                          {"perfect_overlap", Effect::kShorter},
                                          {"straggler", Effect::kLonger},
                                          {"twice_the_network", Effect::kShorter},
                                          {"zero", Effect::kLonger}});
}

TEST_F(WhatIf, ScriptsWorkOnSymbolicStep) {
  const std::string trace = std::string(CHAKRA_SHARED_DATA) + "/stage/llama_tiny_8";
  if (!fs::exists(trace)) GTEST_SKIP() << trace << " is absent";
  Expect(trace, {{"faster_gpu", Effect::kShorter},
                 {"fused_optimizer", Effect::kLonger},
                 {"larger_buckets", Effect::kLonger},
                 {"mixed_precision", Effect::kShorter},
                 {"perfect_overlap", Effect::kShorter},
                 {"straggler", Effect::kLonger},
                 {"twice_the_network", Effect::kShorter},
                 {"zero", Effect::kLonger}});
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
