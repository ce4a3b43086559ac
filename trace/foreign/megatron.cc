// Megatron-LM's arguments (megatron/training/arguments.py and the dataclasses behind them), and the same
// settings under the names of Megatron-Bridge.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/rank_list.h"
#include "trace/base/status_macros.h"
#include "trace/foreign/arguments.h"
#include "trace/foreign/format.h"
#include "trace/foreign/keys.h"
#include "trace/foreign/megatron_keys.h"
#include "trace/foreign/rows.h"
#include "trace/foreign/text.h"

namespace chakra::foreign {
namespace {

class Megatron {
 public:
  Megatron(ForeignKeys& keys, bool recipe, proto::Workload* out)
      : k_(keys),
        recipe_(recipe),
        out_(*out),
        m_(*out->mutable_model()),
        p_(*out->mutable_parallel()),
        t_(*out->mutable_training()) {}

  void Take() {
    Shape();
    Attention();
    Experts();
    Parallel();
    Pipeline();
    Sharing();
    Training();
  }

 private:
  void Shape() {
    m_.set_layers(k_.Need("num_layers"));
    m_.set_hidden(k_.Need("hidden_size"));
    m_.set_heads(k_.Need("num_attention_heads"));
    m_.set_gated(k_.FlagOr("swiglu|gated_linear_unit", false));
    const int64_t h = m_.hidden();
    // With a gate: two thirds of 4 h, in multiples of 64.
    m_.set_ffn(k_.NumberOr("ffn_hidden_size", m_.gated() && !recipe_ ? 4 * h * 2 / 3 / 64 * 64 : 4 * h));
    m_.set_vocab(k_.Need("padded_vocab_size|vocab_size"));
    const bool tied = recipe_ ? k_.FlagOr("share_embeddings_and_output_weights", true)
                              : !k_.FlagOr("untie_embeddings_and_output_weights", false);
    m_.set_tied(tied);
    const std::string norm = k_.Text("normalization").value_or("LayerNorm");
    if (norm != "RMSNorm" && norm != "LayerNorm") k_.Refuse("normalization", "expected RMSNorm or LayerNorm");
    m_.set_norm(norm == "RMSNorm" ? proto::Model::RMS : proto::Model::LAYER);
    const bool bias = k_.FlagOr("add_bias_linear", !k_.FlagOr("disable_bias_linear", false));
    m_.set_bias(bias);
    if (k_.FlagOr("add_qkv_bias", false)) m_.set_qkv_bias(true);
    if (k_.FlagOr("qk_layernorm", false)) m_.set_qk_norm(true);
    const std::string positions =
        k_.Text("position_embedding_type")
            .value_or(k_.FlagOr("use_rotary_position_embeddings", false) ? "rope" : "learned_absolute");
    const int64_t most = k_.NumberOr("max_position_embeddings", k_.NumberOr("seq_length", 0));
    if (positions == "learned_absolute") {
      m_.set_positions(most);
    } else if (positions != "rope" && positions != "yarn" && positions != "none") {
      k_.Refuse("position_embedding_type", "expected learned_absolute, rope, yarn or none");
    }
    if (k_.FlagOr("squared_relu", false)) k_.LeaveOut("squared_relu: GELU is used");
    Window();
  }

  // "(LEFT, RIGHT)": a query sees LEFT keys before its own. Each window_attn_skip_freq-th layer has no
  // window.
  void Window() {
    const auto text = k_.Text("window_size");
    const auto skip = k_.Number("window_attn_skip_freq");
    if (!text.has_value()) return;
    int64_t left = 0;
    const std::vector<std::string> sides =
        absl::StrSplit(*text, absl::ByAnyChar("()[], "), absl::SkipEmpty());
    if (sides.size() != 2 || !absl::SimpleAtoi(sides[0], &left) || left < -1) {
      k_.Refuse("window_size", "expected two numbers, as 4096,0");
      return;
    }
    if (left == -1) return;
    m_.set_window(left + 1);
    if (!skip.has_value() || *skip < 2) return;
    std::vector<int> layers;
    for (int i = 0; i < std::min<int64_t>(m_.layers(), 1024); ++i) {
      if ((i + 1) % *skip != 0) layers.push_back(i);
    }
    m_.set_window_layers(absl::StrReplaceAll(FormatRanks(layers), {{",", "+"}}));
  }

