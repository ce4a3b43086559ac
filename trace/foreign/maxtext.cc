// MaxText's YAML (MaxText/configs/base.yml and configs/models): a mesh of the axes ici_* (within a slice) and
// dcn_* (between slices), and the sizes of the model, or its name.
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/format.h"
#include "trace/foreign/keys.h"
#include "trace/foreign/maxtext_remat.h"
#include "trace/foreign/model_ids.h"
#include "trace/foreign/rows.h"
#include "trace/foreign/text.h"

namespace chakra::foreign {
namespace {

using proto::Training;

constexpr Row kMaxTextRows[] = {
    {"max_target_length", "number", "training.seq"},
    {"gradient_accumulation_steps", "number", "training.accumulation"},
    {"dtype", "bfloat16", "training.dtype=bf16"},
    {"dtype", "float32", "training.dtype=fp32"},
    {"dtype", "float16", "training.dtype=fp16"},
    {"grad_dtype", "float32", ""},
    {"grad_dtype", "any", "", "gradients are kept in fp32"},
    {"weight_dtype", "float32", ""},
    {"weight_dtype", "any", "", "weights have fp32"},
    {"quantization", "fp8|fp8_full|te_fp8_currentscaling|te_fp8_delayedscaling|nanoo_fp8",
     "training.dtype=fp8"},
    {"quantization", "any", "", "GEMMs have the dtype of dtype"},
    {"attention", "autoselected|flash|cudnn_flash_te|cudnn_flash_jax", "training.attention=flash"},
    {"attention", "dot_product", "training.attention=math"},
    {"attention", "any", "training.attention=flash", "flash is used"},
    {"opt_type", "adamw|adam_pax", "training.optimizer=adamw"},
    {"opt_type", "sgd", "training.optimizer=sgd"},
    {"opt_type", "any", "training.optimizer=adamw", "adamw is used"},
    {"mu_dtype", "float32", ""},
    {"mu_dtype", "any", "", "the averages of the optimizer have fp32"},
    {"custom_mesh", "any", "", "the axes are in the order of the ranks"},
    {"num_vocab_tiling", "1", ""},
    {"num_vocab_tiling", "any", "", "the logits of a micro-batch exist at one time"},
    {"optimizer_memory_host_offload", "yes", "", "the optimizer stays on the device"},
    {"parameter_memory_host_offload", "yes", "", "weights stay on the device"},
    {"packing", "yes", "", "attention covers the whole sequence"},
    {"packing", "no", "", "each sequence has all tokens of max_target_length"},
    {"capacity_factor", "-1|-1.0", ""},
    {"capacity_factor", "any", "", "no token is dropped"},
    {"num_pipeline_repeats", "number", "parallel.vpp"},
    {"base_emb_dim", "number", "model.hidden"},
    {"base_num_decoder_layers", "number", "model.layers"},
    {"base_num_query_heads", "number", "model.heads"},
    {"base_num_kv_heads", "number", "model.kv_heads"},
    {"head_dim", "number", "model.head_dim"},
    {"base_mlp_dim", "number", "model.ffn"},
    {"vocab_size", "number", "model.vocab"},
    {"logits_via_embedding", "yes", "model.tied=yes"},
    {"logits_via_embedding", "no", "model.tied=no"},
    {"use_qk_norm", "yes", "model.qk_norm=yes"},
    {"use_qk_norm", "no", ""},
    {"use_post_attn_norm", "yes", "model.post_norm=yes"},
    {"use_post_attn_norm", "no", ""},
    {"attention_bias", "yes", "model.qkv_bias=yes"},
    {"attention_bias", "no", ""},
    {"attn_logits_soft_cap", "number", "model.score_cap"},
    {"final_logits_soft_cap", "number", "model.logit_cap"},
    {"num_experts", "1", ""},
    {"num_experts", "number", "model.experts"},
    {"mtp_num_layers", "0", ""},
    {"mtp_num_layers", "number", "model.mtp"},
};

// Sizes of layers with experts and of latent attention, which base.yml has for all models.
constexpr Row kMaxTextExperts[] = {
    {"num_experts_per_tok", "number", "model.top_k"},
    {"base_moe_mlp_dim", "number", "model.expert_ffn"},
    {"first_num_dense_layers", "number", "model.dense_layers"},
    {"n_routing_groups", "-1|1", ""},
    {"n_routing_groups", "number", "model.expert_groups"},
    {"topk_routing_group", "-1|1", ""},
    {"topk_routing_group", "number", "model.top_groups"},
};
constexpr Row kMaxTextLatent[] = {
    {"q_lora_rank", "number", "model.q_rank"},        {"kv_lora_rank", "number", "model.kv_rank"},
    {"qk_nope_head_dim", "number", "model.nope_dim"}, {"qk_rope_head_dim", "number", "model.rope_dim"},
    {"v_head_dim", "number", "model.v_dim"},
};

constexpr const char* kHarmlessOfMaxText[] = {"run_name",
                                              "base_output_directory",
                                              "dataset_*",
                                              "tokenizer_*",
                                              "steps",
                                              "log_*",
                                              "enable_checkpointing",
                                              "checkpoint_*",
                                              "async_checkpointing",
                                              "learning_rate*",
                                              "warmup_*",
                                              "adam_*",
                                              "gradient_clipping_threshold",
                                              "hardware",
                                              "profiler*",
                                              "skip_first_n_steps_for_profiler",
                                              "eval_*",
                                              "hf_*",
                                              "tfds_*",
                                              "grain_*",
                                              "reuse_example_batch",
                                              "enable_goodput_*",
                                              "monitor_*",
                                              "rope_*",
                                              "max_position_embeddings",
                                              "original_max_position_embeddings",
                                              "normalization_layer_epsilon",
                                              "beta_fast",
                                              "beta_slow",
                                              "mscale",
                                              "routed_*",
                                              "norm_topk_prob",
                                              "mlp_activations_limit",
                                              "data_shuffle_seed",
                                              "init_weights_seed",
                                              "use_iota_embed",
                                              "metrics_file",
                                              "gcs_metrics",
                                              "save_*",
                                              "load_*",
                                              "enable_tensorboard",
                                              "dump_*",
                                              "xla_*",
                                              "compile_*",
                                              "megablox",
                                              "sparse_matmul",
                                              "sa_*",
                                              "scan_layers",
                                              "allow_split_physical_axes",
                                              "collect_stack_trace",
                                              "jax_*",
                                              "base_config",
                                              "override_model_config",
                                              "add_bos",
                                              "add_eos",
                                              "enable_dropout",
                                              "dropout_rate",
                                              "opt_state_*",
                                              "tokenize_*",
                                              "partial_rotary_factor",
                                              "logits_dot_in_fp32",
                                              "cast_logits_to_fp32",
                                              "float32_*",
                                              "use_random_routing",
                                              "load_balance_loss_weight",
                                              "skip_jax_distributed_system",
                                              "profile_periodically_period",
                                              "use_tokamax_*",
                                              "use_splash_scheduler",
                                              "use_qwix_quantization",
                                              "weight_quantization_calibration_method",
                                              "wi_tile_*",
                                              "wo_tile_*",
                                              "cost_estimate_*"};

class MaxText {
 public:
  MaxText(const Source& source, ForeignKeys& keys, proto::Workload* out)
      : source_(source),
        k_(keys),
        out_(*out),
        m_(*out->mutable_model()),
        p_(*out->mutable_parallel()),
        t_(*out->mutable_training()) {}

