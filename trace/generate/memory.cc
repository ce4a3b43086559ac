#include "trace/generate/memory.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "trace/generate/offload.h"
#include "trace/generate/optimizer/parameters.h"
#include "trace/generate/pieces.h"
#include "trace/generate/schedule.h"
#include "trace/generate/weights.h"

namespace chakra::generate {
namespace {

using proto::Training;

bool IsFsdp(const StepPlan& p) { return p.training.framework == Training::FSDP; }
bool IsDdp(const StepPlan& p) { return p.training.framework == Training::DDP; }

// FSDP and DDP have fp32 weights, which are cast for GEMMs.
int64_t WeightBytes(const StepPlan& p) { return IsFsdp(p) || IsDdp(p) ? 4 : p.element_bytes(); }

// fp32 weights, if those of GEMMs have another dtype; if gradients have two bytes, also fp32 gradients.
int64_t MasterBytes(const StepPlan& p) {
  return WeightBytes(p) == 4 ? 0 : 4 + (p.gradient_bytes() == 2 ? 4 : 0);
}

int64_t OptimizerBytes(const StepPlan& p) {
  const int64_t averages =
      p.training.optimizer == Training::SGD || p.training.optimizer == Training::ADAGRAD ? 4 : 8;
  return averages + MasterBytes(p);
}

// Bytes of the activations between the two GEMMs of an adapter and, with dropout, of its input after dropout
// with a mask of one byte an element.
int64_t AdapterBytes(const StepPlan& p, const Operation& op) {
  if (*op.adapter == 0) return 0;
  const TrainingPlan& t = p.training;
  const bool down = op.act == Act::kWhole;
  const int64_t adapters = down ? static_cast<int64_t>(DownAdaptersOf(p.model).size()) : 1;
  const int64_t narrow_rows = down || op.act == Act::kRow ? p.shared_tokens() : p.tokens();
  const int64_t rows = down ? p.shared_tokens() : p.tokens();
  const int64_t dropped = t.lora_dropout ? (p.element_bytes() + 1) * rows * op.in : 0;
  return adapters * (p.element_bytes() * t.lora * narrow_rows + dropped);
}

// Bytes of a tensor that has `bytes` in the dtype of activations, after its cast to `dtype`.
int64_t CastBytesOf(const StepPlan& p, int64_t bytes, Training::Dtype dtype) {
  return p.training.With(dtype).NarrowBytes(bytes / p.element_bytes());
}

// The tensors that a block keeps for its backward pass. Each tensor is the output of an operation, or the
// input of a sublayer.
class Tensors {
 public:
  Tensors(const StepPlan& p, const Block& block)
      : block_(block),
        hidden_(p.element_bytes() * p.shared_tokens() * p.model.hidden),
        kept_(block.operations.size() + block.sublayers.size()),
        casts_(kept_.size()) {
    for (size_t i = 0; i < block.operations.size(); ++i) {
      const Operation& op = block.operations[i];
      if (op.keeps_input && op.keeps_cast.has_value()) {
        const size_t input = IndexOf(op.from);
        casts_[input] = CastBytesOf(p, BytesOf(input), *op.keeps_cast);
      } else if (op.keeps_input) {
        kept_[IndexOf(op.from)] = true;
      }
      if (op.keeps_output) kept_[i] = true;
    }
    for (const Recomputed& r : block.modules) {
      if (r.keeps_output && p.training.MakesAgain(r.module)) kept_[IndexOf(At(r.begin).from)] = true;
    }
  }

  int64_t BytesOf(size_t tensor) const {
    return tensor < block_.operations.size() ? block_.operations[tensor].out_bytes : hidden_;
  }
  size_t IndexOf(int32_t from) const {
    return from >= 0 ? static_cast<size_t>(from) : block_.operations.size() + static_cast<size_t>(~from);
  }
  bool keeps(size_t tensor) const { return kept_[tensor]; }
  int64_t kept() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < kept_.size(); ++i) bytes += (kept_[i] ? BytesOf(i) : 0) + casts_[i];
    return bytes;
  }
  // Frees what the module recomputes, and returns its bytes.
  int64_t Free(const Recomputed& r) {
    int64_t bytes = 0;
    size_t output = kept_.size();
    for (int32_t i = r.begin; i < r.end; ++i) {
      bytes += At(i).own_bytes;
      if (At(i).out_bytes > 0) output = static_cast<size_t>(i);
    }
    for (auto i = static_cast<size_t>(r.begin); i < static_cast<size_t>(r.end); ++i) {
      if ((!kept_[i] && casts_[i] == 0) || (i == output && r.keeps_output)) continue;
      kept_[i] = false;
      casts_[i] = 0;
      bytes += BytesOf(i);
    }
    // With the output of attention, the sum with the residual stream is made again.
    for (size_t s = 1; r.module == kAttentionOut && s < block_.sublayers.size(); ++s) {
      const size_t sum = block_.operations.size() + s;
      if (block_.sublayers[s].begin != r.end || !kept_[sum]) continue;
      kept_[sum] = false;
      bytes += BytesOf(sum);
    }
    return bytes;
  }