  void Attention() {
    const bool grouped = recipe_ || k_.FlagOr("group_query_attention", false);
    const int64_t groups = k_.NumberOr("num_query_groups", 0);
    if (grouped && groups > 0) m_.set_kv_heads(groups);
    const std::string softmax = k_.Text("softmax_type").value_or("vanilla");
    if (softmax == "learnable") {
      m_.set_sinks(true);
    } else if (softmax != "vanilla") {
      k_.LeaveOut(absl::StrCat("softmax_type=", softmax, ": vanilla is used"));
    }
    const int64_t width = k_.NumberOr("kv_channels", 0);
    if (width > 0) m_.set_head_dim(width);
    const auto kv_rank = k_.Number("kv_lora_rank");
    const auto q_rank = k_.Number("q_lora_rank");
    const int64_t nope = k_.NumberOr("qk_head_dim", 128), rope = k_.NumberOr("qk_pos_emb_head_dim", 64);
    const int64_t value = k_.NumberOr("v_head_dim", 128);
    if (!k_.FlagOr("multi_latent_attention", recipe_ && kv_rank.has_value())) return;
    m_.set_kv_rank(kv_rank.value_or(32));
    if (q_rank.has_value()) m_.set_q_rank(*q_rank);
    m_.set_nope_dim(nope);
    m_.set_rope_dim(rope);
    m_.set_v_dim(value);
    m_.clear_kv_heads();
    m_.clear_head_dim();
  }

  void Experts() {
    if (const int64_t mtp = k_.NumberOr("mtp_num_layers", 0); mtp > 0) m_.set_mtp(mtp);
    const int64_t experts = k_.NumberOr("num_experts|num_moe_experts", 0);
    const int64_t top_k = k_.NumberOr("moe_router_topk", 2),
                  ffn = k_.NumberOr("moe_ffn_hidden_size", m_.ffn());
    const int64_t shared = k_.NumberOr("moe_shared_expert_intermediate_size", 0);
    const std::string freq = k_.Text("moe_layer_freq").value_or("1");
    const auto clamp = k_.Text("activation_func_clamp_value");
    const int64_t groups = k_.NumberOr("moe_router_num_groups", 0),
                  top_groups = k_.NumberOr("moe_router_group_topk", groups);
    if (experts == 0 && clamp.has_value())
      k_.LeaveOut(absl::StrCat("activation_func_clamp_value=", *clamp, ": no layer has experts"));
    if (experts == 0) return;
    if (clamp.has_value() || m_.sinks()) m_.set_clamp(clamp.has_value());
    m_.set_experts(experts);
    m_.set_top_k(top_k);
    m_.set_expert_ffn(ffn);
    if (shared > 0) m_.set_shared_ffn(shared);
    if (groups > 1) {
      m_.set_expert_groups(groups);
      m_.set_top_groups(top_groups);
    }
    if (freq == "1") return;
    const int64_t dense = LeadingDense(freq);
    if (dense < 0) {
      k_.Refuse("moe_layer_freq", "expected 1, or dense layers before all others, as ([0]*3+[1]*58)");
    } else {
      m_.set_dense_layers(dense);
    }
  }

  // The number of zeros before the ones in "([0]*3+[1]*58)", from which the shell's words may have removed
  // the parentheses, or in "[0,0,1,1]"; -1 if the layers have another order.
  static int64_t LeadingDense(absl::string_view text) {
    int64_t dense = 0;
    bool ones = false;
    for (absl::string_view part : absl::StrSplit(text, absl::ByAnyChar("+,()[] "), absl::SkipEmpty())) {
      int64_t times = 1, number = 0;
      if (absl::ConsumePrefix(&part, "*")) {  // repeats the number before it
        if (!absl::SimpleAtoi(part, &times) || times < 1) return -1;
        if (!ones) dense += times - 1;
        continue;
      }
      const std::vector<absl::string_view> factors = absl::StrSplit(part, '*');
      if (!absl::SimpleAtoi(factors[0], &number) || (number != 0 && number != 1)) return -1;
      if (factors.size() > 1 && !absl::SimpleAtoi(factors[1], &times)) return -1;
      if (number == 0 && ones) return -1;
      if (number == 0) dense += times;
      ones = ones || number == 1;
    }
    return ones ? dense : -1;
  }

