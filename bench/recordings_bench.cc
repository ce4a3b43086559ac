// The readers of JAX's profiles and of rocprofv3's JSON on generated files, from bytes in memory to device
// traces, against a plain walk of the same bytes: a visit of all fields of protobuf's wire format, and
// simdjson's DOM. CHAKRA_CAPTURE_MB sets the size (default 100).
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure.h"
#include "test/trace/xspace_builder.h"
#include "trace/import/hlo/step.h"
#include "trace/import/hlo/text_reader.h"
#include "trace/import/rocprof/json_file.h"
#include "trace/import/rocprof/ranks.h"
#include "trace/import/xplane/ranks.h"

namespace chakra {
namespace {

size_t WantedBytes() {
  const char* text = std::getenv("CHAKRA_CAPTURE_MB");
  const long mb = text == nullptr ? 100 : std::atol(text);
  return static_cast<size_t>(std::clamp(mb, 1l, 1024l)) << 20;
}

// A GPU's profile as JAX 0.8 writes it: kernels with six stats each, and their launching calls.
std::string GenerateProfile(size_t bytes) {
  using testing_xplane::PlaneBuilder;
  constexpr int64_t kUs = 1'000'000;
  std::vector<PlaneBuilder> planes;
  PlaneBuilder gpu("/device:GPU:0"), host("/host:CPU");
  gpu.Line(1, "Stream #1(Kernel)", 5000);
  host.Line(1, "launcher", 5000);
  const size_t n = bytes / 150;  // bytes of a kernel and its call
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<int64_t>(i) * 10 * kUs, correlation = static_cast<int64_t>(i) + 1;
    gpu.Event(absl::StrCat("loop_add_fusion_", i % 500), at + 4 * kUs, 5 * kUs,
              {{"correlation_id", correlation},
               {"kernel_details",
                std::string("regs:32 static_shared:0 dynamic_shared:0 grid:1280,1,1 block:256,1,1")},
               {"program_id", int64_t{7}},
               {"occupancy_pct", int64_t{50}}});
    host.Event("cuLaunchKernelEx", at, kUs, {{"correlation_id", correlation}});
  }
  return testing_xplane::SpaceOf({gpu, host});
}

// Visits every field of messages down to `depth` and uses none.
uint64_t Walk(wire::Cursor c, int depth) {
  uint64_t sum = 0;
  while (!c.done()) {
    wire::Field f;
    if (wire::ReadField(&c, &f) != nullptr) return sum;
    ++sum;
    if (f.type == wire::kBytes && depth > 0) sum += Walk(f.message(), depth - 1);
  }
  return sum;
}

void ReadXPlane(benchmark::State& state) {
  const std::string bytes = GenerateProfile(WantedBytes());
  std::vector<xplane::ProfileFile> files(1);
  files[0].path = "generated.xplane.pb";
  if (!files[0].content.Reserve(bytes.size())) return state.SkipWithError("no memory");
  std::memcpy(files[0].content.data(), bytes.data(), bytes.size());
  files[0].content.set_size(bytes.size());
  std::vector<double> ours, theirs;
  uint64_t events = 0;
  for (auto _ : state) {
    ours.push_back(SecondsOf([&] {
      const auto ranks = xplane::RanksOf(files);
      if (ranks.ok()) events = ranks->ranks[0].device->events.size();
    }));
    state.SetIterationTime(ours.back());
    theirs.push_back(SecondsOf([&] { benchmark::DoNotOptimize(Walk(wire::CursorOf(bytes), 4)); }));
  }
  if (events == 0) return state.SkipWithError("the profile was not read");
  state.counters["MB"] = static_cast<double>(bytes.size()) / 1e6;
  state.counters["events/s"] = static_cast<double>(events) / Median(ours);
  state.counters["MB/s"] = static_cast<double>(bytes.size()) / 1e6 / Median(ours);
  state.counters["x_plain_walk"] = Median(theirs) / Median(ours);
}

std::string GenerateRocprof(size_t bytes) {
  std::string text =
      R"({"rocprofiler-sdk-tool": [{"metadata": {"pid": 77}, "agents": [{"id": {"handle": 2}, "type": 2, "product_name": "AMD Instinct MI300X"}],
"strings": {"buffer_records": []}, "kernel_symbols": [)";
  for (int k = 0; k < 500; ++k)
    absl::StrAppend(&text, k > 0 ? "," : "", R"({"kernel_id": )", k, R"(, "formatted_kernel_name": "kernel_)",
                    k, "\"}");
  absl::StrAppend(&text, "], \"buffer_records\": {\"kernel_dispatch\": [");
  for (int64_t i = 0; text.size() < bytes; ++i) {
    const int64_t at = 63857982592000 + i * 10'000;
    absl::StrAppend(
        &text, i > 0 ? ",\n" : "\n",
        R"({"size": 184, "kind": 11, "operation": 2, "thread_id": 908, "correlation_id": {"internal": )", i,
        R"(, "external": 0}, "start_timestamp": )", at, R"(, "end_timestamp": )", at + 5'000,
        R"(, "dispatch_info": {"size": 72, "agent_id": {"handle": 2}, "queue_id": {"handle": 16}, "kernel_id": )",
        i % 500, R"(, "dispatch_id": )", i,
        R"(, "private_segment_size": 0, "group_segment_size": 0, "workgroup_size": {"x": 512, "y": 1, "z": 1}, "grid_size": {"x": 5120, "y": 1, "z": 1}}, "stream_id": {"handle": )",
        i % 4, "}}");
  }
  return text + "]}}]}";
}

