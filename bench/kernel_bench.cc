// Predictions of the kernel model a second; x_stream: the time of a prediction over that of a stream in the
// same run.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench/measure.h"
#include "replay/cluster/devices.h"
#include "replay/compute/model/predict.h"

namespace chakra {
namespace {

// Calls of unequal sizes, so that no call can use the result of the one before.
std::vector<KernelCall> Calls(const std::string& family) {
  std::vector<KernelCall> calls;
  for (int i = 0; i < 1000; ++i) {
    const double a = 1 + i * 37 % 4096, b = 64 * (1 + i * 13 % 128), c = 64 * (1 + i * 29 % 128);
    if (family == "gemm") {
      calls.push_back(GemmCall{KernelDtype::kBf16, 1, a, b, c});
    } else if (family == "attention") {
      AttentionCall call;
      call.seq = a;
      call.heads = 32;
      call.kv_heads = 8;
      call.head_dim = 128;
      calls.push_back(call);
    } else if (family == "moe") {
      calls.push_back(MoeCall{KernelDtype::kBf16, a, 4096, 1536, 8, 128});
    } else {
      calls.push_back(StreamCall{StreamKind::kElementwise, a * b, a});
    }
  }
  return calls;
}

// One division by a rate and its range, which are in every answer: the ratio shows the cost of a law.
constexpr StreamCall kStream = {StreamKind::kElementwise, 1e8, 1e7};

void PredictFamily(benchmark::State& state, const char* family) {
  const auto device = FindDevice("H100");
  const auto model = KernelModel::Create(*device);
  const std::vector<KernelCall> calls = Calls(family);
  std::vector<double> ratios;
  for (auto _ : state) {
    const double predicted = SecondsOf([&] {
      for (const KernelCall& call : calls) benchmark::DoNotOptimize(Predict(*model, call));
    });
    const double reference = SecondsOf([&] {
      for (size_t i = 0; i < calls.size(); ++i) benchmark::DoNotOptimize(Predict(*model, kStream));
    });
    ratios.push_back(predicted / reference);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(calls.size()));
  state.counters["x_stream"] = Median(ratios);
}

// Makes a ready model from the name of a device.
void CreateModel(benchmark::State& state) {
  for (auto _ : state) {
    const auto device = FindDevice("H100");
    benchmark::DoNotOptimize(KernelModel::Create(*device));
  }
}

BENCHMARK_CAPTURE(PredictFamily, gemm, "gemm");
BENCHMARK_CAPTURE(PredictFamily, attention, "attention");
BENCHMARK_CAPTURE(PredictFamily, moe, "moe");
BENCHMARK_CAPTURE(PredictFamily, stream, "stream");
BENCHMARK(CreateModel);

}  // namespace
}  // namespace chakra