  void Dispatcher() {
    const auto dispatcher = k_.Text("moe_token_dispatcher_type");
    const bool hybrid = k_.Text("moe_flex_dispatcher_backend") == "hybridep";
    (void)k_.Flag("moe_enable_deepep");  // with flex, until it had back ends
    const bool overlap = k_.FlagOr("overlap_moe_expert_parallel_comm|moe_a2a_overlap", false);
    if (m_.experts() == 0) return;
    if (overlap) p_.set_overlap_expert(true);
    if (!dispatcher.has_value()) return;
    p_.set_dispatcher(*dispatcher != "flex" ? proto::Parallel::ALLTOALL
                      : hybrid              ? proto::Parallel::HYBRID
                                            : proto::Parallel::DEEP);
    if (*dispatcher == "allgather") k_.LeaveOut("moe_token_dispatcher_type=allgather");
  }

  void Parallel() {
    const int64_t tp = k_.NumberOr("tensor_model_parallel_size", 1),
                  cp = k_.NumberOr("context_parallel_size", 1);
    const int64_t pp = k_.NumberOr("pipeline_model_parallel_size", 1);
    p_.set_tp(tp);
    p_.set_pp(pp);
    p_.set_cp(cp);
    p_.set_sp(tp > 1 && k_.FlagOr("sequence_parallel", recipe_));
    // Kernels that overlap GEMMs with the collectives of sequence parallelism.
    if (k_.FlagOr("tp_comm_overlap", false) && tp > 1) {
      if (p_.sp()) p_.set_overlap_tensor(true);
      if (!p_.sp()) k_.LeaveOut("tp_comm_overlap", "it needs sequence_parallel");
    }
    p_.set_ep(k_.NumberOr("expert_model_parallel_size", 1));
    const int64_t etp = k_.NumberOr("expert_tensor_parallel_size", m_.experts() > 0 ? tp : 1);
    p_.set_etp(m_.experts() > 0 ? etp : 1);
    Dispatcher();
    const std::string comm = k_.Text("cp_comm_type").value_or("p2p");
    p_.set_cp_kind(absl::StartsWith(comm, "a2a")          ? proto::Parallel::ULYSSES
                   : absl::StartsWith(comm, "all_gather") ? proto::Parallel::ALL_GATHER
                                                          : proto::Parallel::RING);
    if (cp > 1 && comm == "a2a+p2p") k_.LeaveOut("cp_comm_type=a2a+p2p: a2a is used");
    int64_t world = k_.NumberOr("world_size", 0);
    const int64_t nodes = k_.NumberOr("nnodes|num_nodes", 0), each = k_.NumberOr("nproc_per_node|devices", 0);
    if (world == 0 && nodes > 0 && each > 0 && nodes < (1 << 20) && each < (1 << 20)) world = nodes * each;
    const double model = static_cast<double>(tp) * static_cast<double>(cp) * static_cast<double>(pp);
    if (world > 0 && model >= 1 && model <= static_cast<double>(world)) {
      p_.set_dp(world / static_cast<int64_t>(model));
      if (p_.dp() * static_cast<int64_t>(model) != world)
        k_.Refuse("tensor_model_parallel_size",
                  absl::StrCat("expected tp * cp * pp to divide all ranks, ", world));
    } else if (world > 0) {
      k_.Refuse("tensor_model_parallel_size",
                absl::StrCat("expected tp * cp * pp of at most all ranks, ", world));
    }
    if (k_.FlagOr("use_tp_pp_dp_mapping", false)) p_.set_order("tp-cp-ep-pp-dp");
  }

