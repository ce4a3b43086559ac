// A resolved workload: all defaults are filled in, and all settings fit together.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/workload.pb.h"
#include "trace/generate/tables.h"

namespace chakra::generate {

inline constexpr char kNoSublayer = ' ';

// What a layer is made of. `mixer` and `mlp` are letters of blocks/registry.cc, or kNoSublayer.
struct LayerSpec {
  char mixer = '*', mlp = '-';
  int64_t window = 0;  // keys that a query sees; 0: no window
  int64_t chunk = 0;   // tokens of a chunk; 0: no chunks
  bool rope = false;
  bool indexer = false;  // of sparse attention
  bool bf16 = false;     // GEMMs stay in bf16 (TrainingPlan::bf16_layers)
  bool operator==(const LayerSpec&) const = default;
};

// Sizes of Mamba-2, and of linear attention by the delta rule (blocks/).
struct MambaShape {
  int64_t heads = 0, head_dim = 0, state = 0, groups = 0, chunk = 0;
};
struct DeltaShape {
  int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
  bool full_gate = false;
};

// The sizes of proto::Model. Fields without a comment have the same meaning there; 0 is "none".
struct ModelSize {
  std::string name;  // name of the preset or the file, or "model"
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
  int64_t window = 0;  // window of the layers in `windowed`
  std::bitset<1024> windowed;
  int64_t chunk = 0;                  // chunk of the layers in `chunked`
  std::bitset<1024> chunked, turned;  // turned: layers with rotary positions, if `rope`
  bool qk_norm_bare = false;
  // By layer, letters of SublayerKinds(); empty: attention; an MLP, or experts in the layers with experts.
  std::string mixers, mlps;
  MambaShape mamba;
  DeltaShape delta;
  int64_t conv_kernel = 0, expert_latent = 0;
  int64_t index_topk = 0, index_heads = 0, index_dim = 0;  // of sparse attention; 0: none
  std::bitset<1024> indexed;                               // layers with an indexer
  bool attention_gate = false, router_bias = false;

  bool latent() const { return kv_rank > 0; }
  bool sparse() const { return index_topk > 0; }
  // Features of the rows that experts get.
  int64_t expert_width() const { return expert_latent > 0 ? expert_latent : hidden; }
  // Whether a layer, or one of multi-token prediction, has this kind of sublayer.
  bool HasSublayer(char letter) const;
  // Whether the MLP has its own norm before it.
  bool mlp_norm() const { return pre_norm && !shared_norm; }
  // Elements of a norm's weights.
  int64_t NormWeights(int64_t width) const { return layer_norm && norm_bias ? 2 * width : width; }
  // Elements of the weights of the norms of queries and keys, for these numbers of features.
  int64_t QkNormWeights(int64_t query, int64_t key) const {
    if (qk_norm_bare) return 0;
    return qk_norm_wide ? NormWeights(query) + NormWeights(key) : 2 * NormWeights(head_dim);
  }
  // Features of all heads' queries, keys and values.
  int64_t query_width() const { return heads * (latent() ? nope_dim + rope_dim : head_dim); }
  int64_t key_width() const { return latent() ? query_width() : kv_heads * head_dim; }
  int64_t value_width() const { return latent() ? heads * v_dim : kv_heads * head_dim; }
  // Features of the input of the projection after attention.
  int64_t context_width() const { return heads * (latent() ? v_dim : head_dim); }
  // Layers are counted from 0. Those of multi-token prediction follow the others, and are like the last one,
  // but always have attention and an indexer, if the model has one.
  LayerSpec SpecOf(int64_t layer) const;
  // Rows of the head: tokens of the vocabulary, or classes.
  int64_t outputs() const { return image > 0 ? classes : vocab; }
};

enum class Schedule : uint8_t { kGpipe, k1F1B, kInterleaved, kZbH1, kDualPipe, kDualPipeV };

// A part of the model on one pipeline stage, with consecutive layers. Layers from ModelSize::layers on are
// those of multi-token prediction.
struct Piece {
  int64_t first = 0, layers = 0;
  bool embedding = false, head = false;
};

inline constexpr int kUsualDomain = 8;  // number of GPUs that NVLink connects in most servers

// proto::Parallel.
struct Split {
  int64_t tp = 1, pp = 1, vpp = 1, dp = 1, cp = 1, ep = 1, etp = 1;
  bool sp = false;
  int zero = 0;
  int64_t copies = 1;
  std::optional<bool> reshard_after_forward;
  Schedule schedule = Schedule::k1F1B;
  proto::Parallel::ContextKind cp_kind = proto::Parallel::RING;
  bool overlap_grad = true, overlap_param = false, overlap_tensor = false;
  bool pp_before_dp = false;  // order=tp-cp-ep-pp-dp
  bool deep = true;           // proto::Parallel::DEEP or HYBRID
  bool hybrid = false;        // proto::Parallel::HYBRID
  bool overlap_expert = false;
  double hidden_share = 0;  // as given; 0: not given
  int64_t domain = kUsualDomain;
  // For a recommendation model: by rank, the index of its graph, of `role_count`. Empty: a rank runs the
  // graph of its stage.
  std::vector<int32_t> roles;
  int64_t role_count = 0;

