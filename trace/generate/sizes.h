// A workload with nothing left open: every default is filled in, and everything fits together.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/workload.pb.h"
#include "trace/generate/tables.h"

namespace chakra::generate {

// proto::Model. Fields without a comment are as there; 0 is "none".
struct ModelSize {
  std::string name;  // the preset's, the file's, or "model"
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0;
  bool gated = true, tied = false, layer_norm = false, bias = false, qkv_bias = false, qk_norm = false;
  bool rope = true, causal = true, pooler = false, shared_gate = false, post_norm = false, sinks = false;
  bool pre_norm = true, shared_norm = false, norm_bias = true, qk_norm_wide = false, embedding_norm = false,
       head_bias = false, clamp = false, score_cap = false, logit_cap = false;
  int64_t positions = 0, token_types = 0;
  int64_t experts = 0, top_k = 0, expert_groups = 1, top_groups = 1, expert_ffn = 0, shared_ffn = 0,
          dense_layers = 0, moe_every = 1;
  int64_t kv_rank = 0, q_rank = 0, nope_dim = 0, rope_dim = 0, v_dim = 0, mtp = 0;
  int64_t image = 0, patch = 0, channels = 0, classes = 0;
  int64_t window = 0;  // of the layers in `windowed`
  std::bitset<1024> windowed;
  int64_t chunk = 0;                  // of the layers in `chunked`
  std::bitset<1024> chunked, turned;  // turned: with rotary positions, where `rope`
  bool qk_norm_bare = false;

  bool latent() const { return kv_rank > 0; }
  // Whether the MLP has a norm of its own before it.
  bool mlp_norm() const { return pre_norm && !shared_norm; }
  // Elements of a norm's weights.
  int64_t NormWeights(int64_t width) const { return layer_norm && norm_bias ? 2 * width : width; }
  // Of the norms of queries and keys of so many features.
  int64_t QkNormWeights(int64_t query, int64_t key) const {
    if (qk_norm_bare) return 0;
    return qk_norm_wide ? NormWeights(query) + NormWeights(key) : 2 * NormWeights(head_dim);
  }
  // Features of all heads' queries, keys and values.
  int64_t query_width() const { return heads * (latent() ? nope_dim + rope_dim : head_dim); }
  int64_t key_width() const { return latent() ? query_width() : kv_heads * head_dim; }
  int64_t value_width() const { return latent() ? heads * v_dim : kv_heads * head_dim; }
  // Features that the projection after attention takes.
  int64_t context_width() const { return heads * (latent() ? v_dim : head_dim); }
  // Layers are counted from 0; those of `mtp` come after the others and are like the last one.
  bool has_experts(int64_t layer) const;
  int64_t expert_layers() const;  // of `layers` and `mtp`
  // Keys that a query of the layer sees, with those of sequences of `seq` tokens; `seq`: there is no window.
  int64_t WindowOf(int64_t layer, int64_t seq) const;
  // Tokens of a chunk of the layer, with sequences of `seq` tokens; `seq`: there is none.
  int64_t ChunkOf(int64_t layer, int64_t seq) const;
  bool has_rope(int64_t layer) const;
  bool has_qk_norm(int64_t layer) const { return qk_norm && (!qk_norm_bare || has_rope(layer)); }
  // Rows of the head: tokens of the vocabulary, or classes.
  int64_t outputs() const { return image > 0 ? classes : vocab; }
};

enum class Schedule : uint8_t { kGpipe, k1F1B, kInterleaved, kZbH1, kDualPipe, kDualPipeV };

// A part of the model that is on one pipeline stage; its layers follow each other. Layers from
// ModelSize::layers on are those of further tokens.
struct Piece {
  int64_t first = 0, layers = 0;
  bool embedding = false, head = false;
};

inline constexpr int kUsualDomain = 8;  // GPUs that NVLink joins in most servers

// proto::Parallel.
struct Split {
  int64_t tp = 1, pp = 1, vpp = 1, dp = 1, cp = 1, ep = 1, etp = 1;
  bool sp = false;
  int zero = 0;
  Schedule schedule = Schedule::k1F1B;
  proto::Parallel::ContextKind cp_kind = proto::Parallel::RING;
  bool overlap_grad = true, overlap_param = false, overlap_tensor = false;
  bool pp_before_dp = false;  // order=tp-cp-ep-pp-dp
  bool deep = true;           // proto::Parallel::DEEP
  bool overlap_expert = false;
  double hidden_share = 0;  // as given; 0: open
  int64_t domain = kUsualDomain;
  // Of a model of tables: by rank, which of `role_count` graphs it runs. Else empty: that of its stage.
  std::vector<int32_t> roles;
  int64_t role_count = 0;

