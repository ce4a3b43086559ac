#include "trace/generate/reduce.h"

#include <algorithm>
#include <limits>

#include "trace/generate/operators.h"

namespace chakra::generate {

namespace {

Operator PassesOver(const char* name, int64_t bytes) {
  Operator op;
  op.name = name;
  op.bytes = bytes;
  return op;
}

}  // namespace

int64_t CopiedFrom(const StepPlan& plan) {
  return plan.accumulates_whole() ? plan.gradient_bytes() : plan.element_bytes();
}

int64_t CastBytes(const StepPlan& plan, int64_t elements) {
  return elements * (plan.reduced_bytes() + plan.gradient_bytes());
}

Sharing::Sharing(const StepPlan& plan, StageGraph* graph) : plan_(plan), graph_(graph) {}

int64_t Sharing::FullBucket(bool expert) const {
  return std::max<int64_t>(40'000'000, 1'000'000 * RanksOf(expert));
}

int64_t Sharing::BucketElements(bool expert) const {
  if (plan_.split.zero == 3 || !plan_.split.overlap_grad) return std::numeric_limits<int64_t>::max();
  if (plan_.training.framework == proto::Training::DDP) return (int64_t{25} << 20) / plan_.gradient_bytes();
  return FullBucket(expert);
}

void Sharing::Add(const std::vector<Gradient>& gradients, int64_t micro_batch) {
  for (const Gradient& g : gradients) {
    Bucket& bucket = open_[g.expert ? 1 : 0];
    bucket.elements += g.elements;
    bucket.nodes.push_back(g.node);
    if (bucket.elements >= BucketElements(g.expert)) Close(g.expert, micro_batch);
  }
}

void Sharing::Flush(int64_t micro_batch) {
  Close(false, micro_batch);
  Close(true, micro_batch);
}

uint32_t Sharing::Reduce(bool expert, int64_t elements, const Spot& spot, NodeList at) {
  const bool all = plan_.reduces_to_all();
  const int64_t own = all ? elements : ShareOf(elements, RanksOf(expert));
  if (RanksOf(expert) > 1) {
    if (plan_.split.zero == 3) {  // copies a unit's gradients to contiguous shares, in the reduction's dtype
      const int64_t bytes = elements * (CopiedFrom(plan_) + plan_.reduced_bytes());
      at = {graph_->Compute(PassesOver("chunk_cat", bytes), spot, at)};
    }
    at = {graph_->Collective(all ? CollectiveType::kAllReduce : CollectiveType::kReduceScatter,
                             expert ? GroupKind::kExpertData : GroupKind::kData, Stream::kReduce,
                             elements * plan_.reduced_bytes(), spot, at)};
  }
  if (plan_.split.copies > 1) {
    at = {graph_->Collective(CollectiveType::kAllReduce,
                             expert ? GroupKind::kExpertCopies : GroupKind::kCopies, Stream::kCopies,
                             own * plan_.reduced_bytes(), spot, at)};
  }
  if (plan_.reduced_bytes() < plan_.gradient_bytes()) {  // FSDP2 casts back to the dtype of the weights
    at = {graph_->Compute(PassesOver("float_copy_elementwise_kernel", CastBytes(plan_, own)), spot, at)};
  }
  return at.front();
}

void Sharing::Close(bool expert, int64_t micro_batch) {
  Bucket& bucket = open_[expert ? 1 : 0];
  if (bucket.elements == 0) return;
  const bool last = plan_.IsLast(micro_batch);
  if (RanksOf(expert) * plan_.split.copies == 1) {
    if (last) reduced_.insert(reduced_.end(), bucket.nodes.begin(), bucket.nodes.end());
  } else {
    const Spot spot = {static_cast<int32_t>(micro_batch), -1, "backward",
                       expert ? "expert_gradients" : "gradients"};
    const uint32_t node = Reduce(expert, bucket.elements, spot, bucket.nodes);
    if (last) reduced_.push_back(node);
  }
  bucket.elements = 0;
  bucket.nodes.clear();
}

uint32_t Sharing::GatherOf(bool expert, int64_t elements, const Spot& spot, const NodeList& after) {
  return graph_->Collective(CollectiveType::kAllGather, expert ? GroupKind::kExpertData : GroupKind::kData,
                            Stream::kGather, ShareOf(elements, RanksOf(expert)) * plan_.element_bytes(), spot,
                            after);
}

// Gathered weights are cast after each gather. Other weights are cast once a step, which takes negligible
// time.
uint32_t Sharing::CastOf(int64_t elements, const Spot& spot, uint32_t at) {
  if (plan_.training.casts_eagerly()) {
    const Operators ops(plan_.training);
    if (plan_.training.looks_before_cast) at = graph_->Compute(ops.Greatest(1, elements), spot, {at});
    return graph_->Compute(ops.CastTranspose(1, elements), spot, {at});
  }
  if (plan_.training.dtype == proto::Training::NVFP4) {
    const Operators ops(plan_.training.WithoutTransform());
    return graph_->Compute(ops.CastTranspose(1, elements), spot,
                           {graph_->Compute(ops.Greatest(1, elements), spot, {at})});
  }
  if (plan_.training.looks_before_cast)
    at = graph_->Compute(PassesOver("amax_reduce_kernel", elements * plan_.element_bytes()), spot, {at});
  const char* kernel = plan_.training.block_scales ? "mxfp8_quantize_kernel" : "cast_transpose_kernel";
  return graph_->Compute(PassesOver(kernel, elements * (plan_.element_bytes() + 2)), spot, {at});
}

NodeList Sharing::Gather(const WeightUnit& unit, const Spot& spot, const NodeList& after) {
  NodeList nodes;
  for (const bool expert : {false, true}) {
    const int64_t elements = expert ? unit.expert : unit.dense;
    if (elements == 0 || RanksOf(expert) == 1) continue;
    const uint32_t gathered = GatherOf(expert, elements, spot, after);
    // Copies to the weights of the unit, each of them whole (FSDP2).
    nodes.push_back(graph_->Compute(PassesOver("split_with_sizes_copy", 2 * elements * plan_.element_bytes()),
                                    spot, {gathered}));
    if (plan_.training.narrow() && unit.layer >= 0 && !plan_.InBf16(unit.layer))
      nodes.back() = CastOf(elements, spot, nodes.back());
  }
  return nodes;
}

std::vector<NodeList> Sharing::GatherAll(const std::vector<WeightUnit>& units, const NodeList& after) {
  std::vector<NodeList> of_unit(units.size());
  for (const bool expert : {false, true}) {
    if (RanksOf(expert) == 1) continue;
    const int64_t full = FullBucket(expert);
    int64_t elements = 0;
    size_t first = 0;
    for (size_t i = 0; i < units.size(); ++i) {
      elements += expert ? units[i].expert : units[i].dense;
      if (elements == 0 || (elements < full && i + 1 < units.size())) continue;
      const Spot spot = {-1, units[first].layer, "step", expert ? "expert_weights" : "weights"};
      const uint32_t node = GatherOf(expert, elements, spot, after);
      for (size_t u = first; u <= i; ++u) of_unit[u].push_back(node);
      elements = 0;
      first = i + 1;
    }
  }
  return of_unit;
}

}  // namespace chakra::generate