  // Number of distinct graphs of a step.
  int64_t graphs() const { return roles.empty() ? pp : role_count; }
  int64_t ranks() const { return tp * cp * dp * pp; }
  int64_t stage_ranks() const { return tp * cp * dp; }
  // The ranks, of those that share the experts, in one NVLink domain: the largest number that fits and
  // divides them into equal parts.
  int64_t expert_node() const;
  // The default dispatcher: whether it is DeepEP, which is for tokens whose experts are on few nodes.
  bool goes_deep(const ModelSize& model) const;
  // Sets `deep` and `hybrid` for a step that names no dispatcher.
  void ChooseDispatcher(const ModelSize& model);
  // Number of ranks with the same experts.
  int64_t expert_dp() const { return stage_ranks() / (ep * etp); }
  // Whether passes run together, so that exchanges of experts of one overlap with computation of the other.
  bool merges_exchanges() const {
    return ep > 1 && (overlap_expert || schedule == Schedule::kDualPipe || schedule == Schedule::kDualPipeV);
  }
  // Share of the exchanges that overlap with kernels, in passes that run together.
  double hides() const;
  // Whether each piece of the model is on two stages.
  bool mirrored() const { return schedule == Schedule::kDualPipe; }
  int64_t stage_pieces() const { return mirrored() ? 2 : vpp; }
  int64_t model_pieces() const { return pp * vpp; }
  // Whether embedding and head are on one stage.
  bool ends_together() const { return pp == 1 || mirrored() || schedule == Schedule::kDualPipeV; }
  // Number of ranks with the same weights: those of experts, or the others.
  int64_t holders(bool expert) const { return (expert ? expert_dp() : dp * cp) * (mirrored() ? 2 : 1); }
  // Number of ranks that share these weights, or what else zero says.
  int64_t sharers(bool expert) const { return holders(expert) / copies; }
};

// The share of each of `ranks` in `n` elements; the last rank may have fewer.
inline int64_t ShareOf(int64_t n, int64_t ranks) { return (n + ranks - 1) / ranks; }

// Parts of a layer that the backward pass can recompute separately.
enum Module : uint8_t {
  kCoreAttention,
  kLayerNorms,
  kLatentUp,
  kDenseMlp,
  kMoe,
  kExpertActivation,
  kSharedExperts,
  kProjections,
  kAttentionOut,
  kMlpUp,
};
inline constexpr int kModules = 10;
// The names in proto::Training::recompute_modules, by Module.
inline constexpr const char* kModuleNames[kModules] = {"core_attn", "layernorm", "mla_up_proj",    "mlp",
                                                       "moe",       "moe_act",   "shared_experts", "qkv_proj",
                                                       "out_proj",  "mlp_up"};
using ModuleSet = std::bitset<kModules>;
// "mla_up_proj+moe_act".
std::string NamesOf(const ModuleSet& modules);

// Times of the host's thread, in ns. All 0: the host never delays the device.
struct HostCosts {
  int64_t launch_ns = 0;        // launch of a kernel
  int64_t eager_launch_ns = 0;  // launch of a kernel that is in no CUDA graph
  int64_t eager_kernel_ns = 0;  // each further kernel of an operator that is in no CUDA graph
  int64_t layer_ns = 0;         // a layer's forward pass, in addition to its launches
  int64_t call_ns = 0;          // a collective, a send, a receive
  int64_t batch_ns = 0;         // a micro-batch on the first and the last stage
  int64_t step_ns = 0;

