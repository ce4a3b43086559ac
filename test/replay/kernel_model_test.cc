// The kernel model: laws within physical limits, answers for devices without measurements, and bad input.
#include "replay/compute/model/kernel_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/cluster/devices.h"
#include "replay/compute/model/architectures.h"
#include "replay/compute/model/calibrate.h"
#include "replay/compute/model/fits.h"
#include "replay/compute/model/predict.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::HasSubstr;

KernelModel ModelOf(const std::string& device) {
  return KernelModel::Create(FindDevice(device).value()).value();
}

GemmCall Square(double side) { return {KernelDtype::kBf16, 1, side, side, side}; }

TEST(KernelModel, EveryDeviceAnswersItsDefaultDtype) {
  for (const std::string& name : DeviceNames()) {
    const proto::Device device = FindDevice(name).value();
    const auto model = KernelModel::Create(device);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_FALSE(device.architecture().empty()) << name;
    GemmCall call = Square(4096);
    call.dtype = ParseKernelDtype(device.default_dtype()).value();
    const auto time = model->Gemm(call);
    ASSERT_TRUE(time.ok()) << time.status();
    EXPECT_LT(time->low_us, time->us);
    EXPECT_LT(time->us, time->high_us);
  }
}

// No GEMM is faster than the peak of the data sheet, and no GEMM that does not fit a cache is faster than
// memory.
TEST(KernelModel, IsNoFasterThanTheDataSheet) {
  for (const std::string& name : DeviceNames()) {
    const KernelModel model = ModelOf(name);
    const double peak = [&] {
      double most = 0;
      for (const auto& [dtype, value] : model.device().peak_tflops()) {
        if (dtype == "bf16" || dtype == "fp16") most = std::max(most, value);
      }
      return most * 1e6;
    }();
    if (peak == 0) continue;
    for (double m = 1; m <= 32768; m = std::ceil(m * 2.3)) {
      for (double side : {512.0, 4096.0, 5000.0, 16384.0}) {
        const auto time = model.Gemm({KernelDtype::kBf16, 1, m, side, 4096});
        ASSERT_TRUE(time.ok());
        EXPECT_GE(time->us, 2 * m * side * 4096 / peak) << name << " " << m << " " << side;
        const double bytes = 2 * side * 4096;
        if (bytes > 2.5e6 * model.device().l2_mbytes()) {
          EXPECT_GE(time->us, bytes / (model.device().memory_gbytes_per_s() * 1e3)) << name << " " << m;
        }
      }
    }
  }
}

// A sibling has other memory and the same cores: decoding is faster on H200, nearly by the ratio of
// bandwidths; prefill is not.
TEST(KernelModel, SiblingsDifferWhereTheirDataSheetsDo) {
  const KernelModel h100 = ModelOf("H100"), h200 = ModelOf("H200");
  const GemmCall decode = {KernelDtype::kBf16, 1, 16, 16384, 16384},
                 prefill = {KernelDtype::kBf16, 1, 8192, 8192, 4096};
  EXPECT_NEAR(h100.Gemm(decode)->us / h200.Gemm(decode)->us, 4800.0 / 3350, 0.08);
  EXPECT_NEAR(h100.Gemm(prefill)->us / h200.Gemm(prefill)->us, 1, 0.03);
  EXPECT_STREQ(h100.Gemm(decode)->from, "measured device");
  EXPECT_STREQ(h200.Gemm(decode)->from, "measured architecture");
  EXPECT_STREQ(ModelOf("MI300X").Gemm(decode)->from, "data sheet");
  // The range is wider if less is known.
  const auto width = [&](const char* name) {
    const ModelledTime t = ModelOf(name).Gemm(decode).value();
    return t.high_us / t.low_us;
  };
  EXPECT_LT(width("H100"), width("H200"));
  EXPECT_LT(width("H200"), width("MI300X"));
}

// The rate of a long GEMM of a step on one of `devices` devices, in TFLOP/s.
double SteadyRate(const char* device, KernelDtype dtype, int64_t devices) {
  const KernelModel model =
      KernelModel::Create(FindDevice(device).value(), KernelLoad::Steady(devices)).value();
  return 2 * std::pow(16384.0, 3) / model.Gemm({dtype, 1, 16384, 16384, 16384})->us / 1e6;
}

