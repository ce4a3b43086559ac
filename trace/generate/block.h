// What one rank computes for a layer: a list of operations. The rest follows from this list: the graph of a
// forward pass, of recomputation and of a backward pass (layers.h), parameters and operation counts
// (counts.h), and memory (memory.h). blocks/ has a file for each kind of sublayer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "trace/generate/operators.h"
#include "trace/generate/sizes.h"
#include "trace/generate/step.h"

namespace chakra::generate {

enum class Act : uint8_t {
  kNorm,
  // GEMMs, by how ranks of tp share them (Korthikanti et al., "Reducing Activation Recomputation in Large
  // Transformer Models", 2022, figures 5 and 6).
  kColumn,     // the weight is split by columns; the tokens are gathered before
  kRow,        // the weight is split by rows; the outputs are reduced after
  kWhole,      // each rank has the whole weight, and uses it for its own tokens
  kUp,         // as kColumn; the tokens are gathered already
  kUpOfInput,  // as kUp, but its input is that of the last kWhole, which is gathered too
  kGather,     // gathers the tokens of `in` features for all kUp that follow; `back`: without a gradient
  kBias,       // the bias of a GEMM: in the forward pass a part of another kernel
  kRotary,     // rotary positions
  kCore,       // scores, softmax and the sum of values
  kActivation,
  kKernels,   // fused kernels, which Operation::forward and backward name
  kExchange,  // an all-to-all between ranks of cp, forward `in` features, backward the same ones
  kBranch,    // the operations up to `other` have the same input as the operation at `other`
  kJoin,      // adds the output of the branch at `other`
  // Experts. `back`: on the way from the experts.
  kRouter,
  kByToken,   // copies rows for each expert of a token, or sums them
  kDispatch,  // the exchange of rows between ranks of ep
  kByExpert,  // puts the rows of each expert together
  kPad,
  kCast,           // casts the input of a kExpertProduct; `back`: a kernel before may have done it
  kExpertProduct,  // the GEMMs of all experts of a rank; `back`: the second one
  kExpertBias,     // adds the bias of the second GEMM
  kClamp,
  kExpertActivation,
};

// A GEMM by which tokens pass a weight that is not that of an expert.
inline bool IsDenseGemm(Act act) { return act >= Act::kColumn && act <= Act::kUpOfInput; }

// Matrices of a weight on a rank, from `columns` to `rows` features.
struct WeightMatrix {
  int64_t rows = 0, columns = 0;
  int64_t count = 1;  // equal ones: of experts
  // what ranks of tp have parts of; of experts, ranks of etp
  enum Cut : uint8_t { kWhole, kRows, kColumns } cut = kWhole;
  bool operator==(const WeightMatrix&) const = default;
};
// How Megatron-LM holds the matrices of an operation.
enum class Fused : uint8_t {
  kApart,    // each is a weight
  kQueries,  // as one weight, of which Muon takes each matrix by itself (muon_split_qkv)
  kJoined,   // as one weight: gate and up, one above the other
};

// One operation. Sizes are those of a rank.
struct Operation {
  Act act = Act::kNorm;
  const char* part = "";       // Spot::part; has static storage
  const char* adapter = "";    // Spot::part of the LoRA adapter of a GEMM; "": it has none
  int64_t rows = 0;            // of kNorm, kBias, kRotary, kActivation
  int64_t in = 0, out = 0;     // features
  int64_t weights = 0;         // elements of its weights
  // Matrices in its weights, those that other frameworks have one by one. The other weights are vectors and
  // filters.
  std::vector<WeightMatrix> matrices;
  Fused fused = Fused::kApart;
  bool separate = false;       // a GEMM runs for each of `matrices`
  int64_t buffers = 0;         // elements that count as parameters, but have no gradient
  bool expert = false;         // the weights are those of experts, which ranks of ep split
  bool replicated = false;     // each rank of tp has the weights, and uses them for its own tokens
  double products = 0;         // multiplications of weights with one token that counts include
  double core = 0;             // multiplications of one token with other tokens
  int32_t from = -1;           // index of the operation whose output is the input; < 0: ~index of a sublayer
  int32_t other = 0;           // of kBranch and kJoin
  int64_t out_bytes = 0;       // of the output; 0: the output is the input
  int64_t gradient_bytes = 0;  // gradients that a deferred gradient of the weights needs
  bool keeps_input = false, keeps_output = false;  // for the backward pass
  // of a GEMM that keeps its input as it was cast along columns: the dtype of the cast
  std::optional<proto::Training::Dtype> keeps_cast;
  int64_t own_bytes = 0;                           // kept for the backward pass in addition
  bool back = false;
  bool beside = false;                      // its input's gradient is added to that of the operation before
  // With recompute=operators: bit i is set if the output of GEMM i is kept. Other operations
  // count as one GEMM.
  uint8_t saved = 0;
  std::vector<Operator> forward, backward;  // of kKernels