  // Distinct graphs of a step.
  int64_t graphs() const { return roles.empty() ? pp : role_count; }
  int64_t ranks() const { return tp * cp * dp * pp; }
  int64_t stage_ranks() const { return tp * cp * dp; }
  // Of the ranks that share the experts, those of one NVLink domain: equal parts, as large as fit.
  int64_t expert_node() const;
  // Which dispatcher tokens have where the workload leaves it open: DeepEP is for tokens that few nodes have
  // experts of.
  bool goes_deep(const ModelSize& model) const;
  // Ranks that hold the same experts.
  int64_t expert_dp() const { return stage_ranks() / (ep * etp); }
  // Passes run together, and exchanges of experts of one beside computations of the other.
  bool merges_exchanges() const {
    return ep > 1 && (overlap_expert || schedule == Schedule::kDualPipe || schedule == Schedule::kDualPipeV);
  }
  // Share of the exchanges of passes that run together which run beside kernels.
  double hides() const;
  // Each piece of the model is on two stages.
  bool mirrored() const { return schedule == Schedule::kDualPipe; }
  int64_t stage_pieces() const { return mirrored() ? 2 : vpp; }
  int64_t model_pieces() const { return pp * vpp; }
  // Embedding and head are on one stage.
  bool ends_together() const { return pp == 1 || mirrored() || schedule == Schedule::kDualPipeV; }
  // Ranks that hold the same weights: those of experts, or the others.
  int64_t holders(bool expert) const { return (expert ? expert_dp() : dp * cp) * (mirrored() ? 2 : 1); }
};

// What each of `ranks` holds of `n` that they share; the last may hold less.
inline int64_t ShareOf(int64_t n, int64_t ranks) { return (n + ranks - 1) / ranks; }

// Parts of a layer that the backward pass makes again on their own.
enum Module : uint8_t {
  kCoreAttention,
  kLayerNorms,
  kLatentUp,
  kDenseMlp,
  kMoe,
  kExpertActivation,
  kSharedExperts,
};
inline constexpr int kModules = 7;
// As proto::Training::recompute_modules has it, by Module.
inline constexpr const char* kModuleNames[kModules] = {"core_attn", "layernorm", "mla_up_proj",   "mlp",
                                                       "moe",       "moe_act",   "shared_experts"};
using ModuleSet = std::bitset<kModules>;
// "mla_up_proj+moe_act".
std::string NamesOf(const ModuleSet& modules);

// What the thread of the host takes, in ns. All 0: the host is never late.
struct HostCosts {
  int64_t launch_ns = 0;        // a kernel
  int64_t eager_launch_ns = 0;  // a kernel that is in no CUDA graph
  int64_t layer_ns = 0;         // a layer's forward pass, beside its kernels
  int64_t call_ns = 0;          // a collective, a send, a receive
  int64_t batch_ns = 0;         // a micro-batch on the first and the last stage
  int64_t step_ns = 0;

  bool any() const { return launch_ns + layer_ns + call_ns + batch_ns + step_ns > 0; }
};

// What the host's memory holds (offload.h).
struct Offload {
  bool activations = false;
  int64_t layers = 0;        // whose activations it holds, from the first on
  double share = 0;          // of the weights that it updates
  bool overlaps = false;     // copies of gradients and weights run beside the update
  double updates_per_s = 0;  // weights that it updates for a rank
  bool any() const { return activations || share > 0; }
};

// proto::Training.
struct TrainingPlan {
  int64_t seq = 0, micro_batch = 1, global_batch = 1;
  proto::Training::Dtype dtype = proto::Training::BF16;
  bool narrow_gradients = false;  // proto::Training::grad_reduce_dtype is bf16
  proto::Training::Recompute recompute = proto::Training::NONE;
  bool recomputes_block = false;  // proto::Training::BLOCK
  int64_t recompute_layers = 1;
  ModuleSet modules;  // that are made again with recompute=selective
  proto::Training::Optimizer optimizer = proto::Training::ADAM;
  proto::Training::Attention attention = proto::Training::FLASH;
  proto::Training::Framework framework = proto::Training::MEGATRON;
  bool dropout = false, compiled = true;
  // Scales of fp8 come from the tensor as it is: norms cannot write fp8 themselves.
  bool looks_before_cast = true;
  // They are of blocks, and are put in the order that products want: a kernel for each operand.
  bool block_scales = false;
  // CUDA graphs hold the products of experts too.
  bool graphed_experts = false;
  // The loss by TransformerEngine's kernels, as in NVIDIA's recipes (cross_entropy_fusion_impl).
  bool fused_loss = true;
  int64_t lora = 0;           // rank of adapters; 0: none
  bool lora_mlp = false;      // the MLP has adapters too
  bool lora_dropout = false;  // their inputs are dropped at random
  HostCosts host;
  bool graphs = false;  // proto::Training::cuda_graphs
  Offload offload;
  proto::Training::TableOptimizer table_optimizer = proto::Training::TABLE_ADAGRAD;
  proto::Training::Dtype table_dtype = proto::Training::FP32;