 private:
  const Operation& At(int32_t i) const { return block_.operations[static_cast<size_t>(i)]; }

  const Block& block_;
  const int64_t hidden_;
  std::vector<bool> kept_;
  std::vector<int64_t> casts_;  // bytes that GEMMs keep of the tensor in their own dtype
};

// Bytes of one layer and micro-batch.
struct LayerBytes {
  int64_t activations = 0, deferred = 0;
  int64_t again = 0;        // the most that its backward pass recomputes by modules at one time
  int64_t temporaries = 0;  // gradients inside the layer that exists at one time
  WeightShare weights, trained;
};

int64_t DeferredOf(const StepPlan& p, const Block& block, const Tensors& tensors) {
  // of each tensor that is an input, by operations without and with a cast
  std::vector<bool> input(block.operations.size() + block.sublayers.size());
  std::vector<int64_t> casts(input.size());
  int64_t bytes = 0;
  for (const Operation& op : block.operations) {
    const size_t from = tensors.IndexOf(op.from);
    if (op.keeps_cast.has_value()) {
      bytes += CastBytesOf(p, op.gradient_bytes, *op.keeps_cast);
      casts[from] = CastBytesOf(p, tensors.BytesOf(from), *op.keeps_cast);
      continue;
    }
    bytes += op.gradient_bytes;
    if (op.products > 0 || op.act == Act::kRouter) input[from] = true;
  }
  for (size_t i = 0; i < input.size(); ++i) bytes += (input[i] ? tensors.BytesOf(i) : 0) + casts[i];
  return bytes;
}

// With recompute=operators: what is kept between the passes, and what the backward pass of the layer adds.
void KeepOperators(const StepPlan& p, const Block& block, const Tensors& tensors, LayerBytes* out) {
  int64_t saved = p.element_bytes() * p.shared_tokens() * p.model.hidden;  // the input of the layer
  int64_t both = saved;  // part of it that a layer without recomputation keeps too
  for (size_t i = 0; i < block.operations.size(); ++i) {
    const Operation& op = block.operations[i];
    if (op.saved == 0) continue;
    const int64_t bytes = op.act == Act::kCore  ? op.out_bytes + op.own_bytes
                          : IsDenseGemm(op.act) ? op.out_bytes / op.out * op.saved_width()
                                                : op.out_bytes;
    saved += bytes;
    both += tensors.keeps(i) ? bytes : 0;
  }
  out->again = std::max<int64_t>(0, out->activations - both);
  out->activations = saved;
}

LayerBytes BytesOfBlock(const StepPlan& p, const Block& block) {
  LayerBytes out;
  Tensors tensors(p, block);
  out.deferred = DeferredOf(p, block, tensors);
  std::vector<int64_t> again(block.sublayers.size());
  for (const Operation& op : block.operations) out.activations += op.own_bytes + AdapterBytes(p, op);
  for (const Recomputed& r : block.modules) {
    if (!p.training.MakesAgain(r.module)) continue;
    size_t sublayer = 0;
    while (block.sublayers[sublayer].end <= r.before) ++sublayer;
    const int64_t bytes = tensors.Free(r);
    again[sublayer] += bytes;
    for (int32_t i = r.begin; i < r.end; ++i)
      out.activations -= block.operations[static_cast<size_t>(i)].own_bytes;
  }
  out.activations += tensors.kept();
  for (const int64_t bytes : again) out.again = std::max(out.again, bytes);
  const int64_t hidden = p.shared_tokens() * p.model.hidden;
  for (const Sublayer& s : block.sublayers) {
    if (*s.add == 0) continue;
    // A mask of one byte after each sublayer; the input of the norm there.
    if (p.training.dropout) out.activations += hidden;
    if (p.model.post_norm) out.activations += p.element_bytes() * hidden;
    out.temporaries = p.element_bytes() * p.tokens() * (s.widest + p.model.hidden);
  }
  if (p.training.recomputes_operators()) KeepOperators(p, block, tensors, &out);
  out.weights = ShareOf(block);
  out.trained = TrainedOf(p, block);
  return out;
}