// SimuMax's long loops on B200 (bf16, 0.50 of the peak), Azure's on H100 and GB200 (fp8 by cuBLASLt, 1377 and
// 2907).
TEST(KernelModel, StepGemmsReachRatesOfLongLoops) {
  EXPECT_NEAR(SteadyRate("B200", KernelDtype::kBf16, 1), 0.50 * 2250, 60);
  EXPECT_NEAR(SteadyRate("H100", KernelDtype::kFp8, 1), 1377, 80);
  EXPECT_NEAR(SteadyRate("GB200", KernelDtype::kFp8, 1), 2907, 170);
}

// cuBLAS 12.9 on GB200: 6787 TFLOP/s, cool and of the best shape (NVIDIA's blog of that release). bf16 and
// fp8 are as fast on Ultra; of 4 bits it has half as many again.
TEST(KernelModel, GemmsOfFourBitsReachCublasRates) {
  const auto best = [](const char* device) {
    const KernelModel model = KernelModel::Create(FindDevice(device).value(), KernelLoad::Steady(1)).value();
    return 2 * std::pow(8192.0, 3) / model.Gemm({KernelDtype::kFp4, 1, 8192, 8192, 8192})->us / 1e6;
  };
  EXPECT_NEAR(best("GB200") * 1.244, 6787, 350);  // without the share that a hot device is slower
  EXPECT_GT(best("GB300"), 1.4 * best("GB200"));
  for (const KernelDtype dtype : {KernelDtype::kBf16, KernelDtype::kFp8})
    EXPECT_LT(SteadyRate("GB300", dtype, 1), 1.15 * SteadyRate("GB200", dtype, 1));
}

// A measured rate of large GEMMs is the limit in a step, less what shapes that fit tiles badly lose; single
// kernels have the law of their architecture.
TEST(KernelModel, MeasuredRatesAreTheLimitInAStep) {
  const auto near = [](const char* device, KernelDtype dtype, double rate) {
    EXPECT_NEAR(SteadyRate(device, dtype, 1), rate, 0.03 * rate) << device;
  };
  near("MI300X", KernelDtype::kBf16, 0.89 * 708);
  near("MI325X", KernelDtype::kFp8, 0.89 * 1519);
  near("TPU-v6e", KernelDtype::kBf16, 0.97 * 725);
  proto::Device device = FindDevice("MI300X").value();
  const auto time = [&](const KernelLoad& load) {
    return KernelModel::Create(device, load)->Gemm(Square(16384))->us;
  };
  const double alone = time(KernelLoad()), step = time(KernelLoad::Steady(1));
  (*device.mutable_achieved_tflops())["bf16"] /= 2;
  EXPECT_EQ(time(KernelLoad()), alone);
  EXPECT_NEAR(time(KernelLoad::Steady(1)), 2 * step, 0.02 * step);
}

TEST(KernelModel, BoardPowerChangesTheClockOfSiblings) {
  for (const KernelDtype dtype : {KernelDtype::kBf16, KernelDtype::kFp8}) {
    EXPECT_GT(SteadyRate("GB300", dtype, 1), 1.03 * SteadyRate("GB200", dtype, 1));
    EXPECT_GT(SteadyRate("B300", dtype, 1), 1.02 * SteadyRate("B200", dtype, 1));
  }
  // A single kernel takes equal times: the data sheets differ only in memory.
  const GemmCall prefill = Square(16384);
  EXPECT_NEAR(ModelOf("GB300").Gemm(prefill)->us / ModelOf("GB200").Gemm(prefill)->us, 1, 1e-9);
}

TEST(KernelModel, StepsWaitForTheSlowestDevice) {
  const double alone = SteadyRate("B200", KernelDtype::kBf16, 1);
  EXPECT_NEAR(alone / SteadyRate("B200", KernelDtype::kBf16, 8), 1.025, 0.001);
  EXPECT_NEAR(alone / SteadyRate("B200", KernelDtype::kBf16, 16384), 1.068, 0.003);
  // The clock does not limit A100.
  EXPECT_EQ(SteadyRate("A100", KernelDtype::kBf16, 1), SteadyRate("A100", KernelDtype::kBf16, 8));
}

