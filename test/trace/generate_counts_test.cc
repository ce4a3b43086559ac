// Parameters and operations of models against published totals.
#include <gtest/gtest.h>

#include "trace/generate/counts.h"
#include "trace/generate/presets.h"
#include "trace/generate/resolve.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

ModelSize Preset(const std::string& name) {
  const auto model = FindPreset(name);
  EXPECT_TRUE(model.ok()) << model.status();
  const auto sizes = ResolveModel(*model);
  EXPECT_TRUE(sizes.ok()) << name << ": " << sizes.status();
  return sizes.ok() ? *sizes : ModelSize();
}

struct Known {
  const char* name;
  double total;   // 10^9
  double active;  // 10^9; 0: dense
  int64_t seq;
  double gflop;  // of training a token
};

// Totals: of the published checkpoints. Operations: Megatron-LM's formula, which NVIDIA's reports follow.
constexpr Known kKnown[] = {
    {"gpt3-175b", 174.578, 0, 2048, 1061.95},      {"mt-nlg-530b", 529.535, 0, 2048, 3203.6},
    {"llama2-7b", 6.738, 0, 4096, 42.86},          {"llama2-70b", 68.977, 0, 4096, 428.39},
    {"llama3-8b", 8.030, 0, 8192, 51.47},          {"llama3-70b", 70.554, 0, 8192, 449.22},
    {"llama3-405b", 405.853, 0, 8192, 2523.96},    {"qwen3-32b", 32.762, 0, 4096, 204.79},
    {"qwen3-30b-a3b", 30.532, 3.353, 4096, 23.01}, {"qwen3-235b-a22b", 235.094, 22.19, 4096, 148.03},
    {"mixtral-8x7b", 46.703, 12.880, 4096, 79.71}, {"mixtral-8x22b", 140.630, 39.16, 4096, 242.20},
    {"deepseek-v2", 235.741, 21.38, 4096, 155.0},  {"deepseek-v3", 671.026, 37.55, 4096, 249.8},
    {"kimi-k2", 1026.41, 32.86, 4096, 204.48},
};

TEST(GenerateCounts, EqualPublishedTotals) {
  for (const Known& k : kKnown) {
    const ModelSize model = Preset(k.name);
    const ModelParameters p = CountParameters(model);
    EXPECT_NEAR(static_cast<double>(p.total) / 1e9 / k.total, 1, 0.003) << k.name;
    const double active = k.active > 0 ? k.active * 1e9 : static_cast<double>(p.total);
    EXPECT_NEAR(static_cast<double>(p.active) / active, 1, 0.003) << k.name;
    EXPECT_NEAR(TrainingFlopsPerToken(model, k.seq) / 1e9 / k.gflop, 1, 0.003) << k.name;
  }
}

TEST(GenerateCounts, MultiTokenPredictionCostsALayerAndAHead) {
  ModelSize model = Preset("deepseek-v3");
  const int64_t without = CountParameters(model).total;
  model.mtp = 1;
  EXPECT_NEAR(TrainingFlopsPerToken(model, 4096) / 1e9 / 259.4, 1, 0.003);
  EXPECT_EQ(CountParameters(model).total, without);
}

// Exact totals: BertModel of bert-large-uncased, and torchvision's vit_l_16.
TEST(GenerateCounts, AreExactForEncoders) {
  EXPECT_EQ(CountParameters(Preset("bert-large")).total, 335141888);
  EXPECT_EQ(CountParameters(Preset("vit-l-16")).total, 304326632);
}

// Exact totals, from the sizes of the checkpoints' tensors.
TEST(GenerateCounts, AreExactForLlama) {
  EXPECT_EQ(CountParameters(Preset("llama2-7b")).total, 6738415616);
  EXPECT_EQ(CountParameters(Preset("llama3-8b")).total, 8030261248);
  EXPECT_EQ(CountParameters(Preset("llama3-70b")).total, 70553706496);
  EXPECT_EQ(CountParameters(Preset("mixtral-8x7b")).total, 46702792704);
}

// Attention, experts and one expert for all tokens, router, norms; embedding and head. Meta: 17 billion
// active.
TEST(GenerateCounts, AreExactForLlama4) {
  const int64_t attention = 5120 * (5120 + 2 * 1024) + 5120 * 5120, mlp = 3 * 5120 * 8192, norms = 2 * 5120;
  const int64_t ends = 2 * int64_t{202048} * 5120 + 5120;
  const ModelParameters scout = CountParameters(Preset("llama4-scout"));
  EXPECT_EQ(scout.total, 48 * (attention + 17 * mlp + 16 * 5120 + norms) + ends);
  EXPECT_EQ(scout.total, 107769861120);
  EXPECT_EQ(scout.active, 48 * (attention + 2 * mlp + 16 * 5120 + norms) + ends);
  EXPECT_NEAR(static_cast<double>(scout.active) / 17.2e9, 1, 0.003);
  const ModelParameters maverick = CountParameters(Preset("llama4-maverick"));
  EXPECT_EQ(maverick.total, 24 * (attention + 129 * mlp + 128 * 5120 + norms) +
                                24 * (attention + 3 * 5120 * 16384 + norms) + ends);
  EXPECT_EQ(maverick.total, 400711848960);
  EXPECT_NEAR(static_cast<double>(maverick.active) / 17.2e9, 1, 0.003);
  // 3 of 4 layers see a chunk of 8,192 tokens.
  ModelSize model = Preset("llama4-scout");
  const double chunked = TrainingFlopsPerToken(model, 32768);
  model.chunk = 0;
  model.chunked.reset();
  EXPECT_DOUBLE_EQ(TrainingFlopsPerToken(model, 32768) - chunked, 6 * 36 * 2 * 5120.0 * (32768 - 8192) / 2);
}

TEST(GenerateCounts, AreExactForGemma2) {
  EXPECT_EQ(CountParameters(Preset("gemma2-2b")).total, 2614341888);
  EXPECT_EQ(CountParameters(Preset("gemma2-9b")).total, 9241705984);
  EXPECT_EQ(CountParameters(Preset("gemma2-27b")).total, 27227128320);
}

TEST(GenerateCounts, AttentionGrowsWithTheSquareOfTheSequence) {
  const ModelSize model = Preset("llama3-8b");
  const double base = TrainingFlopsPerToken(model, 1), s = TrainingFlopsPerToken(model, 1001);
  EXPECT_NEAR(TrainingFlopsPerToken(model, 2001) - base, 2 * (s - base), 1);
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