void Add(const LayerBytes& more, LayerBytes* to) {
  to->activations += more.activations;
  to->deferred += more.deferred;
  for (auto [from, into] : {std::pair{&more.weights, &to->weights}, {&more.trained, &to->trained}}) {
    into->dense += from->dense;
    into->replicated += from->replicated;
  }
}

// The bytes of all layers of a plan.
class LayerTable {
 public:
  explicit LayerTable(const StepPlan& p) : layers_(p.model.layers), blocks_(p) {
    for (const Block& block : blocks_.kinds()) of_kind_.push_back(BytesOfBlock(p, block));
    if (p.model.mtp == 0) return;
    further_ = of_kind_[blocks_.KindOf(layers_)];
    Add(BytesOfBlock(p, DescribeFurther(p)), &further_);
  }
  const LayerBytes& Of(int64_t layer) const {
    return layer >= layers_ ? further_ : of_kind_[blocks_.KindOf(layer)];
  }

 private:
  const int64_t layers_;
  const Blocks blocks_;
  std::vector<LayerBytes> of_kind_;
  LayerBytes further_;  // of multi-token prediction
};

struct Held {
  int64_t dense = 0, expert = 0;
  int64_t largest_dense = 0, largest_expert = 0;  // of the largest layer
  int64_t root_dense = 0;                         // embedding and head
  int64_t adapters = 0, largest_adapters = 0;     // trained elements, if all of the above are frozen
};

std::vector<Piece> PiecesOf(const StepPlan& p, int64_t stage) {
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < p.split.stage_pieces(); ++i)
    pieces.push_back(p.pieces[static_cast<size_t>(PieceOf(p.split, stage, i))]);
  return pieces;
}

Held HeldBy(const StepPlan& p, const LayerTable& layers, const std::vector<Piece>& pieces) {
  Held held;
  for (const Piece& piece : pieces) {
    for (int64_t i = piece.first; i < piece.first + piece.layers; ++i) {
      const WeightShare& share = layers.Of(i).weights;
      held.dense += share.dense;
      held.expert += share.expert;
      held.largest_dense = std::max(held.largest_dense, share.dense);
      held.largest_expert = std::max(held.largest_expert, share.expert);
      if (!p.training.frozen()) continue;
      const int64_t adapters = layers.Of(i).trained.dense;
      held.adapters += adapters;
      held.largest_adapters = std::max(held.largest_adapters, adapters);
    }
    if (piece.embedding) held.root_dense += ShareOfEmbedding(p);
    if (piece.head) held.root_dense += ShareOfHead(p) + (p.copies_embedding() ? CopyOfEmbedding(p) : 0);
  }
  held.dense += held.root_dense;
  return held;
}

// Muon and SOAP: of the rank that has the most.
int64_t MatrixOptimizerBytes(const StepPlan& p, int64_t stage) {
  return MostOptimizerBytes(p, ParametersOf(p, stage), MasterBytes(p));
}

// Frozen weights exist only in the dtype of GEMMs, without gradients and averages.
void AddFrozenStates(const StepPlan& p, const Held& held, RankMemory* out) {
  const int64_t ranks = p.split.sharers(false);
  const auto shared = [&](int64_t bytes, int from) {
    return bytes * (p.split.zero < from ? held.adapters : ShareOf(held.adapters, ranks));
  };
  const bool whole = p.split.zero < 3;
  const int64_t gathered =
      p.reshards() ? 2 * (held.largest_dense + held.largest_expert + held.largest_adapters) + held.root_dense
                   : held.dense + held.expert + held.adapters;
  out->weights = shared(WeightBytes(p), 3) +
                 p.element_bytes() * (whole ? held.dense + held.expert
                                            : ShareOf(held.dense, ranks) +
                                                  ShareOf(held.expert, p.split.sharers(true)) + gathered);
  out->gradients = shared(p.gradient_bytes(), 2);
  out->optimizer = shared(OptimizerBytes(p), 1);
  if (!whole) out->working += p.reduced_bytes() * held.largest_adapters;
}