  void Pipeline() {
    const auto pieces =
        k_.Number("num_virtual_stages_per_pipeline_rank|virtual_pipeline_model_parallel_size");
    const auto each = k_.Number("num_layers_per_virtual_pipeline_stage");
    if (pieces.has_value() && *pieces > 1) {
      p_.set_vpp(*pieces);
    } else if (each.has_value() && *each > 0 && p_.pp() > 0 && m_.layers() / p_.pp() / *each > 1) {
      p_.set_vpp(m_.layers() / p_.pp() / *each);
    }
    if (const auto layout = k_.Text("pipeline_model_parallel_layout")) {
      p_.set_layout(*layout);
      p_.clear_vpp();
    }
    if (const auto n = k_.Number("decoder_first_pipeline_num_layers|num_layers_in_first_pipeline_stage"))
      p_.set_first_layers(*n);
    if (const auto n = k_.Number("decoder_last_pipeline_num_layers|num_layers_in_last_pipeline_stage"))
      p_.set_last_layers(*n);
    const bool embedding = k_.FlagOr("account_for_embedding_in_pipeline_split", false);
    const bool loss = k_.FlagOr("account_for_loss_in_pipeline_split", false);
    if (embedding && loss) {
      p_.set_layout("balanced");
    } else if (embedding || loss) {
      k_.LeaveOut(
          "account_for_embedding_in_pipeline_split without account_for_loss_in_pipeline_split, or the "
          "reverse");
    }
    if (const auto group =
            k_.Number("microbatch_group_size_per_virtual_pipeline_stage|microbatch_group_size_per_vp_stage");
        group.has_value() && *group != p_.pp())
      k_.LeaveOut(
          absl::StrCat("microbatch_group_size_per_virtual_pipeline_stage=", *group, ": parallel.pp is used"));
  }

  void Sharing() {
    int zero = k_.FlagOr("use_distributed_optimizer", false) ? 1 : 0;
    const std::string strategy = k_.Text("data_parallel_sharding_strategy").value_or("");
    if (k_.FlagOr("use_megatron_fsdp|use_custom_fsdp", false)) {
      zero = strategy == "optim"                ? 1
             : strategy == "optim_grads"        ? 2
             : strategy == "optim_grads_params" ? 3
                                                : 0;
    }
    p_.set_zero(zero);
    const int64_t instances = k_.NumberOr("num_distributed_optimizer_instances", 1);
    if (instances > 1 && zero > 0) p_.set_copies(instances);
    p_.set_overlap_grad(k_.FlagOr("overlap_grad_reduce", false));
    const bool gather = k_.FlagOr("overlap_param_gather", false);
    if (zero == 1 || zero == 2) p_.set_overlap_param(gather);
    if (const auto bucket = k_.Number("ddp_bucket_size"))
      k_.LeaveOut(absl::StrCat("ddp_bucket_size=", *bucket));
  }

  void Training() {
    t_.set_seq(k_.Need("seq_length"));
    t_.set_micro_batch(k_.NumberOr("micro_batch_size", 1));
    if (const auto batch = k_.Number("global_batch_size")) t_.set_global_batch(*batch);
    const auto fp8 = k_.Text("fp8_format|fp8"), fp4 = k_.Text("fp4_format|fp4");
    const bool bf16 = k_.FlagOr("bf16", false), fp16 = k_.FlagOr("fp16", false);
    const std::string mixed = k_.Text("mixed_precision|precision").value_or("");
    t_.set_dtype(fp4.has_value() || absl::StrContains(mixed, "nvfp4") ? proto::Training::NVFP4
                 : fp8.has_value() || absl::StrContains(mixed, "fp8") ? proto::Training::FP8
                 : bf16 || absl::StrContains(mixed, "bf16") || (recipe_ && !fp16 && mixed.empty())
                     ? proto::Training::BF16
                 : fp16 || absl::StrContains(mixed, "16") ? proto::Training::FP16
                                                          : proto::Training::FP32);
    Scales(mixed);
    Bf16Layers(mixed);
    ApplyRows(kNewerRows, "", k_, &out_);
    Graphs();
    Adapters();
    Gradients();
    Recompute();
    Optimizer();
    t_.set_framework(proto::Training::MEGATRON);
    Offload();
  }

