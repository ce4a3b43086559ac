// The power of kernels on an H100, against published readings and hand calculations.
#include <gmock/gmock.h>

#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

class PowerOfKernels : public Bench {
 protected:
  struct Drawn {
    double mean = 0, peak = 0;  // of the device, watts
  };
  // A kernel of `microseconds`; shapes as profilers write them, in bf16.
  static PbNode Kernel(const std::string& name, const std::string& shapes, uint64_t microseconds) {
    PbNode n = Comp(0, microseconds);
    n.set_name(name);
    n.mutable_inputs()->set_shapes(shapes);
    n.mutable_inputs()->set_types("['c10::BFloat16', 'c10::BFloat16']");
    return n;
  }
  // A kernel that streams `megabytes`.
  static PbNode Stream(int64_t megabytes, uint64_t microseconds) {
    return With(Kernel("paged_attention_kernel", "[]", microseconds), "tensor_size", megabytes * 1000000);
  }
  // The power of the kernels one after the other, a hundred times.
  Drawn Draws(const std::vector<PbNode>& kernels, const std::string& more = "") const {
    std::vector<PbNode> nodes;
    for (int i = 0; i < 100; ++i) {
      for (PbNode n : kernels) {
        n.set_id(nodes.size());
        n.clear_data_deps();
        if (!nodes.empty()) n.add_data_deps(nodes.size() - 1);
        nodes.push_back(n);
      }
    }
    Rank("run", 0, nodes);
    const proto::Report r = Replayed("run --cluster dgx-h100 --compute recorded --energy" +
                                     (more.empty() ? "" : "=" + Write("e.txtpb", more)));
    Drawn run;
    for (const proto::PowerLevel& level : r.energy().level()) {
      if (level.of() == "device") run = {level.mean_watts(), level.peak_watts()};
    }
    return run;
  }
};

// Readings of ML.ENERGY's benchmark 3.0, from which busy_watts and issue_watts come: 300 W with one sequence,
// 600 W with 128.
TEST_F(PowerOfKernels, DecodingMatchesPublishedReadings) {
  // 117 MB of weights, each used once, at 0.67 of 3.35 TB/s.
  const PbNode vector = Kernel("aten::mm", "[[1, 4096], [4096, 14336]]", 52);
  EXPECT_NEAR(Draws({vector}).mean, 300, 0.12 * 300);
  // The same weights for 128 sequences, then equally many bytes of their caches.
  const PbNode matrix = Kernel("aten::mm", "[[128, 4096], [4096, 14336]]", 52);
  EXPECT_NEAR(Draws({matrix, Stream(130, 52)}).mean, 600, 0.1 * 600);
}

TEST_F(PowerOfKernels, MatchesHandCalculations) {
  // 335 MB in 200 us are half of the bandwidth: all multiprocessors work.
  EXPECT_NEAR(Draws({Stream(335, 200)}).mean, 120 + 50 + 170 + 0.5 * 230, 0.1);
  // A tenth of the bandwidth: a fifth of the multiprocessors work.
  EXPECT_NEAR(Draws({Stream(67, 200)}).mean, 120 + 50 + 0.2 * 170 + 0.1 * 230, 0.1);
}

// A GEMM of 8192 x 8192 x 8192 at 733 TFLOP/s asks for 120 + 50 + 170 + 0.74 x 765 + 0.08 x 230 = 925 W.
TEST_F(PowerOfKernels, RegulatorHoldsTheMeanAtTheRating) {
  const PbNode gemm = Kernel("aten::mm", "[[8192, 8192], [8192, 8192]]", 1500);
  const Drawn alone = Draws({gemm});
  EXPECT_NEAR(alone.mean, 700, 0.1);
  EXPECT_NEAR(alone.peak, 700, 1e-6);
  // Kernels of 455 W between the GEMMs use the excess: with equal times, all of it; with twice the time, some
  // of the rating stays unused.
  const Drawn even = Draws({gemm, Stream(2512, 1500)});
  EXPECT_NEAR(even.mean, (925 + 455) / 2.0, 0.01 * 700);
  EXPECT_NEAR(even.peak, 700, 1e-6);
  EXPECT_NEAR(Draws({gemm, Stream(5025, 3000)}).mean, (925 + 2 * 455) / 3.0, 0.01 * 700);
  EXPECT_NEAR(Draws({gemm, gemm, Stream(2512, 1500)}).mean, 700, 1);
  // Matrix units with less power never reach the rating, so the regulator changes nothing.
  const Drawn small = Draws({gemm, Stream(2512, 1500)},
                            "profile { device: \"H100-SXM5-80GB\" power { tensor_watts { value: 100 } } }");
  EXPECT_NEAR(small.mean, (120 + 50 + 170 + 74 + 18 + 455) / 2.0, 4);
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