void AddStates(const StepPlan& p, int64_t stage, const Held& held, RankMemory* out) {
  if (p.training.frozen()) return AddFrozenStates(p, held, out);
  const auto shared = [&](int64_t bytes, int from) {
    if (p.split.zero < from) return bytes * (held.dense + held.expert);
    return bytes *
           (ShareOf(held.dense, p.split.sharers(false)) + ShareOf(held.expert, p.split.sharers(true)));
  };
  out->weights = shared(WeightBytes(p), 3);
  out->gradients = shared(p.gradient_bytes(), 2);
  out->optimizer = p.training.by_matrix() ? MatrixOptimizerBytes(p, stage) : shared(OptimizerBytes(p), 1);
  if (p.split.zero < 3) return;
  // The current layer and the next one; the root stays. Or all layers, which are not resharded.
  const int64_t gathered = p.reshards() ? 2 * (held.largest_dense + held.largest_expert) + held.root_dense
                                        : held.dense + held.expert;
  out->weights += p.element_bytes() * gathered;
  // Sums of whole gradients; their shares take the place of those that are reduced.
  if (p.accumulates_whole()) out->gradients = p.reduced_bytes() * (held.dense + held.expert);
  // Buffers of the reduction after a layer.
  out->working += p.reduced_bytes() * (held.largest_dense + held.largest_expert);
}

// A temporary of the step. Megatron-LM gives autograd one empty gradient for each shape of weight whose
// gradient is added to the buffer in place. DDP's buckets are copies of the gradients, and autocast keeps its
// casts.
int64_t FrameworkBuffers(const StepPlan& p, const LayerTable& layers, const Held& held, const Piece& piece) {
  if (IsFsdp(p)) return 0;
  if (p.training.frozen()) return IsDdp(p) ? 4 * held.adapters : 0;
  if (IsDdp(p)) return (4 + (p.element_bytes() < 4 ? p.element_bytes() : 0)) * (held.dense + held.expert);
  if (piece.layers == 0) return 0;
  const WeightShare& share = layers.Of(piece.first + piece.layers - 1).weights;
  const int64_t experts = std::max<int64_t>(1, p.model.experts / p.split.ep);
  return p.element_bytes() * (share.dense - share.replicated + share.expert / experts);
}

// On the last stage: the logits in the dtype of GEMMs and in fp32, their gradient, and the input and output
// of the last norm.
int64_t HeadBytes(const StepPlan& p) {
  const int64_t rows = p.model.image > 0 ? p.training.micro_batch : p.tokens();
  const int64_t columns = p.padded_outputs() / p.split.tp;
  const int64_t capped = p.model.logit_cap ? p.element_bytes() : 0;  // the output of tanh
  return (4 + p.element_bytes() + capped) * rows * columns +
         2 * p.element_bytes() * p.shared_tokens() * p.model.hidden;
}

// Bytes that one pass keeps for its backward pass, and the part of them that waits for gradients of weights.
struct Kept {
  int64_t activations = 0, deferred = 0;
  int64_t layer = 0;  // the largest layer's activations
};

// The bytes that a pass adds to the kept ones; negative if it frees them. `kept`: by piece.
int64_t AddedBy(const Pass& pass, const std::vector<Kept>& kept) {
  const Kept& k = kept[static_cast<size_t>(pass.piece)];
  if (pass.forward) return k.activations;
  if (pass.part == Pass::kWeights) return -k.deferred;
  return (pass.part == Pass::kInputs ? k.deferred : 0) - k.activations;
}

// The maximum bytes that the passes of a stage keep at one time. If two passes run together, one frees a
// layer while the other fills one.
int64_t MostKept(const std::vector<Pass>& passes, const std::vector<Kept>& kept) {
  int64_t now = 0, most = 0;
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].merged) {
      const int64_t both = AddedBy(passes[i], kept) + AddedBy(passes[i + 1], kept);
      most =
          std::max(most, now + std::max<int64_t>(0, both) + kept[static_cast<size_t>(passes[i].piece)].layer);
      now += both;
      ++i;
      continue;
    }
    now += AddedBy(passes[i], kept);
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

int64_t ActivationsOfLayer(const StepPlan& p, int64_t layer) { return LayerTable(p).Of(layer).activations; }

int64_t DeferredOfLayer(const StepPlan& p, int64_t layer) { return LayerTable(p).Of(layer).deferred; }