  void Optimizer() {
    const std::string optimizer = k_.Text("optimizer").value_or("adam");
    const bool layerwise =
        k_.FlagOr("use_layer_wise_distributed_optimizer", false) || absl::StartsWith(optimizer, "dist_");
    const std::string name(absl::StripPrefix(optimizer, "dist_"));
    const bool muon = name == "muon" || name == "adaptive_muon";
    if (optimizer == "sgd") {
      t_.set_optimizer(proto::Training::SGD);
    } else if ((muon || name == "soap") && (p_.zero() > 1 || t_.lora() > 0)) {
      k_.LeaveOut(
          absl::StrCat("optimizer=", optimizer, ": adam is used, since ",
                       t_.lora() > 0 ? "only adapters are trained" : "shares of weights cut matrices"));
    } else if (muon || name == "soap") {
      t_.set_optimizer(muon ? proto::Training::MUON : proto::Training::SOAP);
      if (layerwise) p_.set_zero(1);
      if (muon) ApplyRows(kMuonRows, "", k_, &out_);
      if (!muon) k_.LeaveOut("optimizer=soap: bases are not updated in the step");
      if (name == "adaptive_muon" && !t_.has_muon_moment()) t_.set_muon_moment(proto::Training::ELEMENTS);
    } else if (optimizer != "adam") {
      k_.LeaveOut(absl::StrCat("optimizer=", optimizer, ": adam is used"));
    }
    constexpr const char* kOthers[] = {"muon_*", "adaptive_muon_*", "soap_*"};
    if (t_.optimizer() != proto::Training::MUON) k_.Pass(kOthers);
  }

  // TransformerEngine's recipes, by the names of Megatron-LM and by those of Megatron-Bridge's precisions.
  void Scales(absl::string_view mixed) {
    const std::string recipe = k_.Text("fp8_recipe").value_or("");
    if (k_.Text("fp4_recipe").value_or("nvfp4") != "nvfp4") k_.Refuse("fp4_recipe", "expected nvfp4");
    if (t_.dtype() != proto::Training::FP8) return;
    if (recipe == "mxfp8" || absl::StrContains(mixed, "mxfp8")) {
      t_.set_fp8(proto::Training::MXFP8);
    } else if (recipe == "delayed" || absl::StrContains(mixed, "delayed")) {
      t_.set_fp8(proto::Training::DELAYED);
    } else if (recipe == "blockwise") {
      k_.LeaveOut("fp8_recipe", "scales are those of whole tensors");
    } else if (absl::StrContains(mixed, "subchannel")) {
      k_.LeaveOut("mixed_precision|precision", "scales are those of whole tensors");
    } else if (!recipe.empty() && recipe != "tensorwise") {
      k_.Refuse("fp8_recipe", "expected tensorwise, delayed, blockwise or mxfp8");
    }
  }

  // The first and the last layers stay in bf16, and those of multi-token prediction. Megatron-LM's default is
  // one of each, Megatron-Bridge's none; its precision nemotron_3_super_bf16_with_nvfp4_mixed has the
  // last 14.
  void Bf16Layers(absl::string_view mixed) {
    const bool super = absl::StrContains(mixed, "nemotron_3_super") && t_.dtype() == proto::Training::NVFP4;
    const bool on = k_.FlagOr("first_last_layers_bf16", super);
    const int64_t usual = recipe_ ? 0 : 1;
    const auto number = [&](absl::string_view key, int64_t otherwise) {
      return std::clamp<int64_t>(k_.NumberOr(key, otherwise), 0, 1024);
    };
    const int64_t first = number("num_layers_at_start_in_bf16", usual);
    const int64_t last = number("num_layers_at_end_in_bf16", super ? 14 : usual);
    const bool narrow = t_.dtype() == proto::Training::FP8 || t_.dtype() == proto::Training::NVFP4;
    const bool further = k_.FlagOr("keep_mtp_spec_in_bf16", false) && m_.mtp() > 0;
    if (!narrow) return;
    std::vector<int> layers;
    for (int i = 0; on && i < std::min<int64_t>(m_.layers(), 1024); ++i) {
      if (i < first || i >= m_.layers() - last) layers.push_back(i);
    }
    if (further && m_.layers() < 1024) layers.push_back(static_cast<int>(m_.layers()));
    if (!layers.empty()) t_.set_bf16_layers(absl::StrReplaceAll(FormatRanks(layers), {{",", "+"}}));
  }