void ReadRocprof(benchmark::State& state) {
  const std::string text = GenerateRocprof(WantedBytes());
  std::vector<double> ours, theirs;
  uint64_t events = 0;
  for (auto _ : state) {
    Buffer content;
    if (!content.Reserve(text.size())) return state.SkipWithError("no memory");
    std::memcpy(content.data(), text.data(), text.size());
    content.set_size(text.size());
    ours.push_back(SecondsOf([&] {
      std::vector<rocprof::Recording> recordings;
      if (!rocprof::ReadJson(&content, "generated.json", &recordings).ok()) return;
      const auto ranks = rocprof::RanksOf(std::move(recordings));
      if (ranks.ok()) events = ranks->ranks[0].device->events.size();
    }));
    state.SetIterationTime(ours.back());
    theirs.push_back(SecondsOf([&] {
      simdjson::dom::parser parser;
      simdjson::dom::element root;
      const auto error = parser.parse(text.data(), text.size(), true).get(root);
      benchmark::DoNotOptimize(error);
    }));
  }
  if (events == 0) return state.SkipWithError("the recording was not read");
  state.counters["MB"] = static_cast<double>(text.size()) / 1e6;
  state.counters["events/s"] = static_cast<double>(events) / Median(ours);
  state.counters["MB/s"] = static_cast<double>(text.size()) / 1e6 / Median(ours);
  state.counters["x_simdjson_dom"] = Median(theirs) / Median(ours);
}

// A module of many layers, as text.
void ReadHlo(benchmark::State& state) {
  std::string text =
      "HloModule jit_step, is_scheduled=true, num_partitions=8\n\nENTRY %main (p: bf16[64,64]) -> "
      "bf16[64,64] {\n"
      "  %p = bf16[64,64]{1,0} parameter(0)\n  %x.0 = bf16[64,64]{1,0} add(%p, %p)\n";
  const size_t bytes = WantedBytes() / 10;
  for (int64_t i = 1; text.size() < bytes; ++i) {
    absl::StrAppend(&text, "  %dot.", i, " = bf16[64,64]{1,0:T(8,128)(2,1)} dot(%x.", i - 1,
                    ", %p), lhs_contracting_dims={1}, "
                    "rhs_contracting_dims={0}, metadata={op_name=\"jit(step)/layer/dot_general\" "
                    "source_file=\"model.py\" source_line=7}\n",
                    "  %x.", i, " = bf16[64,64]{1,0} multiply(%dot.", i, ", %x.", i - 1, ")\n");
  }
  absl::StrAppend(&text, "  ROOT %r = bf16[64,64]{1,0} add(%p, %p)\n}\n");
  std::vector<double> ours, theirs;
  size_t nodes = 0;
  for (auto _ : state) {
    ours.push_back(SecondsOf([&] {
      const auto module = hlo::ReadHloText(text, "generated.txt");
      if (!module.ok()) return;
      const auto step = hlo::BuildStep(*module, "generated.txt");
      if (step.ok()) nodes = step->nodes.size();
    }));
    state.SetIterationTime(ours.back());
    theirs.push_back(SecondsOf([&] { benchmark::DoNotOptimize(std::count(text.begin(), text.end(), '%')); }));
  }
  if (nodes == 0) return state.SkipWithError("the module was not read");
  state.counters["MB"] = static_cast<double>(text.size()) / 1e6;
  state.counters["nodes/s"] = static_cast<double>(nodes) / Median(ours);
  state.counters["MB/s"] = static_cast<double>(text.size()) / 1e6 / Median(ours);
  state.counters["x_count_of_bytes"] = Median(theirs) / Median(ours);
}

constexpr auto kMs = benchmark::kMillisecond;
BENCHMARK(ReadXPlane)->UseManualTime()->Unit(kMs)->Iterations(5);
BENCHMARK(ReadRocprof)->UseManualTime()->Unit(kMs)->Iterations(5);
BENCHMARK(ReadHlo)->UseManualTime()->Unit(kMs)->Iterations(3);

}  // namespace
}  // namespace chakra
