// Makes workloads of the rows of published tables.
#include "absl/strings/str_cat.h"
#include "test/validation/csv_line.h"
#include "test/validation/steps.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

using Steps = std::vector<MeasuredStep>;

// Megatron-DeepSpeed of 2022 on A100-80GB: fp16, no FlashAttention, activations recomputed (vTrain, MICRO 2024, section
// 4). The vocabulary is Megatron-LM's for GPT-2.
absl::Status AddVtrain(const CsvLine& line, size_t* of_node, Steps* out) {
  std::string source;
  int64_t layers = 0, hidden = 0, heads = 0, seq = 0, tp = 0, pp = 0, dp = 0, micro = 0, global = 0;
  MeasuredStep step;
  absl::Status s = line.Read("source", &source);
  s.Update(line.Read("layers", &layers));
  s.Update(line.Read("hidden", &hidden));
  s.Update(line.Read("heads", &heads));
  s.Update(line.Read("seq_len", &seq));
  s.Update(line.Read("tp", &tp));
  s.Update(line.Read("pp", &pp));
  s.Update(line.Read("dp", &dp));
  s.Update(line.Read("micro_batch", &micro));
  s.Update(line.Read("global_batch", &global));
  s.Update(line.Read("iteration_s", &step.measured_s));
  if (!s.ok()) return s;
  if (source.find("single") == std::string::npos) {
    step.set = "vTrain, several nodes";
  } else {
    step.set = (*of_node)++ % 2 == 0 ? "vTrain, one node, fitted half" : "vTrain, one node, other half";
  }
  step.band = absl::StrCat("micro-batch ", micro);
  step.size = absl::StrCat("hidden ", hidden, ", tp ", tp);
  // Four HDR ports for eight GPUs (vTrain, section 4).
  step.cluster = step.set == "vTrain, several nodes" ? "dgx-a100:nic_gbps=100" : "dgx-a100";
  step.model = absl::StrCat("layers=", layers, ",hidden=", hidden, ",heads=", heads, ",ffn=", 4 * hidden,
                            ",gated=no,vocab=51200,tied=yes,norm=layer,bias=yes,positions=", seq);
  step.parallel = absl::StrCat("tp=", tp, ",pp=", pp, ",dp=", dp, ",sp=no");
  step.training = absl::StrCat("seq=", seq, ",micro_batch=", micro, ",global_batch=", global,
                               ",dtype=fp16,recompute=full,attention=math");
  out->push_back(std::move(step));
  return absl::OkStatus();
}

// Megatron-LM of 2025 with TransformerEngine and the distributed optimizer, without its overlaps (docs/b200;
// their run_pretrain_llama3.sh has no --overlap-grad-reduce).
absl::Status AddSimumax(const CsvLine& line, Steps* out) {
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, ffn = 0, vocab = 0, tp = 0, pp = 0, dp = 0, micro = 0,
          batches = 0, seq = 0;
  double ms = 0;
  MeasuredStep step;
  absl::Status s = line.Read("model", &step.size);
  s.Update(line.Read("layers", &layers));
  s.Update(line.Read("hidden", &hidden));
  s.Update(line.Read("heads", &heads));
  s.Update(line.Read("kv_heads", &kv_heads));
  s.Update(line.Read("ffn", &ffn));
  s.Update(line.Read("vocab", &vocab));
  s.Update(line.Read("tp", &tp));
  s.Update(line.Read("pp", &pp));
  s.Update(line.Read("dp", &dp));
  s.Update(line.Read("mbs", &micro));
  s.Update(line.Read("microbatches", &batches));
  s.Update(line.Read("seq", &seq));
  s.Update(line.Read("real_ms", &ms));
  if (!s.ok()) return s;
  step.set = "SimuMax, B200, one node";
  step.band = absl::StrCat(batches, " micro-batches");
  absl::StrAppend(&step.size, ", tp ", tp);
  step.cluster = "dgx-b200";
  step.model = absl::StrCat("layers=", layers, ",hidden=", hidden, ",heads=", heads, ",kv_heads=", kv_heads,
                            ",ffn=", ffn, ",vocab=", vocab);
  step.parallel = absl::StrCat("tp=", tp, ",pp=", pp, ",dp=", dp, ",zero=1,overlap_grad=no");
  step.training = absl::StrCat("seq=", seq, ",micro_batch=", micro, ",global_batch=", micro * batches * dp);
  step.measured_s = ms / 1e3;
  out->push_back(std::move(step));
  return absl::OkStatus();
}