  bool any() const { return launch_ns + layer_ns + call_ns + batch_ns + step_ns > 0; }
};

// Optimizers that work on whole matrices (optimizer/). Fields: proto::Training.
struct MatrixPlan {
  proto::Training::MatrixSharding sharding = proto::Training::REPEATED;
  proto::Training::MatrixTp tp = proto::Training::BLOCKWISE;
  int64_t steps = 5, coefficients = 3;  // of Newton and Schulz
  bool split_qkv = true, nesterov = false;
  proto::Training::MuonMoment moment = proto::Training::NO_MOMENT;
};

// What is offloaded to the host's memory (offload.h).
struct Offload {
  bool activations = false;
  int64_t layers = 0;        // number of layers whose activations are offloaded, from the first on
  double share = 0;          // share of the weights that the host updates
  bool overlaps = false;     // copies of gradients and weights overlap with the update
  double updates_per_s = 0;  // weights that the host updates per second for each rank
  bool any() const { return activations || share > 0; }
};

// GEMMs of another dtype: those of this module, and of the parts of it ("attention": "attention.qkv", ...).
struct GemmDtype {
  std::string module;
  proto::Training::Dtype dtype = proto::Training::BF16;
  bool Has(absl::string_view part) const;
};

// proto::Training.
struct TrainingPlan {
  int64_t seq = 0, micro_batch = 1, global_batch = 1;
  proto::Training::Dtype dtype = proto::Training::BF16;
  bool narrow_gradients = false;  // proto::Training::grad_reduce_dtype is bf16
  proto::Training::Recompute recompute = proto::Training::NONE;
  proto::Training::RecomputeMethod recompute_method = proto::Training::UNIFORM;
  int64_t recompute_layers = 1;
  ModuleSet modules;              // modules that recompute=selective recomputes
  bool recomputes_gemms = false;  // proto::Training::recompute_gemms
  proto::Training::Optimizer optimizer = proto::Training::ADAM;
  MatrixPlan matrix;
  proto::Training::Attention attention = proto::Training::FLASH;
  proto::Training::Framework framework = proto::Training::MEGATRON;
  bool dropout = false, compiled = true;
  // Scales of fp8 come from the tensor itself, so norms cannot write fp8 directly.
  bool looks_before_cast = true;
  // Scales are those of blocks; one kernel for each operand puts them in the order that GEMMs need.
  bool block_scales = false;
  std::bitset<1024> bf16_layers;  // whose GEMMs stay in bf16
  std::vector<GemmDtype> gemm_dtypes;
  bool hadamard = true;    // nvfp4: transforms the operands of the GEMMs of weight gradients
  bool stochastic = true;  // nvfp4: rounds gradients stochastically
  // CUDA graphs include the GEMMs of experts.
  bool graphed_experts = false;
  // RMSNorm is one kernel each way, as LayerNorm is.
  bool fused_norm = true;
  // Queries, keys and values are one GEMM, and so are gate and up.
  bool fused_projections = true;
  // TransformerEngine's kernels compute the loss, as in NVIDIA's recipes (cross_entropy_fusion_impl).
  bool fused_loss = true;
  int64_t lora = 0;           // rank of adapters; 0: none
  bool lora_mlp = false;      // the MLP has adapters too
  bool lora_dropout = false;  // adapters have dropout of their inputs
  HostCosts host;
  std::string host_range;  // of the host whose times apply: its name and proto::HostTimes::range
  bool graphs = false;  // proto::Training::cuda_graphs
  Offload offload;
  proto::Training::TableOptimizer table_optimizer = proto::Training::TABLE_ADAGRAD;
  proto::Training::Dtype table_dtype = proto::Training::FP32;