  // The parts of a step that are CUDA graphs.
  void Graphs() {
    const std::string scope = k_.Text("cuda_graph_scope").value_or("");
    if (!t_.cuda_graphs() || scope.empty()) return;
    const auto has = [&](absl::string_view part) {
      for (const absl::string_view one : absl::StrSplit(scope, absl::ByAnyChar("[](),'\" ")))
        if (absl::EqualsIgnoreCase(one, part)) return true;
      return false;
    };
    const bool whole = has("full_iteration");
    if (m_.experts() > 0 && (whole || has("moe"))) t_.set_graphed_experts(true);
    if (!whole && !has("attn") && !has("full"))
      k_.LeaveOut("cuda_graph_scope", "attention, routers and MLPs without experts are graphs");
  }

  // Megatron-Bridge's table peft.
  void Adapters() {
    const auto rank = k_.Number("peft.dim");
    const std::string targets =
        k_.Text("peft.target_modules").value_or("linear_qkv,linear_proj,linear_fc1,linear_fc2");
    const auto dropout = k_.Share("peft.dropout");
    if (!rank.has_value() || *rank < 1) return;
    t_.set_lora(*rank);
    const bool mlp = absl::StrContains(targets, "linear_fc");
    t_.set_lora_on(mlp ? proto::Training::ALL : proto::Training::ATTENTION);
    if (dropout.value_or(0) > 0 && *dropout < 1) t_.set_lora_dropout(*dropout);
    if (!absl::StrContains(targets, "linear_qkv") || !absl::StrContains(targets, "linear_proj") ||
        (mlp && (!absl::StrContains(targets, "fc1") || !absl::StrContains(targets, "fc2"))))
      k_.LeaveOut("peft.target_modules", mlp ? "all GEMMs of attention and the MLP have adapters"
                                             : "all GEMMs of attention have adapters");
  }

  void Offload() {
    const int64_t layers = k_.NumberOr("cpu_offloading_num_layers", 0);
    const bool on = k_.FlagOr("cpu_offloading", !recipe_ && layers > 0);
    const bool activations = k_.FlagOr("cpu_offloading_activations", true) && on && layers > 0;
    if (k_.FlagOr("cpu_offloading_weights", false) && on && layers > 0)
      k_.LeaveOut("cpu_offloading_weights=true: weights stay on the device");
    const double share = k_.Share("optimizer_offload_fraction").value_or(recipe_ ? 0 : 1);
    const bool optimizer = k_.FlagOr("optimizer_cpu_offload", false) && share > 0;
    const bool overlaps = k_.FlagOr("overlap_cpu_optimizer_d2h_h2d", false);
    if (activations) t_.set_offload_layers(layers);
    if (optimizer && share < 1) t_.set_offload_share(share);
    if (optimizer && overlaps) t_.set_overlap_offload(true);
    if (activations || optimizer)
      t_.set_offload(absl::StrCat(activations ? "activations" : "", activations && optimizer ? "+" : "",
                                  optimizer ? "optimizer" : ""));
  }

  // With bf16 and fp8, Megatron-LM reduces gradients in fp32, unless a key selects bf16.
  void Gradients() {
    const bool bf16 = k_.FlagOr("grad_reduce_in_bf16", false);
    const bool fp32 = k_.FlagOr("grad_reduce_in_fp32|accumulate_allreduce_grads_in_fp32", true);
    const bool can = t_.dtype() != proto::Training::FP16 && t_.dtype() != proto::Training::FP32;
    if (can && (bf16 || !fp32)) t_.set_grad_reduce_dtype(proto::Training::BF16);
  }