// SimuMax's attention with keys of 192 and values of 128, 128 heads of 4096 tokens, on B200: 0.74 and 2.47
// ms.
TEST(KernelModel, AttentionAllowsKeysWiderThanValues) {
  const KernelModel model = KernelModel::Create(FindDevice("B200").value(), KernelLoad::Steady(1)).value();
  AttentionCall call;
  call.seq = 4096;
  call.heads = call.kv_heads = 128;
  call.head_dim = 192;
  call.v_dim = 128;
  const ModelledTime forward = model.Attention(call).value();
  EXPECT_NEAR(forward.us / 735, 1, 0.15);
  call.backward = true;
  const ModelledTime backward = model.Attention(call).value();  // 2,470 us is in its range
  EXPECT_LT(backward.low_us, 2470);
  EXPECT_GT(backward.high_us, 2470);
  EXPECT_GT(backward.us, 2.5 * forward.us);
}

// Times of kernel_efficiency_simumax.csv, sdp_bwd: sequences of 4096 tokens and longer ones.
TEST(KernelModel, AttentionBackwardMatchesMeasurements) {
  struct Row {
    const char* device;
    double seq, heads, kv_heads, width, us;
  };
  const Row rows[] = {{"A100", 4096, 64, 8, 128, 4383},      {"A100", 4096, 32, 8, 128, 2256},
                      {"A100", 4096, 8, 1, 128, 724},        {"A100", 4096, 128, 128, 192, 14284},
                      {"A100", 4096, 16, 16, 192, 1903},     {"B200", 4096, 128, 16, 128, 1469},
                      {"B200", 4096, 32, 8, 128, 388},       {"B200", 4096, 16, 2, 128, 202},
                      {"B200", 4096, 8, 1, 128, 116},        {"B200", 32768, 16, 2, 128, 11212},
                      {"B200", 131072, 16, 2, 128, 189165},  {"B200", 4096, 128, 128, 192, 2472},
                      {"B200", 4096, 32, 32, 192, 651},      {"B200", 32768, 64, 64, 192, 78322},
                      {"B200", 131072, 64, 64, 192, 1235734}};
  double sum = 0;
  for (const Row& row : rows) {
    const KernelModel model =
        KernelModel::Create(FindDevice(row.device).value(), KernelLoad::Steady(1)).value();
    AttentionCall call;
    call.seq = row.seq;
    call.heads = row.heads;
    call.kv_heads = row.kv_heads;
    call.head_dim = row.width;
    call.v_dim = 128;
    call.backward = true;
    const double error = model.Attention(call)->us / row.us - 1;
    EXPECT_NEAR(error, 0, 0.12) << row.device << " " << row.seq << " " << row.heads;
    sum += std::abs(error);
  }
  EXPECT_LT(sum / std::size(rows), 0.045);
}

// Blackwell Ultra computes exponentials at twice the rate. With wider heads, they are a smaller share of the
// time.
TEST(KernelModel, FasterExponentialsShortenAttention) {
  proto::Device device = FindDevice("GB300").value();
  const KernelModel fast = KernelModel::Create(device).value();
  device.clear_exponential_rate();
  const KernelModel slow = KernelModel::Create(device).value();
  AttentionCall call;
  call.seq = 8192;
  call.heads = 64;
  call.kv_heads = 8;
  double before = 1;
  for (const double width : {64, 128, 256}) {
    call.head_dim = width;
    const double gain = 1 - fast.Attention(call)->us / slow.Attention(call)->us;
    EXPECT_GT(gain, 0.05) << width;
    EXPECT_LT(gain, before) << width;
    before = gain;
  }
  EXPECT_EQ(fast.Gemm(Square(8192))->us, slow.Gemm(Square(8192))->us);
}

// Blackwell multiplies fp8 of any layout.
TEST(KernelModel, SkipsTransposesThatGemmsDoNotNeed) {
  StreamCall call{StreamKind::kTranspose, 1e8, 0, true};
  EXPECT_EQ(ModelOf("B200").Stream(call)->us, 0);
  EXPECT_GT(ModelOf("H100").Stream(call)->us, 40);
  call.for_layout = false;
  EXPECT_GT(ModelOf("B200").Stream(call)->us, 15);
}

