#include "trace/generate/optimizer/parameters.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/generate/pieces.h"
#include "trace/generate/weights.h"

namespace chakra::generate {
namespace {

using proto::Training;

// Whether weights are those of Megatron-LM. DeepSpeed's models are HuggingFace's.
bool IsMegatron(const StepPlan& p) {
  return p.training.framework == Training::MEGATRON && p.training.matrix.sharding != Training::GATHERED;
}

WeightMatrix Joined(const Operation& op) {
  WeightMatrix out = op.matrices.front();
  for (size_t i = 1; i < op.matrices.size(); ++i) out.rows += op.matrices[i].rows;
  return out;
}

class Collector {
 public:
  explicit Collector(const StepPlan& plan) : plan_(plan) {}

  void Vector(int64_t elements, int64_t count = 1) {
    if (elements > 0) out_.push_back({elements, count, false, {}});
  }
  // The weights of `copies` equal blocks.
  void Of(const Block& block, int64_t copies) {
    for (const Operation& op : block.operations) Of(op, copies);
    for (const Sublayer& s : block.sublayers) Vector(s.post_weights, copies);
  }
  std::vector<Parameter> Take() { return std::move(out_); }

 private:
  void Add(std::vector<WeightMatrix> matrices, bool expert, int64_t copies) {
    // FSDP shares the matrices of all experts as one weight.
    const bool stacked = expert && plan_.training.framework == Training::FSDP;
    const int64_t each = matrices.front().count;
    Parameter parameter = {0, stacked ? copies : copies * each, expert, std::move(matrices)};
    for (WeightMatrix& m : parameter.matrices) {
      if (!stacked) m.count = 1;
      parameter.elements += m.count * m.rows * m.columns;
    }
    out_.push_back(std::move(parameter));
  }

  void Of(const Operation& op, int64_t copies) {
    int64_t rest = op.weights;
    for (const WeightMatrix& m : op.matrices) rest -= m.count * m.rows * m.columns;
    if (rest > 0) out_.push_back({rest, copies, op.expert, {}});
    if (op.matrices.empty()) return;
    if (IsMegatron(plan_) && op.fused != Fused::kApart) {
      const bool splits = plan_.training.optimizer == Training::MUON && plan_.training.matrix.split_qkv;
      if (op.fused == Fused::kQueries && splits) {
        Add({op.matrices.begin(), op.matrices.end()}, op.expert, copies);
      } else {
        Add({Joined(op)}, op.expert, copies);
      }
      return;
    }
    for (const WeightMatrix& m : op.matrices) Add({m}, op.expert, copies);
  }

  const StepPlan& plan_;
  std::vector<Parameter> out_;
};

double Work(const TrainingPlan& training, const Parameter& parameter) {
  double sum = 0;
  for (const WeightMatrix& m : parameter.matrices)
    sum += static_cast<double>(m.count) * MatrixOperations(training, m);
  return sum;
}

// How many of each parameter a rank has, by the parameter's index.
using Owned = std::map<size_t, int64_t>;

// The owner of item `i` of a list that goes to `ranks` ranks forward and backward.
int64_t PingPong(int64_t i, int64_t ranks) {
  const int64_t at = i % (2 * ranks);
  return at < ranks ? at : 2 * ranks - 1 - at;
}

// The parts of all owners. Ranks that have nothing are left out; there are at most as many others as weights.
class Owners {
 public:
  Owners(const std::vector<Parameter>& all, bool expert, int64_t ranks)
      : all_(all), expert_(expert), ranks_(ranks) {}

  // All weights, in turn, from the smallest.
  void TakeTurns() {
    std::vector<size_t> order;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].expert == expert_) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return all_[a].elements < all_[b].elements; });
    int64_t at = 0;
    for (const size_t i : order) {
      const int64_t rounds = all_[i].count / (2 * ranks_), rest = all_[i].count % (2 * ranks_);
      if (rounds > 0) everyone_[i] = 2 * rounds;
      for (int64_t k = 0; k < rest; ++k) ++of_rank_[PingPong(at + k, ranks_)][i];
      at = (at + rest) % (2 * ranks_);
    }
  }
  // Weights with matrices, each to the ranks whose equal shares of all their elements it meets.
  void TakeShares() {
    int64_t total = 0;
    ForMatrices([&](size_t i) { total += all_[i].elements; });
    const int64_t share = std::max<int64_t>(1, ShareOf(total, ranks_));
    int64_t at = 0;
    ForMatrices([&](size_t i) {
      const int64_t last = (at + all_[i].elements - 1) / share;
      for (int64_t rank = at / share; rank <= last; ++rank) ++of_rank_[rank][i];
      at += all_[i].elements;
    });
  }
  // Weights with matrices in turn, in the order of the model.
  void TakeRounds() {
    int64_t at = 0;
    ForMatrices([&](size_t i) { ++of_rank_[at++ % ranks_][i]; });
  }

  // The part of the rank for which the sum of `of` is largest; of equal ones the first rank.
  template <typename Function>
  Owned Largest(Function of) const {
    Owned best;
    double most = -1;
    for (const auto& [rank, owned] : of_rank_) {
      double sum = 0;
      for (const auto& [i, count] : owned) sum += static_cast<double>(count) * of(all_[i]);
      if (sum > most) best = owned;
      most = std::max(most, sum);
    }
    for (const auto& [i, count] : everyone_) best[i] += count;
    return best;
  }

 private:
  template <typename Function>
  void ForMatrices(Function use) const {
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_[i].expert != expert_ || all_[i].matrices.empty()) continue;
      for (int64_t k = 0; k < all_[i].count; ++k) use(i);
    }
  }

  const std::vector<Parameter>& all_;
  const bool expert_;
  const int64_t ranks_;
  Owned everyone_;
  std::map<int64_t, Owned> of_rank_;
};