  void Take() {
    t_.set_dtype(Training::BF16);
    t_.set_attention(Training::FLASH);
    t_.set_optimizer(Training::ADAMW);
    Named();
    const bool sized = k_.Has("base_emb_dim");
    ApplyRows(kMaxTextRows, "", k_, &out_);
    if (sized) Sizes();
    ReadRemat(k_, out_.mutable_training());
    Mesh();
    // Gradients are those of the weights after their cast to dtype: XLA reduces them before the cast back.
    if (t_.dtype() == Training::BF16 || t_.dtype() == Training::FP8) t_.set_grad_reduce_dtype(Training::BF16);
    t_.set_launch_us(0);  // one program for a step
    // Fixed scales need no pass over the tensor, as those of earlier steps.
    if (absl::StartsWith(k_.Text("act_quantization_calibration_method").value_or(""), "fixed"))
      t_.set_fp8(Training::DELAYED);
    // A compiled step: XLA fuses elementwise operations and the loss.
    t_.set_compiled(true);
    t_.set_fused_loss(t_.attention() != Training::MATH);
  }

 private:
  void Named() {
    const std::string name = k_.Text("model_name").value_or("default");
    if (name == "default" || k_.Has("base_emb_dim")) return;
    TakeModelId("model_name", source_, k_, &out_);
  }

