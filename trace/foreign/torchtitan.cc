// torchtitan's TOML files, which torchtitan read until 2026 (torchtitan/config/job_config.py), with the keys
// of 2024 and 2025.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/engine.h"
#include "trace/foreign/format.h"
#include "trace/foreign/keys.h"
#include "trace/foreign/rows.h"
#include "trace/foreign/text.h"
#include "trace/io/settings.h"

namespace chakra::foreign {
namespace {

// The sizes of models are in torchtitan's code; these flavors are published models.
struct Flavor {
  const char* name;  // name of the model
  const char* flavor;
  int64_t layers;
  const char* preset;  // "": none
  const char* sizes;   // a short form of proto::Model, on top of the preset
};
constexpr Flavor kFlavors[] = {
    {"llama3", "8B", 32, "llama3-8b", ""},
    {"llama3", "70B", 80, "llama3-70b", ""},
    {"llama3", "405B", 126, "llama3-405b", ""},
    {"deepseek_v3", "671B", 61, "deepseek-v3", ""},
    {"deepseek_v3", "236B", 60, "deepseek-v2", ""},
    // DeepSeek-V2-Lite's config.json
    {"deepseek_v3", "16B", 27, "",
     "layers=27,hidden=2048,heads=16,ffn=10944,vocab=102400,experts=64,top_k=6,expert_ffn=1408,shared_ffn="
     "2816,"
     "dense_layers=1,kv_rank=512,nope_dim=128,rope_dim=64,v_dim=128"},
    {"qwen3", "32B", 64, "qwen3-32b", ""},
    {"qwen3", "30B-A3B", 48, "qwen3-30b-a3b", ""},
    {"qwen3", "235B-A22B", 94, "qwen3-235b-a22b", ""},
};

constexpr const char* kHarmlessOfTorchtitan[] = {"job.*",
                                                 "profiling.*",
                                                 "metrics.*",
                                                 "lr_scheduler.*",
                                                 "checkpoint.*",
                                                 "experimental.custom*",
                                                 "comm.*",
                                                 "validation.*",
                                                 "training.dataset*",
                                                 "training.steps*",
                                                 "training.max_norm*",
                                                 "training.seed*",
                                                 "training.deterministic*",
                                                 "training.warmup*",
                                                 "training.gc_freq*",

                                                 "optimizer.lr*",
                                                 "optimizer.beta*",
                                                 "optimizer.eps*",
                                                 "optimizer.weight_decay*",
                                                 "optimizer.fused*",
                                                 "optimizer.foreach*",
                                                 "optimizer.implementation*",
                                                 "optimizer.min_lr*",
                                                 "compile.backend*",
                                                 "compile.model*",
                                                 "compile.components*",
                                                 "model.tokenizer*",
                                                 "model.hf_assets*",
                                                 "model.print*",
                                                 "model.norm_type*",
                                                 "debug.*",
                                                 "fault_tolerance.*",

                                                 "parallelism.enable_compiled*",
                                                 "training.gc*",
                                                 "training.debug*",
                                                 "parallelism.disable_loss_parallel*",
                                                 "training.disable_loss_parallel*",
                                                 "activation_checkpoint.per_op*",
                                                 "activation_checkpoint.early*"};

constexpr Row kTorchtitanRows[] = {
    {"compile.enable|training.compile", "yes", "training.compiled=yes"},
    {"compile.enable|training.compile", "no", ""},
    {"training.enable_cpu_offload", "yes", "", "weights and optimizer stay on the device"},
    {"training.enable_cpu_offload", "no", ""},
    {"parallelism.expert_parallel_comm_backend", "standard", "parallel.dispatcher=alltoall"},
    {"parallelism.expert_parallel_comm_backend", "deepep", "parallel.dispatcher=deep"},
    {"parallelism.expert_parallel_comm_backend", "hybridep", "parallel.dispatcher=hybrid"},
    {"optimizer.early_step_in_backward", "yes", "", "the optimizer runs after the backward pass"},
    {"optimizer.early_step_in_backward", "no", ""},
};

// The names of a key that older versions had in other tables: "parallelism.K|training.K|experimental.K".
std::string InAnyTable(absl::string_view key) {
  return absl::StrCat("parallelism.", key, "|training.", key, "|experimental.", key);
}

class Torchtitan {
 public:
  Torchtitan(ForeignKeys& keys, proto::Workload* out)
      : k_(keys),
        out_(*out),
        m_(*out->mutable_model()),
        p_(*out->mutable_parallel()),
        t_(*out->mutable_training()) {}

  void Take() {
    Model();
    Parallel();
    Pipeline();
    Batch();
    Types();
    Checkpoint();
    ApplyRows(kTorchtitanRows, "", k_, &out_);
    if (!t_.has_framework()) t_.set_framework(proto::Training::FSDP);
    t_.set_optimizer(proto::Training::ADAMW);
    if (const auto name = k_.Text("optimizer.name");
        name.has_value() && *name != "AdamW" && *name != "Adam") {
      const bool muon = *name == "Muon" || *name == "DistMuon";
      if (muon && p_.tp() <= 1 && t_.dtype() != proto::Training::FP16) {
        t_.set_optimizer(proto::Training::MUON);
        k_.LeaveOut(absl::StrCat("optimizer.name=", *name, ": ranks exchange matrices as in microsoft/dion"));
      } else {
        k_.LeaveOut(absl::StrCat("optimizer.name=", *name, ": AdamW is used"));
      }
    }
  }