  // `out` of each of its GEMMs.
  size_t gemms() const { return separate ? matrices.size() : 1; }
  int64_t width(size_t gemm) const { return separate ? matrices[gemm].rows : out; }
  bool saves(size_t gemm) const { return (saved >> gemm & 1) != 0; }
  bool saves_all() const { return saved + 1 == 1 << gemms(); }
  // `out` of the GEMMs whose output is kept.
  int64_t saved_width() const {
    int64_t sum = 0;
    for (size_t i = 0; i < gemms(); ++i) sum += saves(i) ? width(i) : 0;
    return sum;
  }
};

// An operator between a norm and a residual sum.
struct Sublayer {
  int32_t begin = 0, end = 0;  // its operations
  const char* add = "";        // Spot::part of the residual sum and of the norm before it
  const char* post_norm = "";
  int64_t post_weights = 0;  // of that norm, which each rank of tp has
  int64_t widest = 0;  // features of the gradients that its backward pass has at one time, in addition to
                       // the gradient of the residual stream
};

// Operations that the backward pass can recompute separately.
struct Recomputed {
  Module module;
  int32_t begin = 0, end = 0;
  int32_t before = 0;         // recomputed before the backward pass of this operation
  bool keeps_output = false;  // the output is kept, as activation checkpoints do; otherwise only used once
};

struct Block {
  LayerSpec spec;
  std::vector<Operation> operations;
  std::vector<Sublayer> sublayers;
  std::vector<Recomputed> modules;
  // The backward pass needs no output of the operations from here on.
  int32_t needed = 0;
};

// A kind of sublayer; blocks/ has a file for each.
struct SublayerKind {
  char letter;       // Megatron-LM's (core/models/hybrid/hybrid_layer_allocation.py), where it has one
  bool mlp;          // an MLP or experts, not a mixer
  const char* what;  // for users
  void (*describe)(class BlockWriter*);
};
const std::vector<SublayerKind>& SublayerKinds();
// Adds the sublayer of this kind, with its norm, to the writer's block. `letter`: of SublayerKinds().
void DescribeSublayer(char letter, BlockWriter* writer);

// Features of queries, keys, values and the output of attention's core, on a rank of tp.
struct AttentionWidths {
  int64_t query = 0, key = 0, value = 0, context = 0;
};
AttentionWidths WidthsOf(const StepPlan& plan);

// Rows that a rank sends to `places` with equal parts of the experts: for each token, one row for each of its
// experts, or, with DeepEP, one for each place that has at least one of them.
int64_t RowsTo(const StepPlan& plan, int64_t places);
// Rows of one expert's GEMMs on a rank, from the tokens of all ranks that share the experts.
int64_t RowsOfExpert(const StepPlan& plan);

// The block of a layer of this kind on a rank of the plan. With StepPlan::split and training left at their
// defaults, sizes are those of the whole layer.
Block DescribeLayer(const StepPlan& plan, const LayerSpec& spec);
// Elements of a layer's weights on a rank, before dp shares any.
struct WeightShare {
  int64_t dense = 0, expert = 0;
  // part of `dense`: norms, router and down projections, which each rank of tp has whole
  int64_t replicated = 0;
};
WeightShare ShareOf(const Block& block);
// The operations that layers of multi-token prediction have before their own block.
Block DescribeFurther(const StepPlan& plan);
// The plan of a model on one rank, for counts; `seq`: 0 if the count needs no sequence.
StepPlan WholeModel(const ModelSize& model, int64_t seq);

// The blocks of all layers of a plan; layers of the same kind share one.
class Blocks {
 public:
  explicit Blocks(const StepPlan& plan);
  const Block& Of(int64_t layer) const { return blocks_[KindOf(layer)]; }
  // Index of the kind of a layer: layers of the same kind are equal.
  size_t KindOf(int64_t layer) const {
    return of_layer_[std::min(static_cast<size_t>(layer), of_layer_.size() - 1)];
  }
  const std::vector<Block>& kinds() const { return blocks_; }