  void Sizes() {
    m_.set_source(source_.name);
    const std::string block = k_.Text("decoder_block").value_or("llama2");
    constexpr absl::string_view kKnown[] = {"default", "llama2", "mistral",   "mixtral", "deepseek",
                                            "qwen3",   "gemma2", "qwen3_moe", "gpt_oss"};
    if (std::find(std::begin(kKnown), std::end(kKnown), block) == std::end(kKnown))
      return k_.Refuse(
          "decoder_block",
          "expected default, llama2, mistral, mixtral, deepseek, qwen3, gemma2, qwen3_moe or gpt_oss; other "
          "layers are not generated yet");
    const std::string activations = k_.Text("mlp_activations").value_or("[silu,linear]");
    m_.set_gated(absl::StrContains(activations, "linear"));
    if (m_.experts() > 1) {
      if (!k_.Has("base_moe_mlp_dim") && m_.has_ffn()) m_.set_expert_ffn(m_.ffn());
      ApplyRows(kMaxTextExperts, "", k_, &out_);
      const int64_t shared = k_.NumberOr("shared_experts", 0);
      if (shared < 0 || shared > 1024) return k_.Refuse("shared_experts", "expected 0 to 1024");
      if (shared > 0) m_.set_shared_ffn(shared * m_.expert_ffn());
    } else {
      k_.Pass(std::initializer_list<const char*>{"num_experts_per_tok", "base_moe_mlp_dim", "shared_experts",
                                                 "first_num_dense_layers", "n_routing_groups",
                                                 "topk_routing_group"});
    }
    if (k_.Text("attention_type").value_or("global") == "mla") {
      ApplyRows(kMaxTextLatent, "", k_, &out_);
      m_.clear_kv_heads();
      m_.clear_head_dim();
    } else {
      k_.Pass(std::initializer_list<const char*>{"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim",
                                                 "qk_rope_head_dim", "v_head_dim"});
    }
    Window(block);
  }

  // Gemma 2 and gpt-oss have windows in every second layer, the first one included.
  void Window(const std::string& block) {
    const int64_t window = k_.NumberOr("sliding_window_size", 0);
    if (block == "gpt_oss" && k_.FlagOr("attention_sink", false)) m_.set_sinks(true);
    if (block == "gpt_oss" && k_.FlagOr("mlp_bias", false)) m_.set_bias(true);
    k_.Number("inhomogeneous_layer_cycle_interval");
    if (window < 1) return;
    m_.set_window(window);
    if ((block == "gemma2" || block == "gpt_oss") && m_.layers() > 1)
      m_.set_window_layers(absl::StrCat("0-", (m_.layers() - 1) / 2 * 2, ":2"));
  }

  // The size of an axis within and between slices; -1: an axis takes the devices that the others leave.
  int64_t Axis(absl::string_view name) {
    int64_t size = 1;
    for (const char* where : {"ici_", "dcn_"}) {
      const std::string key = absl::StrCat(where, name, "_parallelism");
      const int64_t n = k_.NumberOr(key, key == "ici_fsdp_parallelism" ? -1 : 1);  // as in base.yml
      if (n == 0 || n > 65536) k_.Refuse(key, "expected -1 or 1 to 65536");
      if (n > 1 && n <= 65536) size *= n;
      if (n == -1) rest_ = std::string(name);
    }
    return std::min<int64_t>(size, 1 << 22);
  }