  // Whether the optimizer needs whole matrices.
  bool by_matrix() const { return optimizer == proto::Training::MUON || optimizer == proto::Training::SOAP; }
  // Whether each weight is updated by one rank, which owns it.
  bool owns_weights() const { return by_matrix() && matrix.sharding == proto::Training::LAYERWISE; }
  // Number of layers that full recomputation recomputes together; 1: each before its own backward pass, or no
  // recomputation.
  int64_t recomputed_at_once() const {
    const bool uniform = recompute_method == proto::Training::UNIFORM;
    return recompute == proto::Training::FULL && uniform ? recompute_layers : 1;
  }
  bool recomputes_operators() const { return recompute == proto::Training::OPERATORS; }
  bool MakesAgain(Module module) const { return recompute == proto::Training::SELECTIVE && modules[module]; }
  // Whether the model's weights have no gradients, and only adapters are trained.
  bool frozen() const { return lora > 0; }

  // Whether the framework is from before FlashAttention; its other kernels are of that time too.
  bool unfused() const { return attention == proto::Training::MATH; }
  // Whether elements have at most one byte in GEMMs, and in the all-gathers of their inputs over tp.
  bool narrow() const { return dtype == proto::Training::FP8 || dtype == proto::Training::NVFP4; }
  // The dtype of the GEMMs of a part (Spot::part) of a layer.
  proto::Training::Dtype DtypeOf(bool bf16_layer, absl::string_view part) const;
  // The training with GEMMs of this dtype.
  TrainingPlan With(proto::Training::Dtype dtype) const;
  // Bytes of `elements` in GEMMs that are narrow, with block scales of a byte: for 32 elements (MXFP8), or
  // for 16 of half a byte.
  int64_t NarrowBytes(int64_t elements) const {
    if (dtype == proto::Training::NVFP4) return (9 * elements + 15) / 16;
    return elements + (block_scales ? (elements + 31) / 32 : 0);
  }
  // Whether a GEMM of this dtype keeps its input for the gradient of its weight as it was cast along columns,
  // and not in bf16: with block scales (TransformerEngine and torchao's NVFP4; torchao's MXFP8 casts again).
  // FP8 with scales of tensors is left as it was.
  bool keeps_cast(proto::Training::Dtype of) const {
    const bool mx = block_scales && framework == proto::Training::MEGATRON;
    return of == proto::Training::NVFP4 || (of == proto::Training::FP8 && mx);
  }
  // The training whose casts have no Hadamard transform: those of weights.
  TrainingPlan WithoutTransform() const {
    TrainingPlan out = *this;
    out.hadamard = false;
    return out;
  }
  // Whether GEMMs have several dtypes.
  bool mixes() const { return bf16_layers.any() || !gemm_dtypes.empty(); }
  // Whether ranks of tp gather the inputs of GEMMs in bf16 and cast them afterwards: torchao's NVFP4.
  bool gathers_before_cast() const {
    return dtype == proto::Training::NVFP4 && framework != proto::Training::MEGATRON;
  }
  // Whether PyTorch casts to fp8 by separate kernels in fp32: torchao without torch.compile.
  bool casts_eagerly() const {
    return dtype == proto::Training::FP8 && !compiled && framework != proto::Training::MEGATRON;
  }
  // Whether gradients are kept in bf16: Megatron-LM's buffer of gradients has the dtype of the reduction.
  bool keeps_narrow_gradients() const { return narrow_gradients && framework == proto::Training::MEGATRON; }
  // Whether the GEMMs of gradients add to the gradients of earlier micro-batches, in the dtype of these
  // (Megatron-LM's gradient_accumulation_fusion, its default with bf16 and fp8).
  bool accumulates() const {
    return framework == proto::Training::MEGATRON && !unfused() && dtype != proto::Training::FP16 &&
           dtype != proto::Training::FP32;
  }
};

struct StepPlan {
  std::string name;
  std::string workload;  // the workload from which it was resolved, as text format
  ModelSize model;
  Split split;
  TrainingPlan training;
  std::vector<Piece> pieces;  // pieces of the model, in its order; pieces.h has their stages
  // A recommendation model has these instead of `model`: its tokens are samples, and its stages the roles of
  // ranks.
  TableModel tables;
  TablePlan table_plan;

