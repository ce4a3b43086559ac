// Muon and its kin in the files of frameworks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "test/trace/foreign_testing.h"

namespace chakra::foreign::CHAKRA_FILE {
namespace {

using proto::Training;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

proto::Workload Megatron(const std::string& arguments) {
  return ReadText(absl::StrCat("--num-layers 4 --hidden-size 512 --num-attention-heads 8 --seq-length 128 "
                               "--vocab-size 1000 --bf16 --cross-entropy-loss-fusion ",
                               arguments),
                  WithModel(), "run.sh");
}

TEST(ForeignMuon, MegatronNamesItsOptimizers) {
  const proto::Workload muon = Megatron(
      "--optimizer dist_muon --muon-num-ns-steps 8 --muon-tp-mode duplicated --muon-momentum 0.9 "
      "--muon-scale-mode spectral --muon-coefficient-type polar_express --no-muon-split-qkv");
  EXPECT_EQ(muon.training().optimizer(), Training::MUON);
  EXPECT_EQ(muon.parallel().zero(), 1);
  EXPECT_EQ(muon.training().muon_steps(), 8);
  EXPECT_EQ(muon.training().matrix_tp(), Training::DUPLICATED);
  EXPECT_FALSE(muon.training().muon_split_qkv());
  EXPECT_TRUE(muon.training().has_muon_split_qkv());
  EXPECT_THAT(LeftOutOf(muon), Not(Contains(HasSubstr("muon"))));
  EXPECT_EQ(Megatron("--optimizer muon").parallel().zero(), 0);
  EXPECT_EQ(Megatron("--optimizer muon --use-distributed-optimizer").parallel().zero(), 1);
  EXPECT_EQ(Megatron("--optimizer adaptive_muon").training().muon_moment(), Training::ELEMENTS);
  const proto::Workload soap = Megatron("--optimizer soap");
  EXPECT_EQ(soap.training().optimizer(), Training::SOAP);
  EXPECT_THAT(LeftOutOf(soap), Contains("optimizer=soap: bases are not updated in the step"));
  const proto::Workload lion = Megatron("--optimizer lion --muon-momentum 0.9");
  EXPECT_THAT(LeftOutOf(lion), Contains("optimizer=lion: adam is used"));
  const proto::Workload cut =
      Megatron("--optimizer muon --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params");
  EXPECT_THAT(LeftOutOf(cut), Contains("optimizer=muon: adam is used, since shares of weights cut matrices"));
}

TEST(ForeignMuon, DeepSpeedGathersMatrices) {
  const auto read = [](int zero, const char* dtype) {
    return ReadText(
        absl::StrCat(R"({"train_micro_batch_size_per_gpu": 1, "optimizer": {"type": "Muon"}, ")", dtype,
                     R"(": {"enabled": true}, "zero_optimization": {"stage": )", zero, "}}"),
        WithModel(), "ds_config.json");
  };
  const proto::Workload third = read(3, "bf16");
  EXPECT_EQ(third.training().optimizer(), Training::MUON);
  EXPECT_EQ(third.training().matrix_sharding(), Training::GATHERED);
  EXPECT_TRUE(third.training().muon_nesterov());
  EXPECT_FALSE(read(0, "bf16").training().has_matrix_sharding());
  const proto::Workload half = read(1, "fp16");
  EXPECT_EQ(half.training().optimizer(), Training::ADAMW);
  EXPECT_THAT(LeftOutOf(half), Contains("optimizer.type=Muon: adamw is used with fp16"));
}

TEST(ForeignMuon, TrainersNameIt) {
  const proto::Workload trained =
      ReadText(R"({"output_dir": "out", "per_device_train_batch_size": 1, "bf16": true, "optim": "muon"})",
               WithModel(), "training_args.json");
  EXPECT_EQ(trained.training().optimizer(), Training::MUON);
  const std::string factory =
      "model_name_or_path: x\nstage: sft\ncutoff_len: 128\nbf16: true\nuse_muon: true\nfinetuning_type: ";
  const proto::Workload full = ReadText(absl::StrCat(factory, "full\n"), WithModel(), "run.yaml");
  EXPECT_EQ(full.training().optimizer(), Training::MUON);
  const proto::Workload lora = ReadText(absl::StrCat(factory, "lora\n"), WithModel(), "run.yaml");
  EXPECT_EQ(lora.training().optimizer(), Training::ADAMW);
  EXPECT_THAT(LeftOutOf(lora), Contains("Muon: adamw is used with LoRA"));
}

}  // namespace
}  // namespace chakra::foreign::CHAKRA_FILE