 private:
  void Model() {
    const std::string name = k_.Text("model.name").value_or(""),
                      flavor = k_.Text("model.flavor").value_or("");
    std::vector<std::string> known;
    for (const Flavor& f : kFlavors) {
      known.push_back(absl::StrCat(f.name, " ", f.flavor));
      if (name != f.name || flavor != f.flavor) continue;
      layers_ = f.layers;
      if (*f.preset != '\0') m_.set_preset(f.preset);
      if (*f.sizes != '\0' && !ReadSettings(f.sizes, "flavor", &m_).ok())
        k_.Refuse("model.flavor", "no sizes");
      return;
    }
    std::string list;
    for (const std::string& one : known) absl::StrAppend(&list, list.empty() ? "" : ", ", one);
    k_.Refuse("model.flavor",
              absl::StrCat("the sizes of model.name \"", name, "\" are in torchtitan's code; known: ", list,
                           "; expected one of them, or the model by --model"));
  }

  void Parallel() {
    const int64_t tp = k_.NumberOr(InAnyTable("tensor_parallel_degree"), 1);
    p_.set_tp(tp);
    p_.set_sp(tp > 1);
    p_.set_pp(k_.NumberOr(InAnyTable("pipeline_parallel_degree"), 1));
    p_.set_cp(k_.NumberOr(InAnyTable("context_parallel_degree"), 1));
    p_.set_ep(k_.NumberOr("parallelism.expert_parallel_degree", 1));
    p_.set_etp(k_.NumberOr("parallelism.expert_tensor_parallel_degree", 1));
    const std::string rotate = k_.Text(InAnyTable("context_parallel_rotate_method")).value_or("allgather");
    p_.set_cp_kind(rotate == "alltoall" ? proto::Parallel::RING : proto::Parallel::ALL_GATHER);
    const int64_t shards =
        k_.NumberOr(InAnyTable("data_parallel_shard_degree") + "|training.data_parallel_degree", -1);
    const int64_t copies = k_.NumberOr(InAnyTable("data_parallel_replicate_degree"), 1);
    if (copies < 1 || copies > (1 << 20) || shards > (1 << 20))
      return k_.Refuse(InAnyTable("data_parallel_replicate_degree"), "expected 1 to 1048576 copies");
    if (shards > 0) p_.set_dp(shards * copies);
    if (copies > 1 && shards != 1) p_.set_copies(copies);
    if (copies > 1 && shards == 1) TakeDdp(&out_);
    const std::string reshard = k_.Text("parallelism.fsdp_reshard_after_forward").value_or("default");
    if (reshard == "never" || reshard == "always") {
      p_.set_reshard_after_forward(reshard == "always");
    } else if (reshard != "default") {
      k_.Refuse("parallelism.fsdp_reshard_after_forward", "expected default, always or never");
    }
    if (k_.FlagOr(InAnyTable("enable_async_tensor_parallel"), false) && tp > 1) p_.set_overlap_tensor(true);
  }

  void Pipeline() {
    const std::string schedule = k_.Text(InAnyTable("pipeline_parallel_schedule")).value_or("1F1B");
    const int64_t each = k_.NumberOr("parallelism.pipeline_parallel_layers_per_stage", 0);
    k_.Number("parallelism.pipeline_parallel_first_stage_less_layers");
    k_.Number("parallelism.pipeline_parallel_last_stage_less_layers");
    if (p_.pp() <= 1) return;
    if (schedule == "Interleaved1F1B") {
      const int64_t pieces = each > 0 ? (layers_ + 2 + each - 1) / each / p_.pp() : 2;
      p_.set_vpp(std::max<int64_t>(2, pieces));
    } else if (schedule == "DualPipeV") {
      p_.set_schedule("dualpipev");
    } else if (schedule == "GPipe") {
      p_.set_schedule("gpipe");
    } else if (schedule != "1F1B") {
      k_.Refuse(InAnyTable("pipeline_parallel_schedule"),
                "expected 1F1B, GPipe, Interleaved1F1B or DualPipeV; others are not generated yet");
    }
    p_.set_layout("balanced");
  }