  // Number of micro-batches of a rank in a step.
  int64_t micro_batches() const { return training.global_batch / (training.micro_batch * split.dp); }
  // Whether this is the first or the last micro-batch in its direction through the stages. After the last
  // one, a piece's gradients are complete.
  bool IsFirst(int64_t micro_batch) const {
    return micro_batch == 0 || (split.mirrored() && micro_batch == micro_batches() / 2);
  }
  bool IsLast(int64_t micro_batch) const {
    return micro_batch + 1 == micro_batches() || (split.mirrored() && micro_batch + 1 == micro_batches() / 2);
  }
  // Whether the whole layer is recomputed in its backward pass. Layers of multi-token prediction are like the
  // last of the others.
  bool Recomputes(int64_t layer) const;
  // Whether the GEMMs of a layer stay in bf16. Layers of multi-token prediction are like the first of them.
  bool InBf16(int64_t layer) const {
    const int64_t like = std::min(layer, model.layers);
    return like >= 0 && like < 1024 && training.bf16_layers[static_cast<size_t>(like)];
  }
  // Whether the last stage also has the embedding of the first one, for multi-token prediction.
  bool copies_embedding() const { return model.mtp > 0 && !model.tied && !split.ends_together(); }
  // Tokens of a micro-batch on a rank of cp; and on one rank of tp if the ranks of tp share them.
  int64_t tokens() const { return training.seq * training.micro_batch / split.cp; }
  int64_t shared_tokens() const { return split.sp ? tokens() / split.tp : tokens(); }
  // The vocabulary, padded so that the ranks of tp have equal shares: Megatron-LM uses multiples of 128 * tp.
  int64_t padded_outputs() const;
  // Bytes of an element of activations, and of weights in GEMMs.
  int64_t element_bytes() const { return training.dtype == proto::Training::FP32 ? 4 : 2; }
  // Bytes of an element of an accumulated gradient: Megatron-LM accumulates in fp32 with bf16, or in bf16 if
  // it reduces in bf16, and in fp16 with fp16; FSDP and DDP have fp32 weights.
  int64_t gradient_bytes() const {
    return training.dtype == proto::Training::FP16 || training.keeps_narrow_gradients() ? 2 : 4;
  }
  // Whether each rank gets all reduced gradients: optimizers of whole matrices need them, as long as ranks
  // have room for them.
  bool reduces_to_all() const { return split.zero == 0 || (training.by_matrix() && split.zero < 3); }
  // Bytes of an element of a reduced gradient: FSDP casts it before and after the reduction.
  int64_t reduced_bytes() const { return training.narrow_gradients ? 2 : gradient_bytes(); }
  // FSDP with a pipeline reduces gradients after the last micro-batch (torch/distributed/pipelining/stage.py,
  // _post_backward and set_requires_gradient_sync), and accumulates those of the others in whole weights.
  bool accumulates_whole() const {
    return training.framework == proto::Training::FSDP && split.pp > 1 && micro_batches() > 1;
  }
  // FSDP: whether the weights of a unit are freed between its forward and its backward pass.
  bool reshards() const { return split.reshard_after_forward.value_or(!accumulates_whole()); }
  // With zero=3: whether a pass gathers the weights of a unit.
  bool Gathers(bool forward, int64_t micro_batch) const {
    return reshards() || (forward && (!accumulates_whole() || IsFirst(micro_batch)));
  }
};

// The text of Model::window_layers for these layers: "0-4+6-10".
std::string WindowLayers(const std::vector<int>& layers);

}  // namespace chakra::generate