  void Mesh() {
    const int64_t data = Axis("data"), fsdp = Axis("fsdp") * Axis("fsdp_transpose");
    const int64_t tp = Axis("tensor") * Axis("tensor_transpose") * Axis("tensor_sequence");
    const int64_t cp = Axis("context") * Axis("sequence") * Axis("context_autoregressive");
    const int64_t ep = Axis("expert"), pp = Axis("pipeline");
    double ranks = 1;
    for (const int64_t n : {data, fsdp, tp, cp, ep, pp}) ranks *= static_cast<double>(n);
    if (ranks > (1 << 22)) {
      return k_.Fail(absl::InvalidArgumentError(absl::StrCat(source_.name, ": the axes of the mesh have ",
                                                             ranks, " devices; expected at most 4194304")));
    }
    const bool sharded = fsdp > 1 || rest_ == "fsdp" || rest_ == "fsdp_transpose";
    p_.set_tp(tp);
    p_.set_cp(cp);
    p_.set_pp(pp);
    p_.set_ep(ep);
    if (ep > 1) p_.set_dispatcher(proto::Parallel::ALLTOALL);  // ragged_all_to_all
    if (cp > 1) p_.set_cp_kind(proto::Parallel::ALL_GATHER);
    t_.set_framework(sharded ? Training::FSDP : Training::DDP);
    p_.set_zero(sharded ? 3 : 0);
    if (rest_.empty()) p_.set_dp(data * fsdp * ep);
    if (data > 1 && sharded) p_.set_copies(data);
    Batch(static_cast<double>(tp) * static_cast<double>(cp) * static_cast<double>(pp));
  }

  // per_device_batch_size counts all devices; a micro-batch is that of the devices that share a sequence.
  void Batch(double sharing) {
    double each = 0;
    const std::string text = k_.Text("per_device_batch_size").value_or("");
    if (text.empty()) return;
    if (!absl::SimpleAtod(text, &each) || !(each > 0) || each > 1e6)
      return k_.Refuse("per_device_batch_size", "expected a number of sequences, as 4 or 0.5");
    const double micro = each * sharing;
    if (micro > 1e6 || micro < 1 || micro != static_cast<double>(static_cast<int64_t>(micro)))
      return k_.Refuse(
          "per_device_batch_size",
          absl::StrCat("expected a whole number of sequences for the ", sharing,
                       " devices that share one (axes tensor, context and pipeline), up to 1000000"));
    // The micro-batches of a pipeline are parts of this batch.
    const int64_t parts = p_.pp() > 1 ? k_.NumberOr("num_pipeline_microbatches", p_.pp()) : 1;
    const auto whole = static_cast<int64_t>(micro);
    if (parts < 1 || whole % parts != 0)
      return k_.Refuse("num_pipeline_microbatches",
                       absl::StrCat("expected a divisor of the batch of a stage, ", whole));
    const int64_t times = t_.has_accumulation() ? t_.accumulation() : 1;
    if (parts * times > 65536)
      return k_.Refuse("gradient_accumulation_steps", "expected at most 65536 micro-batches");
    t_.set_micro_batch(whole / parts);
    t_.set_accumulation(parts * times);
  }

  const Source& source_;
  ForeignKeys& k_;
  proto::Workload& out_;
  proto::Model& m_;
  proto::Parallel& p_;
  Training& t_;
  std::string rest_;  // the axis that takes the devices that the others leave; "": none
};

bool LooksLikeMaxText(const Head& head) {
  const TopKeys& k = head.keys;
  for (const std::string& name : k.names) {
    if ((absl::StartsWith(name, "ici_") || absl::StartsWith(name, "dcn_")) &&
        absl::EndsWith(name, "_parallelism"))
      return true;
  }
  return k.Has("base_emb_dim") || (k.Has("per_device_batch_size") && k.Has("max_target_length"));
}

absl::Status ReadMaxText(const Source& source, proto::Workload* out) {
  ForeignKeys keys(source.name);
  RETURN_IF_ERROR(ReadTree(source.content, "", nullptr, &keys));
  MaxText(source, keys, out).Take();
  keys.NameTheRest(kHarmlessOfMaxText, out);
  return keys.status();
}

}  // namespace

const Format kMaxText = {"MaxText's YAML", Role::kStep, LooksLikeMaxText, ReadMaxText};

}  // namespace chakra::foreign
