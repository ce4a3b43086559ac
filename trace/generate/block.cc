#include "trace/generate/block.h"

#include <algorithm>
#include <utility>

namespace chakra::generate {

BlockWriter::BlockWriter(const StepPlan& plan, Block* block)
    : plan_(plan),
      block_(block),
      ops_(plan.training),
      tokens_(plan.tokens()),
      shared_(plan.shared_tokens()),
      size_(plan.element_bytes()) {}

int32_t BlockWriter::Add(Operation op) {
  op.from = current_;
  const int32_t index = next();
  if (op.out_bytes > 0) current_ = index;
  block_->operations.push_back(std::move(op));
  return index;
}

int32_t BlockWriter::Norm(const char* part, int64_t rows, int64_t width, int64_t weights) {
  Operation op;
  op.act = Act::kNorm;
  op.part = part;
  op.rows = rows;
  op.in = op.out = width;
  op.weights = weights;
  op.replicated = true;
  op.keeps_input = true;
  op.out_bytes = size_ * rows * width;
  return Add(std::move(op));
}

int32_t BlockWriter::HiddenNorm(const char* part) {
  return Norm(part, shared_, model().hidden, model().NormWeights(model().hidden));
}

void BlockWriter::SublayerNorm(const char* part) {
  if (model().pre_norm) norm_ = HiddenNorm(part);
}

void BlockWriter::MlpNorm() {
  if (model().mlp_norm()) {
    norm_ = HiddenNorm("mlp.norm");
  } else if (norm_ >= 0) {
    current_ = norm_;
  }
}

void BlockWriter::RecomputeNorm(int32_t before) {
  if (norm_ >= 0) Recompute(kLayerNorms, norm_, norm_ + 1, before, false);
}

bool BlockWriter::KeepsInput(const char* adapter) const {
  const TrainingPlan& t = training();
  return !t.frozen() || (*adapter != 0 && !t.lora_dropout);
}

std::optional<proto::Training::Dtype> BlockWriter::KeepsCast(const char* part, const char* adapter) const {
  if (*adapter != 0) return {};  // the adapter's GEMM needs the input itself
  const auto dtype = training().DtypeOf(spec().bf16, part);
  if (!training().keeps_cast(dtype)) return {};
  return dtype;
}

int32_t BlockWriter::Product(Act act, const char* part, int64_t in, int64_t out, const char* adapter) {
  Operation op;
  op.act = act;
  op.part = part;
  op.adapter = training().frozen() ? adapter : "";
  op.in = in;
  op.out = out;
  op.weights = in * out;
  op.matrices = {{out, in, 1,
                  act == Act::kWhole ? WeightMatrix::kWhole
                  : act == Act::kRow ? WeightMatrix::kColumns
                                     : WeightMatrix::kRows}};
  op.replicated = act == Act::kWhole;
  op.products = static_cast<double>(op.weights);
  op.keeps_input = KeepsInput(op.adapter);
  op.keeps_cast = KeepsCast(part, op.adapter);
  const bool shared = act == Act::kRow || act == Act::kWhole;
  op.out_bytes = op.gradient_bytes = size_ * (shared ? shared_ : tokens_) * out;
  return Add(std::move(op));
}

void BlockWriter::Fuses(int32_t operation, std::initializer_list<int64_t> outputs, Fused fused) {
  Operation& op = at(operation);
  const WeightMatrix whole = op.matrices.front();
  op.matrices.clear();
  for (const int64_t rows : outputs) {
    if (rows > 0) op.matrices.push_back({rows, whole.columns, whole.count, whole.cut});
  }
  op.fused = fused;
  // Frameworks that fuse no projections run a GEMM for each.
  op.separate = !training().fused_projections && op.act != Act::kExpertProduct && op.matrices.size() > 1;
}

int32_t BlockWriter::Bias(const char* part, int64_t rows, int64_t width) {
  Operation op;
  op.act = Act::kBias;
  op.part = part;
  op.rows = rows;
  op.in = op.out = op.weights = width;
  return Add(std::move(op));
}

int32_t BlockWriter::Gather(const char* part, int64_t width, bool learns) {
  Operation op;
  op.act = Act::kGather;
  op.part = part;
  op.in = op.out = width;
  op.back = !learns;
  return Add(std::move(op));
}

void BlockWriter::Exchange(const char* part, int64_t width) {
  if (split().cp == 1) return;
  Operation op;
  op.act = Act::kExchange;
  op.part = part;
  op.in = op.out = width;
  Add(std::move(op));
}

int32_t BlockWriter::Kernels(const char* part, std::vector<Operator> forward, std::vector<Operator> backward,
                             int64_t out_bytes) {
  Operation op;
  op.act = Act::kKernels;
  op.part = part;
  op.forward = std::move(forward);
  op.backward = std::move(backward);
  op.out_bytes = out_bytes;
  return Add(std::move(op));
}

void BlockWriter::Begin(const char* add, const char* post_norm) {
  Sublayer sublayer;
  sublayer.begin = next();
  sublayer.add = add;
  sublayer.post_norm = post_norm;
  if (model().post_norm && *add != 0) sublayer.post_weights = model().NormWeights(model().hidden);
  current_ = ~static_cast<int32_t>(block_->sublayers.size());
  block_->sublayers.push_back(sublayer);
}

void BlockWriter::End(int64_t widest) {
  block_->sublayers.back().end = next();
  block_->sublayers.back().widest = widest;
}

namespace {

// Marks the outputs that PyTorch's checkpointing by operator keeps (torchtitan, distributed/
// activation_checkpoint.py: _apply_op_sac): those of attention, of exchanges of experts and of GEMMs. With
// recompute_gemms, the policy counts the GEMMs of a layer and recomputes every second one; it does not count
// the router's, and grouped GEMMs and those of fp8 are not among its operators.
void MarkSaved(const TrainingPlan& t, Block* block) {
  const bool second = t.recomputes_gemms;
  int64_t gemms = 0;
  for (Operation& op : block->operations) {
    if (op.act == Act::kCore || op.act == Act::kDispatch || op.act == Act::kExchange) op.saved = 1;
    if (op.act == Act::kExpertProduct) op.saved = second ? 0 : 1;
    for (size_t i = 0; IsDenseGemm(op.act) && i < op.gemms(); ++i)
      if (!second || (gemms++ % 2 == 0 && !t.narrow())) op.saved |= static_cast<uint8_t>(1U << i);
  }
}

}  // namespace

Block DescribeLayer(const StepPlan& plan, const LayerSpec& spec) {
  Block block;
  block.spec = spec;
  block.operations.reserve(32);
  BlockWriter writer(plan, &block);
  for (const char kind : {spec.mixer, spec.mlp}) {
    if (kind != kNoSublayer) DescribeSublayer(kind, &writer);
  }
  if (plan.training.recomputes_operators()) MarkSaved(plan.training, &block);
  block.needed = writer.next();
  if (block.operations.back().act == Act::kRow && !plan.model.post_norm) --block.needed;
  return block;
}

WeightShare ShareOf(const Block& block) {
  WeightShare out;
  for (const Operation& op : block.operations) {
    (op.expert ? out.expert : out.dense) += op.weights;
    if (op.replicated) out.replicated += op.weights;
  }
  for (const Sublayer& s : block.sublayers) {
    out.dense += s.post_weights;
    out.replicated += s.post_weights;
  }
  return out;
}

Block DescribeFurther(const StepPlan& plan) {
  Block block;
  BlockWriter writer(plan, &block);
  const int64_t h = plan.model.hidden;
  writer.Begin("", "");
  writer.HiddenNorm("further.embedding_norm");
  writer.at(0).out_bytes *= 2;  // the GEMM's input has the outputs of both norms
  writer.HiddenNorm("further.norm");
  writer.at(1).keeps_input = false;
  writer.at(1).own_bytes = std::exchange(writer.at(1).out_bytes, 0);  // the output of the layer before
  writer.From(0);
  writer.Column("further.projection", 2 * h, h / plan.split.tp);
  // the norm before the head, which the layer shares with no other
  block.operations.front().weights += plan.model.NormWeights(h);
  writer.End(0);
  return block;
}

StepPlan WholeModel(const ModelSize& model, int64_t seq) {
  StepPlan plan;
  plan.model = model;
  plan.training.seq = std::max<int64_t>(1, seq);
  plan.training.micro_batch = 0;  // counts are those of one token
  return plan;
}

Blocks::Blocks(const StepPlan& plan)
    : of_layer_(static_cast<size_t>(plan.model.layers + (plan.model.mtp > 0 ? 1 : 0))) {
  for (int64_t i = 0; i < static_cast<int64_t>(of_layer_.size()); ++i) {
    LayerSpec spec = plan.model.SpecOf(i);
    spec.bf16 = plan.InBf16(i);
    size_t kind = 0;
    while (kind < blocks_.size() && !(blocks_[kind].spec == spec)) ++kind;
    if (kind == blocks_.size()) blocks_.push_back(DescribeLayer(plan, spec));
    of_layer_[static_cast<size_t>(i)] = static_cast<uint16_t>(kind);
  }
}

}  // namespace chakra::generate