// FSDP of PyTorch 1.13 and 2.0 with the FlashAttention of 2022 (llm-foundry's attn_impl: triton), no biases, learned
// positions.
absl::Status AddFoundry(const CsvLine& line, Steps* out) {
  int64_t layers = 0, hidden = 0, heads = 0, ffn = 0, vocab = 0, gpus = 0, micro = 0, global = 0, seq = 0;
  std::string device, recompute;
  MeasuredStep step;
  absl::Status s = line.Read("model", &step.size);
  s.Update(line.Read("device", &device));
  s.Update(line.Read("layers", &layers));
  s.Update(line.Read("hidden", &hidden));
  s.Update(line.Read("heads", &heads));
  s.Update(line.Read("ffn", &ffn));
  s.Update(line.Read("vocab", &vocab));
  s.Update(line.Read("gpus", &gpus));
  s.Update(line.Read("mbs", &micro));
  s.Update(line.Read("gbs", &global));
  s.Update(line.Read("seq", &seq));
  s.Update(line.Read("recompute", &recompute));
  s.Update(line.Read("iteration_s", &step.measured_s));
  if (!s.ok()) return s;
  step.set = absl::StrCat("llm-foundry, FSDP, ", device);
  step.band = seq <= 2048 ? "up to 2048 tokens" : seq <= 8192 ? "4096 and 8192 tokens" : "more tokens";
  step.cluster = device == "a100_40gb" ? "dgx-a100:memory_gbytes_per_s=1555"
                                       : device == "a100_80gb" ? "dgx-a100" : "dgx-h100";
  step.model = absl::StrCat("layers=", layers, ",hidden=", hidden, ",heads=", heads, ",ffn=", ffn,
                            ",gated=no,vocab=", vocab, ",tied=yes,norm=layer,bias=no,positions=", seq);
  step.parallel = absl::StrCat("dp=", gpus);
  step.training =
      absl::StrCat("seq=", seq, ",micro_batch=", micro, ",global_batch=", global, ",recompute=", recompute,
                   ",framework=fsdp,attention=flash1,fused_projections=yes");
  out->push_back(std::move(step));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<MeasuredStep>> ReadSteps(const std::string& folder, size_t every) {
  Steps all;
  size_t of_node = 0;
  const auto read = [&](const char* name, const auto& add) {
    const std::string path = absl::StrCat(folder, "/", name);
    const absl::StatusOr<std::string> text = ReadFile(path);
    if (!text.ok()) return text.status();
    const absl::Status s = ForEachLine(*text, add);
    return s.ok() ? s : absl::InvalidArgumentError(absl::StrCat(path, ": ", s.message()));
  };
  absl::Status s = read("training_iterations_vtrain.csv",
                        [&](const CsvLine& line) { return AddVtrain(line, &of_node, &all); });
  if (s.ok())
    s = read("training_simumax_b200.csv", [&](const CsvLine& line) { return AddSimumax(line, &all); });
  if (s.ok())
    s = read("training_throughput_llm_foundry.csv", [&](const CsvLine& line) { return AddFoundry(line, &all); });
  if (!s.ok()) return s;
  std::map<std::string, size_t> seen;
  Steps taken;
  for (MeasuredStep& step : all) {
    if (seen[step.set]++ % every == every / 2) taken.push_back(std::move(step));
  }
  return taken;
}

}  // namespace chakra::validation