namespace {

// For the weights that it updates, the host has fp32 copies of weights, gradients and two averages. The
// device keeps its fp32 weights (Megatron-Bridge's run: 8 bytes less for each weight).
void MoveAverages(const StepPlan& p, const Held& held, RankMemory* out) {
  if (p.training.offload.share == 0) return;
  const int64_t own = p.training.frozen() ? ShareOf(held.adapters, p.split.sharers(false))
                                          : ShareOf(held.dense, p.split.sharers(false)) +
                                                ShareOf(held.expert, p.split.sharers(true));
  const int64_t moved = UpdatedByHost(p, own);
  out->optimizer -= 8 * moved;
  out->host += 16 * moved;
}

// Activations of a pass that stay on the device if those of the first layers are offloaded: the remaining
// ones, and the largest offloaded one while it is copied. This is the state at the end of the forward pass;
// before, there is less.
int64_t LeftOnDevice(const StepPlan& p, const LayerTable& layers, int64_t activations, RankMemory* out) {
  int64_t most = 0;
  for (int64_t i = 0; i < p.training.offload.layers; ++i) {
    const int64_t bytes = layers.Of(i).activations;
    most = std::max(most, bytes);
    activations -= bytes;
    out->host += bytes;
  }
  return activations + most;
}

RankMemory MemoryOf(const StepPlan& p, const LayerTable& layers, int64_t stage) {
  RankMemory out;
  const std::vector<Piece> pieces = PiecesOf(p, stage);
  const Held held = HeldBy(p, layers, pieces);
  AddStates(p, stage, held, &out);
  MoveAverages(p, held, &out);
  const std::vector<Pass> passes = PassesOf(p.split, p.micro_batches(), stage);
  out.in_flight = MostInFlight(passes);
  const int64_t together = p.training.recomputed_at_once();
  const int64_t input = p.element_bytes() * p.shared_tokens() * p.model.hidden;
  std::vector<Kept> kept;
  // again: of the layers that are recomputed together
  int64_t layer_bytes = 0, again = 0, temporaries = 0, head = 0;
  for (const Piece& piece : pieces) {
    Kept& of_piece = kept.emplace_back();
    for (int64_t layer = piece.first; layer < piece.first + piece.layers; ++layer) {
      const LayerBytes& of_layer = layers.Of(layer);
      const int64_t bytes = of_layer.activations;
      const int64_t index = layer - piece.first;
      const bool recomputed = p.Recomputes(layer);
      again = index % together == 0 ? 0 : again;
      if (recomputed) again += bytes;
      layer_bytes = std::max({layer_bytes, again, of_layer.again});
      temporaries = std::max(temporaries, of_layer.temporaries);
      const int64_t left = !recomputed ? bytes : index % together == 0 ? input : 0;
      of_piece.activations += left;
      of_piece.layer = std::max(of_piece.layer, left);
      of_piece.deferred += of_layer.deferred;
    }
    if (piece.head) head = (1 + p.model.mtp) * HeadBytes(p);
  }
  out.activations = MostKept(passes, kept);
  if (p.training.offload.activations) out.activations = LeftOnDevice(p, layers, out.activations, &out);
  out.working += temporaries + FrameworkBuffers(p, layers, held, pieces.front());
  out.working += layer_bytes;
  out.working += head;
  return out;
}

}  // namespace

std::vector<RankMemory> MemoryOfStages(const StepPlan& p, const std::vector<int64_t>& stages) {
  std::vector<RankMemory> out;
  if (p.tables.any()) {
    for (const int64_t role : stages) out.push_back(MemoryOfTables(p, role));
    return out;
  }
  const LayerTable layers(p);
  for (const int64_t stage : stages) out.push_back(MemoryOf(p, layers, stage));
  return out;
}

std::vector<RankMemory> MemoryOfAll(const StepPlan& p) {
  std::vector<int64_t> stages(static_cast<size_t>(p.split.graphs()));
  std::iota(stages.begin(), stages.end(), 0);
  return MemoryOfStages(p, stages);
}

PeakMemory PeakOf(const StepPlan& p) {
  PeakMemory most;
  const std::vector<RankMemory> stages = MemoryOfAll(p);
  for (size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].total() > most.bytes) most = {stages[s].total(), static_cast<int64_t>(s)};
  }
  return most;
}

RankMemory MemoryOfStage(const StepPlan& p, int64_t stage) { return MemoryOfStages(p, {stage}).front(); }

}  // namespace chakra::generate