 private:
  std::vector<uint16_t> of_layer_;  // and one for all layers of multi-token prediction, if there are any
  std::vector<Block> blocks_;
};

// Adds operations to a block. Each takes the output of the one before, unless From() names another.
class BlockWriter {
 public:
  BlockWriter(const StepPlan& plan, Block* block);

  const StepPlan& plan() const { return plan_; }
  const ModelSize& model() const { return plan_.model; }
  const Split& split() const { return plan_.split; }
  const TrainingPlan& training() const { return plan_.training; }
  const LayerSpec& spec() const { return block_->spec; }
  // Tokens of a rank, and those of a rank of tp between GEMMs; bytes of an element.
  int64_t tokens() const { return tokens_; }
  int64_t shared() const { return shared_; }
  int64_t size() const { return size_; }

  int32_t next() const { return static_cast<int32_t>(block_->operations.size()); }
  int32_t current() const { return current_; }
  void From(int32_t operation) { current_ = operation; }

  // Returns the index of the operation.
  int32_t Add(Operation op);
  int32_t Norm(const char* part, int64_t rows, int64_t width, int64_t weights);
  // A norm of the residual stream.
  int32_t HiddenNorm(const char* part);
  // The norm before a mixer, if the model has norms there.
  void SublayerNorm(const char* part);
  // The norm before an MLP: its own, that of the mixer, or none.
  void MlpNorm();
  // Allows recomputation of the last of these norms, before the backward pass of the operation `before`.
  void RecomputeNorm(int32_t before);
  // A GEMM of one of the kinds above. `adapter`: as Operation::adapter, if the step has adapters there.
  int32_t Product(Act act, const char* part, int64_t in, int64_t out, const char* adapter = "");
  int32_t Column(const char* part, int64_t in, int64_t out, const char* adapter = "") {
    return Product(Act::kColumn, part, in, out, adapter);
  }
  int32_t Row(const char* part, int64_t in, int64_t out, const char* adapter = "") {
    return Product(Act::kRow, part, in, out, adapter);
  }
  // The weight of a GEMM consists of matrices with these numbers of outputs.
  void Fuses(int32_t operation, std::initializer_list<int64_t> outputs, Fused fused);
  int32_t Bias(const char* part, int64_t rows, int64_t width);
  // Gathers the tokens of `width` features; `learns`: the gradient is reduced.
  int32_t Gather(const char* part, int64_t width, bool learns = true);
  // Exchanges tokens for heads between ranks of cp, or back; nothing without cp.
  void Exchange(const char* part, int64_t width);
  int32_t Kernels(const char* part, std::vector<Operator> forward, std::vector<Operator> backward,
                  int64_t out_bytes);
  void Recompute(Module module, int32_t begin, int32_t end, int32_t before, bool keeps_output) {
    block_->modules.push_back({module, begin, end, before, keeps_output});
  }
  // The dtype in which the GEMM of a part keeps its input, if that is not the dtype of activations.
  std::optional<proto::Training::Dtype> KeepsCast(const char* part, const char* adapter = "") const;
  Operation& at(int32_t operation) { return block_->operations[static_cast<size_t>(operation)]; }
  const Operators& operators() const { return ops_; }

  // Begins and ends a sublayer.
  void Begin(const char* add, const char* post_norm);
  void End(int64_t widest);

 private:
  // Whether a GEMM keeps its input for the gradient of its weight, or of its adapter.
  bool KeepsInput(const char* adapter) const;

  const StepPlan& plan_;
  Block* block_;
  const Operators ops_;
  const int64_t tokens_, shared_, size_;
  int32_t current_ = -1;
  int32_t norm_ = -1;  // the last norm of the residual stream; -1: none
};

}  // namespace chakra::generate
