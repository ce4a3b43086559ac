// NeMo Automodel's YAML (nemo_automodel/recipes, examples/llm_benchmark and examples/llm_finetune): a recipe
// for FSDP2, with the model by its name at HuggingFace.
#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/engine.h"
#include "trace/foreign/format.h"
#include "trace/foreign/model_ids.h"
#include "trace/foreign/rows.h"
#include "trace/foreign/trainer.h"

namespace chakra::foreign {
namespace {

using proto::Training;

constexpr Row kAutomodelRows[] = {
    {"step_scheduler.global_batch_size", "number", "training.global_batch"},
    {"step_scheduler.local_batch_size", "number", "training.micro_batch"},
    {"packed_sequence.packed_sequence_size", "0", ""},
    {"packed_sequence.packed_sequence_size", "number", "training.seq",
     "attention covers the whole packed sequence"},
    {"dataset.seq_len|dataset.seq_length", "number", "training.seq"},
    {"model.torch_dtype", "bf16|bfloat16|torch.bfloat16|auto", "training.dtype=bf16"},
    {"model.torch_dtype", "fp32|float32|torch.float32", "training.dtype=fp32"},
    {"model.num_nextn_predict_layers", "number", "model.mtp"},
    {"model.mtp_use_repeated_layer", "yes", "", "each layer of multi-token prediction has its own weights"},
    {"model.attn_implementation", "sdpa|flash_attention_2|flash_attention_3", ""},
    {"model.attn_implementation", "eager", "training.attention=math"},
    {"model.attn_implementation", "flex_attention", "", "flash is used"},
    {"model.backend.attn", "te", "training.attention=flash"},
    {"model.backend.attn", "sdpa", ""},
    {"model.backend.attn", "flex", "", "flash is used"},
    {"model.backend.linear", "te|torch", ""},
    {"model.backend.rms_norm", "te|torch|torch_fp32", ""},
    {"model.backend.experts", "te|torch|torch_mm|gmm", ""},
    {"model.backend.dispatcher", "deepep", "parallel.dispatcher=deep"},
    {"model.backend.dispatcher", "hybridep", "parallel.dispatcher=hybrid"},
    {"model.backend.dispatcher", "torch", "parallel.dispatcher=alltoall"},
    {"distributed.cp_size", "1", ""},
    {"distributed.cp_size", "number", "parallel.cp"},
    {"distributed.ep_size", "1", ""},
    {"distributed.ep_size", "number", "parallel.ep"},
    {"distributed.dp_replicate_size", "1", ""},
    {"distributed.dp_replicate_size", "number", "parallel.copies"},
    // Automodel wraps the modules of each layer.
    {"distributed.activation_checkpointing", "yes", "training.recompute=full"},
    {"distributed.activation_checkpointing", "no", ""},
    {"distributed.reshard_after_forward", "yes", ""},
    {"distributed.reshard_after_forward", "no", "parallel.reshard_after_forward=no"},
    {"distributed.moe.reshard_after_forward", "yes", ""},
    {"distributed.moe.reshard_after_forward", "no", "parallel.reshard_after_forward=no"},
    {"distributed.defer_fsdp_grad_sync", "yes", "", "gradients are reduced after each micro-batch"},
    {"distributed.defer_fsdp_grad_sync", "no", ""},
    {"distributed.enable_compile|compile.enabled", "yes", "training.compiled=yes"},
    {"distributed.enable_compile|compile.enabled", "no", ""},
    {"fp8.enabled", "yes", "training.dtype=fp8"},
    {"fp8.enabled", "no", ""},
    {"fp8.recipe_name", "tensorwise", ""},
    {"fp8.recipe_name", "any", "", "scales are those of whole tensors"},
};

constexpr const char* kHarmlessOfAutomodel[] = {
    "recipe",
    "seed",
    "benchmark.*",
    "ci.*",
    "dist_env.*",
    "checkpoint*",
    "wandb*",
    "mlflow*",
    "dataloader*",
    "validation*",
    "step_scheduler.*",
    "lr_scheduler*",
    "optimizer.*",
    "dataset*",
    "loss_fn.*",
    "rng.*",
    "auto_resume*",
    "logger*",
    "model._target_",
    "model.trust_remote_code",
    "model.mtp_*",
    "model.use_*",
    "model.output_*",
    "model.config._target_",
    "model.config.trust_remote_code",
    "model.backend._target_",
    "model.backend.fake_balanced_gate",
    "model.backend.enable_*",
    "model.backend.rope_fusion",
    "model.backend.gate_precision",
    "distributed._target_",
    "distributed.enable_fsdp2_prefetch",
    "distributed.patch_*",
    "distributed.moe.wrap_*",
    "distributed.moe._target_",
    "peft._target_",
    "peft.alpha",
    "peft.use_triton",
    "peft.lora_A_init",
    "packed_sequence.*",
    "compile.*",
};

class Automodel {
 public:
  Automodel(const Source& source, ForeignKeys& keys, proto::Workload* out)
      : source_(source), k_(keys), out_(*out), p_(*out->mutable_parallel()), t_(*out->mutable_training()) {}

  void Take() {
    TakeModelId("model.config.pretrained_model_name_or_path|model.pretrained_model_name_or_path", source_, k_,
                &out_);
    Strategy();
    ApplyRows(kAutomodelRows, "", k_, &out_);
    Mesh();
    Pipeline();
    Adapters();
    Optimizer();
    // The models of Llama and Qwen2 have one GEMM for queries, keys and values, and one for gate and up.
    if (absl::StartsWith(out_.model().preset(), "llama")) t_.set_fused_projections(true);
    if (!t_.has_dtype()) t_.set_dtype(Training::BF16);
  }