  // Layers that full recomputation makes again at once; 1: each before its own backward pass, or none.
  int64_t recomputed_at_once() const {
    return recompute == proto::Training::FULL && !recomputes_block ? recompute_layers : 1;
  }
  bool MakesAgain(Module module) const { return recompute == proto::Training::SELECTIVE && modules[module]; }
  // The model's weights get no gradients: adapters alone do.
  bool frozen() const { return lora > 0; }

  // Frameworks before FlashAttention: their other kernels are of that time too.
  bool unfused() const { return attention == proto::Training::MATH; }
  // Products take one byte an element, and so do the ranks of tp that gather their inputs.
  bool narrow() const { return dtype == proto::Training::FP8; }
  // Megatron-LM's buffer of gradients is in the type that is reduced.
  bool keeps_narrow_gradients() const { return narrow_gradients && framework == proto::Training::MEGATRON; }
  // Products of gradients add to those of earlier micro-batches in the type of these (Megatron-LM's
  // gradient_accumulation_fusion, its default with bf16 and fp8).
  bool accumulates() const {
    return framework == proto::Training::MEGATRON && !unfused() && dtype != proto::Training::FP16 &&
           dtype != proto::Training::FP32;
  }
};

struct StepPlan {
  std::string name;
  std::string workload;  // what it was resolved from, as text format
  ModelSize model;
  Split split;
  TrainingPlan training;
  std::vector<Piece> pieces;  // of the model, in its order; pieces.h says on which stages
  // A model of tables has these instead of `model`: its tokens are samples, and its stages the roles of
  // ranks.
  TableModel tables;
  TablePlan table_plan;

  // Micro-batches of a rank in a step.
  int64_t micro_batches() const { return training.global_batch / (training.micro_batch * split.dp); }
  // Whether it is the first micro-batch of those that go its way, or the last: then a piece's gradients are
  // complete.
  bool IsFirst(int64_t micro_batch) const {
    return micro_batch == 0 || (split.mirrored() && micro_batch == micro_batches() / 2);
  }
  bool IsLast(int64_t micro_batch) const {
    return micro_batch + 1 == micro_batches() || (split.mirrored() && micro_batch + 1 == micro_batches() / 2);
  }
  // Whether all of a layer is made again in its backward pass. Layers of further tokens are as the last of
  // the others.
  bool Recomputes(int64_t layer) const;
  // The last stage has the embedding of the first one too, for further tokens.
  bool copies_embedding() const { return model.mtp > 0 && !model.tied && !split.ends_together(); }
  // Tokens of a micro-batch on a rank of cp, and where the ranks of tp share them too.
  int64_t tokens() const { return training.seq * training.micro_batch / split.cp; }
  int64_t shared_tokens() const { return split.sp ? tokens() / split.tp : tokens(); }
  // The vocabulary, filled up so that the ranks of tp have equal shares: Megatron-LM takes multiples of 128 *
  // tp.
  int64_t padded_outputs() const;
  // Bytes of an element of activations and of weights in products.
  int64_t element_bytes() const { return training.dtype == proto::Training::FP32 ? 4 : 2; }
  // Bytes of an element of a gradient that is kept: Megatron-LM accumulates in fp32 with bf16, or in bf16
  // where it reduces in bf16, and keeps fp16 with fp16; FSDP and DDP have fp32 weights.
  int64_t gradient_bytes() const {
    return training.dtype == proto::Training::FP16 || training.keeps_narrow_gradients() ? 2 : 4;
  }
  // Of one that is reduced: FSDP casts it before and after.
  int64_t reduced_bytes() const { return training.narrow_gradients ? 2 : gradient_bytes(); }
};

// Fills in the defaults of proto/workload.proto. Presets and files are read before (workload.h). Errors
// (InvalidArgument) name the field, its value, what was expected, and the nearest value that would do: a
// field that is missing or out of its range, sizes that do not divide, and what is not generated yet.
// `domain`: neighbouring ranks that NVLink joins, where the workload leaves parallel.domain open; 0: not
// known, taken as kUsualDomain.
// StepPlan::workload of a step that shares experts says which one it is.
absl::StatusOr<StepPlan> ResolvePlan(const proto::Workload& workload, int domain = 0);
// Model::window_layers for these layers: "0-4+6-10".
std::string WindowLayers(const std::vector<int>& layers);
// What the host takes: what the training says, or what was fitted.
HostCosts HostCostsOf(const proto::Training& training);
// Of a transformer alone. Errors: also a model of tables.
absl::StatusOr<ModelSize> ResolveModel(const proto::Model& model);

}  // namespace chakra::generate