// The part of the rank with the largest sum of `of`, of dense weights and of experts.
template <typename Function>
std::vector<Parameter> LargestPart(const StepPlan& plan, const std::vector<Parameter>& all, Function of) {
  std::vector<Parameter> out;
  for (const bool expert : {false, true}) {
    Owners owners(all, expert, plan.split.holders(expert));
    if (plan.training.owns_weights()) {
      owners.TakeTurns();
    } else if (plan.split.zero < 3) {
      owners.TakeShares();
    } else {
      owners.TakeRounds();
    }
    for (const auto& [i, count] : owners.Largest(of)) {
      out.push_back(all[i]);
      out.back().count = count;
    }
  }
  return out;
}

}  // namespace

std::vector<Parameter> ParametersOf(const StepPlan& plan, int64_t stage) {
  const Blocks blocks(plan);
  Collector out(plan);
  std::vector<int64_t> copies(blocks.kinds().size());
  int64_t further = 0;
  for (int64_t i = 0; i < plan.split.stage_pieces(); ++i) {
    const Piece& piece = plan.pieces[static_cast<size_t>(PieceOf(plan.split, stage, i))];
    if (piece.embedding) out.Vector(ShareOfEmbedding(plan));
    for (int64_t layer = piece.first; layer < piece.first + piece.layers; ++layer) {
      ++copies[blocks.KindOf(layer)];
      if (layer >= plan.model.layers) ++further;
      if (layer == plan.model.layers && plan.copies_embedding()) out.Vector(CopyOfEmbedding(plan));
    }
    if (!piece.head) continue;
    const int64_t head = plan.model.tied && plan.split.ends_together()
                             ? 0
                             : plan.padded_outputs() / plan.split.tp * plan.model.hidden;
    out.Vector(head);
    out.Vector(ShareOfHead(plan) - head);
  }
  for (size_t kind = 0; kind < copies.size(); ++kind) {
    if (copies[kind] > 0) out.Of(blocks.kinds()[kind], copies[kind]);
  }
  if (further > 0) out.Of(DescribeFurther(plan), further);
  return out.Take();
}

int64_t StateBytes(const TrainingPlan& training, const Parameter& parameter) {
  if (parameter.matrices.empty()) return 8 * parameter.elements;
  const bool soap = training.optimizer == Training::SOAP;
  int64_t bytes = (soap || training.matrix.moment == Training::ELEMENTS ? 8 : 4) * parameter.elements;
  for (const WeightMatrix& m : parameter.matrices) {
    if (soap) bytes += 8 * m.count * (m.rows * m.rows + m.columns * m.columns);
    if (!soap && training.matrix.moment == Training::ROWS) bytes += 4 * m.count * std::max(m.rows, m.columns);
  }
  return bytes;
}

std::vector<Parameter> OwnedByLargest(const StepPlan& plan, const std::vector<Parameter>& all) {
  // Of ranks with equal matrices, the one with more vectors.
  return LargestPart(plan, all, [&](const Parameter& p) {
    return Work(plan.training, p) + static_cast<double>(p.elements);
  });
}

int64_t ElementsOf(const std::vector<Parameter>& parameters) {
  int64_t sum = 0;
  for (const Parameter& p : parameters) sum += p.count * p.elements;
  return sum;
}

int64_t UpdatedElements(const StepPlan& plan, const std::vector<Parameter>& all) {
  if (plan.training.owns_weights()) return ElementsOf(OwnedByLargest(plan, all));
  int64_t sum[2] = {0, 0};
  for (const Parameter& p : all) sum[p.expert ? 1 : 0] += p.count * p.elements;
  if (plan.split.zero == 0) return sum[0] + sum[1];
  return ShareOf(sum[0], plan.split.holders(false)) + ShareOf(sum[1], plan.split.holders(true));
}

int64_t MostOptimizerBytes(const StepPlan& plan, const std::vector<Parameter>& all, int64_t master) {
  const auto bytes = [&](const Parameter& p) { return StateBytes(plan.training, p) + master * p.elements; };
  int64_t sum[2] = {0, 0};
  if (plan.training.owns_weights()) {
    for (const Parameter& p : LargestPart(plan, all, bytes)) sum[0] += p.count * bytes(p);
    return sum[0];
  }
  for (const Parameter& p : all) sum[p.expert ? 1 : 0] += p.count * bytes(p);
  if (plan.split.zero == 0) return sum[0] + sum[1];
  return ShareOf(sum[0], plan.split.holders(false)) + ShareOf(sum[1], plan.split.holders(true));
}

}  // namespace chakra::generate