  void Recompute() {
    std::string what = k_.Text("recompute_granularity").value_or("");
    if (k_.FlagOr("recompute_activations", false)) what = "selective";
    const auto method = k_.Text("recompute_method");
    const auto layers = k_.Number("recompute_num_layers");
    const auto modules = k_.Text("recompute_modules");
    if (what == "full") {
      t_.set_recompute(proto::Training::FULL);
      if (method.value_or("uniform") == "block") t_.set_recompute_method(proto::Training::BLOCK);
      if (layers.has_value()) t_.set_recompute_layers(*layers);
    } else if (what == "selective") {
      RecomputeModules(modules);
    } else if (!what.empty()) {
      k_.Refuse("recompute_granularity", "expected full or selective");
    }
  }

  // A list of words, or a list in YAML: "moe_act layernorm", "[moe_act, layernorm]". Megatron-LM ignores
  // modules that no layer has.
  void RecomputeModules(const std::optional<std::string>& modules) {
    std::string joined;
    for (const absl::string_view name :
         absl::StrSplit(modules.value_or("core_attn"), absl::ByAnyChar("[]()\"', +"), absl::SkipEmpty())) {
      const bool experts = name == "moe" || name == "moe_act";
      if ((experts && m_.experts() == 0) || (name == "shared_experts" && m_.shared_ffn() == 0) ||
          (name == "mlp" && m_.experts() > 0 && m_.dense_layers() == 0)) {
        k_.LeaveOut(absl::StrCat("recompute_modules=", name, ": no layer has it"));
      } else {
        absl::StrAppend(&joined, joined.empty() ? "" : "+", name);
      }
    }
    if (joined.empty()) return;
    t_.set_recompute(proto::Training::SELECTIVE);
    if (joined != "core_attn") t_.set_recompute_modules(joined);
  }

  ForeignKeys& k_;
  const bool recipe_;
  proto::Workload& out_;
  proto::Model& m_;
  proto::Parallel& p_;
  proto::Training& t_;
};

absl::Status TakeMegatron(ForeignKeys& keys, bool recipe, proto::Workload* out) {
  Megatron(keys, recipe, out).Take();
  keys.NameTheRest(kHarmlessArguments, out);
  out->mutable_model()->set_source(keys.name());
  return keys.status();
}

bool LooksLikeArguments(const Head& head) {
  return absl::StrContains(head.text, "--num-layers") || absl::StrContains(head.text, "--hidden-size");
}

absl::Status ReadMegatronLm(const Source& source, proto::Workload* out) {
  ForeignKeys keys(source.name);
  ReadArguments(source.content, &keys);
  return TakeMegatron(keys, false, out);
}

bool LooksLikeRecipe(const Head& head) {
  for (const absl::string_view line : absl::StrSplit(head.text, '\n')) {
    if (absl::StartsWith(absl::StripAsciiWhitespace(line), "tensor_model_parallel_size:")) return true;
  }
  return false;
}

// Tables whose keys are those of Megatron-LM.
bool IsOfMegatron(absl::string_view table) {
  for (const absl::string_view known : {"model", "train", "ddp", "optimizer", "mixed_precision", "dataset",
                                        "comm_overlap", "trainer", "data"}) {
    if (table == known) return true;
  }
  return false;
}

absl::Status ReadBridge(const Source& source, proto::Workload* out) {
  ForeignKeys keys(source.name);
  RETURN_IF_ERROR(ReadTree(source.content, "", IsOfMegatron, &keys));
  return TakeMegatron(keys, true, out);
}

}  // namespace

const Format kMegatronLm = {"arguments of Megatron-LM", Role::kStep, LooksLikeArguments, ReadMegatronLm};
const Format kMegatronBridge = {"a recipe of Megatron-Bridge", Role::kStep, LooksLikeRecipe, ReadBridge};

}  // namespace chakra::foreign