// Times of kernel_efficiency_simumax.csv, group_matmul on B200: forward, and gradients of weights that add to
// fp32.
TEST(KernelModel, KernelsForEachExpertMatchMeasurements) {
  struct Row {
    double groups, m, n, k, us;
    bool accumulates;
  };
  const Row rows[] = {{20, 1232, 3072, 5120, 671, false},  {40, 2460, 3072, 5120, 2826, false},
                      {64, 512, 7168, 2048, 1000, false},  {128, 256, 7168, 2048, 1409, false},
                      {32, 1024, 4096, 7168, 1871, false}, {160, 3072, 5120, 154, 3679, true},
                      {256, 4096, 7168, 128, 11036, true}, {20, 3072, 5120, 1232, 1052, true},
                      {40, 3072, 5120, 2460, 3302, true}};
  const KernelModel model = KernelModel::Create(FindDevice("B200").value(), KernelLoad::Steady(1)).value();
  double sum = 0;
  for (const Row& row : rows) {
    GemmCall call{KernelDtype::kBf16, row.groups, row.m, row.n, row.k};
    call.accumulates = row.accumulates;
    const double in_one = model.Gemm(call)->us;
    call.each = true;
    const double each = model.Gemm(call)->us;
    EXPECT_GE(each, in_one) << row.groups;
    EXPECT_NEAR(each / row.us, 1, 0.25) << row.groups << " x " << row.m;
    sum += std::abs(each / row.us - 1);
    call.batch = 1;
    EXPECT_LE(each, row.groups * model.Gemm(call)->us * 1.01) << row.groups;
  }
  EXPECT_LT(sum / 9, 0.1);
}

TEST(KernelModel, MoreWorkTakesLonger) {
  const KernelModel model = ModelOf("H100");
  AttentionCall a = {KernelDtype::kBf16, KernelDtype::kBf16, 4, 1024, 0, 32, 8, 128};
  double last = 0;
  for (a.seq = 1024; a.seq <= 16384; a.seq *= 2) {
    const double us = model.Attention(a)->us;
    EXPECT_GT(us, 1.8 * last);
    last = us;
  }
  AttentionCall all = a, window = a, backward = a;
  all.causal = false;
  window.window = 1024;
  backward.backward = true;
  EXPECT_GT(model.Attention(all)->us, 1.6 * model.Attention(a)->us);
  EXPECT_LT(model.Attention(window)->us, 0.3 * model.Attention(a)->us);
  EXPECT_GT(model.Attention(backward)->us, 1.7 * model.Attention(a)->us);
  MoeCall moe = {KernelDtype::kBf16, 4096, 5120, 13824, 2, 8};  // in no table
  MoeCall parallel = moe;
  parallel.tp = 4;
  EXPECT_NEAR(model.Moe(moe)->us / model.Moe(parallel)->us, 4, 1);
}

struct Bad {
  const char* what;
  GemmCall call;
  const char* says;
};

TEST(KernelModel, RefusesInvalidGemms) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const KernelModel model = ModelOf("A100");
  for (const Bad& bad : std::vector<Bad>{
           {"NaN", {KernelDtype::kBf16, 1, kNan, 8, 8}, "m is nan"},
           {"zero", {KernelDtype::kBf16, 1, 8, 0, 8}, "n is 0; expected a number from 1"},
           {"negative", {KernelDtype::kBf16, 1, 8, 8, -3}, "k is -3"},
           {"infinite", {KernelDtype::kBf16, HUGE_VAL, 8, 8, 8}, "batch is inf"},
           {"too much", {KernelDtype::kBf16, 1, 4e6, 4e6, 4e6}, "expected at most 2^62"},
           {"fp4",
            {KernelDtype::kFp4, 1, 8, 8, 8},
            "A100-SXM4-80GB has no peak for dtype fp4; expected one of"},
       }) {
    const auto time = model.Gemm(bad.call);
    ASSERT_FALSE(time.ok()) << bad.what;
    EXPECT_THAT(std::string(time.status().message()), HasSubstr(bad.says)) << bad.what;
  }
}

TEST(KernelModel, RefusesUnknownArchitectures) {
  proto::Device device = FindDevice("H100").value();
  device.set_architecture("hoper");
  const auto model = KernelModel::Create(device);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(std::string(model.status().message()), HasSubstr("did you mean \"hopper\"?"));
}

TEST(KernelModel, EveryArchitectureHasAFitOfGemms) {
  for (const absl::string_view name : laws::ArchitectureNames()) {
    const laws::Architecture& a = *laws::FindArchitecture(name);
    EXPECT_EQ(a.name, name);  // the file parses
    EXPECT_TRUE(std::any_of(laws::GemmFits().begin(), laws::GemmFits().end(), [&](const laws::GemmFit& fit) {
      return fit.device == a.measured && fit.dtype == KernelDtype::kBf16;
    })) << a.name;
  }
}