 private:
  void Strategy() {
    const std::string strategy = k_.Text("distributed.strategy").value_or("fsdp2");
    if (strategy == "ddp") return TakeDdp(&out_);
    t_.set_framework(Training::FSDP);
    p_.set_zero(3);
    if (strategy == "megatron_fsdp") {
      k_.LeaveOut("distributed.strategy=megatron_fsdp: the step is FSDP2's");
    } else if (strategy != "fsdp2") {
      k_.Refuse("distributed.strategy", "expected fsdp2, megatron_fsdp or ddp");
    }
  }

  // Without dp_size, the benchmark names its nodes, of 8 devices.
  void Mesh() {
    const int64_t tp = k_.NumberOr("distributed.tp_size", 1), pp = k_.NumberOr("distributed.pp_size", 1);
    const int64_t cp = p_.has_cp() ? p_.cp() : 1, nodes = k_.NumberOr("benchmark.num_nodes|ci.nodes", 0);
    const int64_t dp = k_.NumberOr("distributed.dp_size", 0);
    constexpr int64_t kMost = 1 << 15;
    for (const int64_t n : {tp, pp, cp}) {
      if (n < 1 || n > kMost) return k_.Refuse("distributed.tp_size", "expected sizes from 1 to 32768");
    }
    if (dp > (1 << 22) || nodes > (1 << 19))
      return k_.Refuse("distributed.dp_size", "expected at most 4194304 ranks");
    const bool sp = k_.FlagOr("distributed.sequence_parallel", false);
    if (tp > 1) TakeTensor(tp, &out_);
    if (tp > 1 && sp) p_.set_sp(true);
    if (k_.FlagOr("distributed.enable_async_tensor_parallel", false) && tp > 1) p_.set_overlap_tensor(true);
    if (pp > 1) p_.set_pp(pp);
    if (cp > 1 && !t_.has_attention()) p_.set_cp_kind(proto::Parallel::ALL_GATHER);
    if (dp > 0) p_.set_dp(dp);
    const int64_t of_nodes = nodes * 8 / (tp * cp * pp);
    if (dp <= 0 && of_nodes > 0) {
      p_.set_dp(of_nodes);
      k_.LeaveOut(
          absl::StrCat("distributed.dp_size is not given: ", nodes, " nodes of 8 devices, dp=", of_nodes));
    }
  }

  void Pipeline() {
    const std::string schedule = absl::AsciiStrToLower(
        k_.Text("distributed.pipeline.pp_schedule|autopipeline.pp_schedule").value_or("1f1b"));
    const int64_t micro =
        k_.NumberOr("distributed.pipeline.pp_microbatch_size|autopipeline.pp_microbatch_size", 1);
    if (p_.pp() <= 1) return;
    p_.set_layout("balanced");
    t_.set_micro_batch(std::max<int64_t>(1, micro));
    if (schedule == "interleaved1f1b") {
      p_.set_vpp(2);
    } else if (schedule == "gpipe") {
      p_.set_schedule("gpipe");
    } else if (schedule != "1f1b") {
      k_.LeaveOut(absl::StrCat("pp_schedule=", schedule, ": 1f1b is used"));
    }
  }

  void Adapters() {
    const int64_t rank = k_.NumberOr("peft.dim", 0);
    if (rank <= 0) return;
    if (k_.FlagOr("peft.match_all_linear", false)) k_.Set("peft.target_modules", "all");
    TakeAdapters(rank, "peft.target_modules", k_, &out_);
    TakeAdapterDropout("peft.dropout", 0, k_, &out_);
  }

  void Optimizer() {
    const std::string optimizer = k_.Text("optimizer._target_").value_or("Adam"),
                      loss = k_.Text("loss_fn._target_").value_or("");
    if (absl::EndsWith(optimizer, "AdamW")) {
      t_.set_optimizer(Training::ADAMW);
    } else if (absl::EndsWith(optimizer, "Adam")) {
      t_.set_optimizer(Training::ADAM);
    } else {
      k_.LeaveOut(absl::StrCat("optimizer._target_=", optimizer, ": adamw is used"));
      t_.set_optimizer(Training::ADAMW);
    }
    const bool linear = absl::EndsWith(loss, "FusedLinearCrossEntropy");
    if (linear) k_.LeaveOut("loss_fn: only the loss is fused, and its logits are kept");
    if (linear || absl::EndsWith(loss, "TEParallelCrossEntropy")) t_.set_fused_loss(true);
  }

  const Source& source_;
  ForeignKeys& k_;
  proto::Workload& out_;
  proto::Parallel& p_;
  Training& t_;
};

bool LooksLikeAutomodel(const Head& head) {
  return head.keys.Has("step_scheduler") && head.keys.Has("model");
}

absl::Status ReadAutomodel(const Source& source, proto::Workload* out) {
  ForeignKeys keys(source.name);
  RETURN_IF_ERROR(ReadTree(source.content, "", nullptr, &keys));
  Automodel(source, keys, out).Take();
  keys.NameTheRest(kHarmlessOfAutomodel, out);
  return keys.status();
}

}  // namespace

const Format kAutomodel = {"NeMo Automodel's YAML", Role::kStep, LooksLikeAutomodel, ReadAutomodel};

}  // namespace chakra::foreign