  void Batch() {
    t_.set_seq(k_.NumberOr("training.seq_len", 2048));
    const int64_t tokens = k_.NumberOr("training.num_tokens_per_microbatch_per_dp_rank", 0);
    const int64_t batches = k_.NumberOr("training.num_pp_microbatches|parallelism.num_pp_microbatches", 0);
    const int64_t local = k_.NumberOr("training.local_batch_size|training.batch_size", 8);
    const int64_t whole = k_.NumberOr("training.global_batch_size", -1);
    // Until 2025 files give the number of micro-batches, by default one for each rank of the pipeline.
    const int64_t parts = k_.NumberOr("experimental.pipeline_parallel_microbatches",
                                      k_.Has("experimental.pipeline_parallel_degree") ? p_.pp() : 0);
    const int64_t of_pipeline = parts > 0 ? std::max<int64_t>(1, local / parts)
                                          : k_.NumberOr("parallelism.pipeline_parallel_microbatch_size", 1);
    if (t_.seq() < 1) return k_.Refuse("training.seq_len", "expected at least 1");
    const int64_t micro = tokens > 0    ? std::max<int64_t>(1, tokens / t_.seq())
                          : p_.pp() > 1 ? of_pipeline
                                        : local;
    t_.set_micro_batch(micro);
    if (whole > 0) return t_.set_global_batch(whole);
    const int64_t dp = std::max<int64_t>(1, p_.dp());
    if (local > (1 << 20) || dp > (1 << 20) || micro > (1 << 20) || batches > (1 << 20)) {
      return k_.Refuse("training.local_batch_size", "expected at most 1048576 sequences");
    }
    t_.set_global_batch(tokens > 0 ? micro * std::max<int64_t>(1, batches) * dp : local * dp);
  }

  void Types() {
    const std::string type = k_.Text("training.mixed_precision_param").value_or("bfloat16");
    t_.set_dtype(type == "float32" ? proto::Training::FP32 : proto::Training::BF16);
    if (const auto reduce = k_.Text("training.mixed_precision_reduce");
        reduce.has_value() && *reduce == "bfloat16") {
      t_.set_grad_reduce_dtype(proto::Training::BF16);
    } else if (reduce.has_value() && *reduce != "float32") {
      k_.LeaveOut(
          absl::StrCat("training.mixed_precision_reduce=", *reduce, ": gradients are reduced in float32"));
    }
    const std::string converters = k_.Text("model.converters").value_or("");
    const bool float8 = k_.FlagOr("float8.enable_float8_linear", false);
    if (absl::StrContains(converters, "nvfp4")) {
      t_.set_dtype(proto::Training::NVFP4);
      k_.LeaveOut("model.converters", "GEMMs of all layers have nvfp4; bf16_layers takes layers out");
    } else if (absl::StrContains(converters, "mx")) {  // "mx", "quantize.linear.mx"
      t_.set_dtype(proto::Training::FP8);
      t_.set_fp8(proto::Training::MXFP8);
    } else if (float8 || (absl::StartsWith(converters, "[") && converters != "[]")) {
      t_.set_dtype(proto::Training::FP8);
      if (!float8) k_.LeaveOut("model.converters: float8 GEMMs are used");
    }
  }

  void Checkpoint() {
    const std::string mode = k_.Text("activation_checkpoint.mode").value_or("selective");
    const std::string option = k_.Text("activation_checkpoint.selective_ac_option").value_or("2");
    if (mode == "full") {
      t_.set_recompute(proto::Training::FULL);
    } else if (int64_t n = 0; mode == "selective" && absl::SimpleAtoi(option, &n) && n > 0) {
      t_.set_recompute(proto::Training::FULL);
      t_.set_recompute_method(proto::Training::EVERY);
      t_.set_recompute_layers(n);
    } else if (mode == "selective" && option == "op") {
      t_.set_recompute(proto::Training::OPERATORS);
      t_.set_recompute_gemms(true);
    } else if (mode == "selective") {
      k_.Refuse("activation_checkpoint.selective_ac_option", "expected op, or N for every N-th layer");
    } else if (mode == "memory_budget") {
      k_.LeaveOut(
          "activation_checkpoint.mode=memory_budget: the compiler chooses operators to recompute; "
          "recompute=none is used");
    } else if (mode != "none") {
      k_.Refuse("activation_checkpoint.mode", "expected none, selective, full or memory_budget");
    }
  }

  ForeignKeys& k_;
  proto::Workload& out_;
  int64_t layers_ = 0;
  proto::Model& m_;
  proto::Parallel& p_;
  proto::Training& t_;
};

bool LooksLikeTorchtitan(const Head& head) {
  if (head.keys.json) return head.keys.Has("parallelism") && head.keys.Has("training");  // Config.to_json
  for (absl::string_view line : absl::StrSplit(head.text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    for (const absl::string_view table : {"[model]", "[training]", "[parallelism]"}) {
      if (absl::StartsWith(line, table)) return true;
    }
  }
  return false;
}

absl::Status ReadTorchtitan(const Source& source, proto::Workload* out) {
  ForeignKeys keys(source.name);
  const bool json = absl::StartsWith(absl::StripLeadingAsciiWhitespace(source.content), "{");
  RETURN_IF_ERROR(json ? ReadTree(source.content, "", nullptr, &keys) : ReadToml(source.content, &keys));
  Torchtitan(keys, out).Take();
  keys.NameTheRest(kHarmlessOfTorchtitan, out);
  out->mutable_model()->set_source(source.name);
  return keys.status();
}

}  // namespace

const Format kTorchtitan = {"torchtitan's TOML", Role::kStep, LooksLikeTorchtitan, ReadTorchtitan};

}  // namespace chakra::foreign