std::vector<std::string> LinesOf(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

TEST(PredictRows, KeepsColumnsAndExplainsRefusedRows) {
  const proto::Device device = FindDevice("H200").value();
  const auto rows = ReadKernelRows(
      "op,note,dtype,m,n,k,seq,heads,head_dim\n"
      "gemm,\"a, b\",bf16,4096,4096,4096,,,\n"
      "gemm,short,bf16,4096,4096\n"
      "attention,,fp8,,,,1024,16,128\n"
      "gemmm,,,1,1,1,,,\n"
      "gemm,,fp4,8,8,8,,,\n",
      "rows.csv", device);
  ASSERT_TRUE(rows.ok()) << rows.status();
  size_t refused = 0;
  const std::vector<std::string> lines =
      LinesOf(PredictRows(KernelModel::Create(device).value(), *rows, &refused));
  EXPECT_EQ(refused, 3u);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "op,note,dtype,m,n,k,seq,heads,head_dim,time_us,low_us,high_us,from");
  EXPECT_THAT(lines[1], testing::StartsWith("gemm,\"a, b\",bf16,4096,4096,4096,,,,"));
  EXPECT_THAT(lines[1], testing::EndsWith(",measured architecture"));
  EXPECT_THAT(lines[2], testing::EndsWith(",,,refused: line 3: no k; expected a number"));
  EXPECT_THAT(lines[4], HasSubstr("did you mean \"\"gemm\"\"?"));
  EXPECT_THAT(lines[5], HasSubstr("H200-SXM-141GB has no peak"));
}

TEST(PredictRows, ConvolutionIsPricedAsItsGemm) {
  const proto::Device device = FindDevice("A100").value();
  const auto rows =
      ReadKernelRows("op,batch,in,out,h,w,r,pad\nconvolution,32,64,128,56,56,3,1\n", "c.csv", device);
  ASSERT_TRUE(rows.ok());
  const GemmCall call = std::get<GemmCall>(*rows->call[0]);
  EXPECT_EQ(call.m, 32 * 56 * 56);
  EXPECT_EQ(call.n, 128);
  EXPECT_EQ(call.k, 64 * 9);
}

// Three rows of a machine whose kernels reach 0.8 of the law's peak and 0.9 of its memory bandwidth correct
// the law.
TEST(CalibrateDevice, ThreeRowsCorrectTheLaw) {
  const proto::Device device = FindDevice("L40S").value();
  proto::Device real = device;
  real.mutable_kernel_scale()->set_peak_share(0.8);
  real.mutable_kernel_scale()->set_memory_share(0.9);
  real.mutable_kernel_scale()->set_start(1.5);
  const KernelModel truth = KernelModel::Create(real).value();
  std::string csv = "op,dtype,m,n,k,measured_us\n";
  for (const GemmCall& c : {Square(64), Square(8192), GemmCall{KernelDtype::kBf16, 1, 8, 16384, 16384}}) {
    absl::StrAppend(&csv, "gemm,bf16,", c.m, ",", c.n, ",", c.k, ",", truth.Gemm(c)->us, "\n");
  }
  const auto moved = CalibrateDevice(device, ReadKernelRows(csv, "micro.csv", device).value());
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(moved->kernel_scale().rows(), 3);
  const KernelModel plain = KernelModel::Create(device).value(), model = KernelModel::Create(*moved).value();
  for (double side : {128.0, 1024.0, 3000.0, 6000.0}) {
    const double right = truth.Gemm(Square(side))->us;
    EXPECT_NEAR(model.Gemm(Square(side))->us / right, 1, 0.06) << side;
    EXPECT_LT(std::abs(std::log(model.Gemm(Square(side))->us / right)),
              std::abs(std::log(plain.Gemm(Square(side))->us / right)))
        << side;
  }
}

TEST(CalibrateDevice, NeedsMeasuredTimes) {
  const proto::Device device = FindDevice("H100").value();
  const auto moved =
      CalibrateDevice(device, ReadKernelRows("op,m,n,k\ngemm,8,8,8\n", "r.csv", device).value());
  ASSERT_FALSE(moved.ok());
  EXPECT_THAT(std::string(moved.status().message()), HasSubstr("expected a column measured_us"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
