#include "trace/generate/optimizer/update.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/generate/hosts.h"
#include "trace/generate/operators.h"

namespace chakra::generate {
namespace {

using proto::Training;

TrainingPlan InDtype(Training::Dtype dtype) {
  TrainingPlan out;
  out.dtype = dtype;
  return out;
}

void Append(UpdateList more, UpdateList* to) {
  to->insert(to->end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

UpdateWork Call(CollectiveType type, GroupKind group, Stream stream, int64_t bytes) {
  UpdateWork out;
  out.collective = true;
  out.type = type;
  out.group = group;
  out.stream = stream;
  out.bytes = bytes;
  return out;
}

class Describer {
 public:
  Describer(const StepPlan& plan, const std::vector<Parameter>& all)
      : plan_(plan),
        t_(plan.training),
        all_(all),
        ops_(plan.training),
        narrow_(InDtype(Training::BF16)),
        wide_(InDtype(Training::FP32)) {}

  StepUpdate Describe() {
    StepUpdate out;
    switch (t_.matrix.sharding) {
      case Training::LAYERWISE:
      case Training::GATHERED:
        own_ = OwnedByLargest(plan_, all_);
        OneByOne(own_, &out);
        break;
      case Training::ALL_TO_ALL:
        InBatches(&out);
        break;
      default:
        OneByOne(all_, &out);
    }
    Rest(&out);
    if (t_.matrix.sharding == Training::GATHERED) Gathered(&out);
    if (t_.owns_weights() && !plan_.split.overlap_param) ShareWeights(&out);
    return out;
  }

 private:
  // `launches`: as in UpdateWork. The first kernel of a matrix has those of all.
  UpdateWork Kernel(const Operators& ops, const char* name, int64_t bytes, int64_t operations,
                    int launches) const {
    UpdateWork out;
    out.op = ops.Stream(name, bytes, operations);
    out.op.launches = 0;
    out.launches = launches;
    return out;
  }

  // `groups` GEMMs.
  UpdateWork Gemm(int64_t m, int64_t n, int64_t k, int64_t groups, int64_t more_bytes = 0) const {
    UpdateWork out;
    out.op = narrow_.Product(m, n, k, groups);
    out.op.bytes += more_bytes;
    out.op.launches = 0;
    return out;
  }
  UpdateWork WideGemm(int64_t m, int64_t n, int64_t k) const {
    UpdateWork out;
    out.op = wide_.Product(m, n, k);
    out.op.name = "soap_tf32_gemm_kernel";
    out.op.launches = 0;
    return out;
  }

  // The steps for X of `gram` rows, of which A = X X^T, and `wide` columns: B = b A + c A A, X = a X + B X.
  // `reduced`: ranks that have parts of the columns; null: none.
  UpdateList NewtonSchulz(int64_t gram, int64_t wide, int64_t groups, const UpdateWork* reduced) const {
    UpdateList out;
    for (int64_t i = 0; i < t_.matrix.steps; ++i) {
      out.push_back(Gemm(gram, gram, wide, groups));
      if (reduced != nullptr) {
        out.push_back(*reduced);
        out.back().bytes = 2 * groups * gram * gram;
      }
      if (t_.matrix.coefficients == 3)
        out.push_back(Gemm(gram, gram, gram, groups, 2 * groups * gram * gram));
      out.push_back(Gemm(gram, wide, gram, groups, 2 * groups * gram * wide));
    }
    return out;
  }

  // Of the second moment after the steps: bytes of an element that its kernels move, and their number.
  std::pair<int64_t, int> Moment() const {
    // the square, its mean, the product with the row's factor; two more kernels of a row
    if (t_.matrix.moment == Training::ROWS) return {8 + 4 + 12, 6};
    // the square, the average, the root, the sum with epsilon, the quotient
    if (t_.matrix.moment == Training::ELEMENTS) return {8 + 12 + 8 + 8 + 12, 5};
    return {0, 0};
  }

  // A matrix of this rank, or its part of one that ranks of tp share.
  UpdateList Muon(const WeightMatrix& matrix, bool expert, bool fused) const {
    const int64_t ranks = expert ? plan_.split.etp : plan_.split.tp;
    const auto tp = ranks > 1 && matrix.cut != WeightMatrix::kWhole ? t_.matrix.tp : Training::BLOCKWISE;
    const GroupKind group = expert ? GroupKind::kExpertTensor : GroupKind::kTensor;
    const int64_t part = matrix.rows * matrix.columns;
    const int64_t all = tp == Training::DUPLICATED ? ranks * part : part;
    int64_t rows = matrix.rows, columns = matrix.columns;
    if (tp == Training::DUPLICATED) (matrix.cut == WeightMatrix::kRows ? rows : columns) *= ranks;
    int64_t gram = std::min(rows, columns), wide = std::max(rows, columns);
    UpdateWork reduced = Call(CollectiveType::kAllReduce, group, Stream::kTensor, 4);
    if (tp == Training::DISTRIBUTED) {  // the dimension that is not cut, however large it is
      gram = matrix.cut == WeightMatrix::kRows ? columns : rows;
      wide = part / gram;
    }
    const auto [moment_bytes, moment_kernels] = Moment();
    // Decay, momentum, perhaps Nesterov's; copies of queries, keys and values from one weight.
    const int64_t first = 8 + 12 + (t_.matrix.nesterov ? 12 : 0) + (fused ? 8 : 0);
    // The norm, the quotient, the cast to bf16.
    const int64_t normal = 4 + 8 + 6;
    const int kernels = 2 + (t_.matrix.nesterov ? 1 : 0) + (fused ? 2 : 0) + 4 +
                        static_cast<int>(t_.matrix.steps * t_.matrix.coefficients) + 4 + moment_kernels;
    UpdateList out = {Kernel(ops_, "muon_momentum_elementwise_kernel",
                             first * part + (tp == Training::BLOCKWISE ? normal * part : 0), 6 * part,
                             kernels)};
    if (tp == Training::DUPLICATED) {
      out.push_back(Call(CollectiveType::kAllGather, group, Stream::kTensor, 4 * part));
      out.push_back(Kernel(ops_, "muon_normalize_elementwise_kernel", (8 + normal) * all, 3 * all, 0));
    } else if (tp == Training::DISTRIBUTED) {
      out.push_back(reduced);
      out.push_back(Kernel(ops_, "muon_normalize_elementwise_kernel", normal * part, 3 * part, 0));
    }
    Append(NewtonSchulz(gram, wide, 1, tp == Training::DISTRIBUTED ? &reduced : nullptr), &out);
    // The cast to fp32, two factors, the sum with the weight; the copy into one weight.
    out.push_back(Kernel(ops_, "muon_update_elementwise_kernel",
                         (6 + 16) * all + (12 + moment_bytes + (fused ? 8 : 0)) * part, 4 * part, 0));
    return out;
  }

  // Into the bases and back, with Adam's kernels between; then both factors, with their averages.
  UpdateList Soap(const WeightMatrix& m) const {
    const int64_t rows = m.rows, columns = m.columns, elements = rows * columns;
    const int64_t factors = rows * rows + columns * columns;
    UpdateList out = {Kernel(ops_, "soap_decay_elementwise_kernel", 8 * elements, elements, 22),
                      WideGemm(rows, columns, rows), WideGemm(rows, columns, columns)};
    // Averages (a lerp, a square, a lerp), the root, the sum with epsilon, the quotient, two corrections.
    out.push_back(Kernel(ops_, "soap_adam_elementwise_kernel", (12 + 8 + 12 + 8 + 8 + 12 + 16) * elements,
                         10 * elements, 0));
    out.push_back(WideGemm(rows, columns, rows));
    out.push_back(WideGemm(rows, columns, columns));
    out.push_back(Kernel(ops_, "soap_update_elementwise_kernel", 12 * elements, elements, 0));
    out.push_back(WideGemm(rows, rows, columns));
    out.push_back(WideGemm(columns, columns, rows));
    out.push_back(Kernel(ops_, "soap_factors_elementwise_kernel", 12 * factors, factors, 0));
    return out;
  }

  void OneByOne(const std::vector<Parameter>& parameters, StepUpdate* out) const {
    for (const Parameter& p : parameters) {
      for (const WeightMatrix& m : p.matrices) {
        MatrixUpdate update;
        update.times = p.count;
        update.start = t_.optimizer == Training::SOAP ? Soap(m) : Muon(m, p.expert, p.matrices.size() > 1);
        out->matrices.push_back(std::move(update));
      }
    }
  }

  // Matrices of one shape, as many at once as ranks share weights. The last ones may be fewer, and take as
  // long. Experts that no rank has a part of need no exchange.
  void InBatches(StepUpdate* out) const {
    std::vector<Parameter> shapes;
    for (const Parameter& p : all_) {
      if (p.matrices.empty()) continue;
      const auto same = std::find_if(shapes.begin(), shapes.end(), [&](const Parameter& s) {
        return s.expert == p.expert && s.matrices == p.matrices;
      });
      if (same != shapes.end()) {
        same->count += p.count;
      } else {
        shapes.push_back(p);
      }
    }
    for (const Parameter& p : shapes) out->matrices.push_back(Batch(p));
  }

  MatrixUpdate Batch(const Parameter& p) const {
    const WeightMatrix& m = p.matrices.front();
    const int64_t ranks = plan_.split.holders(p.expert);
    const bool alone = m.count % ranks == 0;
    const int64_t groups = alone ? m.count / ranks : m.count;
    // Elements of one whole matrix, or of a share of as many matrices as there are ranks.
    const int64_t elements = alone ? groups * m.rows * m.columns : ranks * ShareOf(p.elements, ranks);
    const int64_t gram = std::min(m.rows, m.columns), wide = std::max(m.rows, m.columns);
    const auto [moment_bytes, moment_kernels] = Moment();
    const int kernels = 6 + static_cast<int>(t_.matrix.steps * t_.matrix.coefficients) + moment_kernels;
    MatrixUpdate out;
    out.times = alone ? p.count : ShareOf(p.count, ranks);
    // Compiled: momentum, and the cast to bf16.
    out.start = {
        Kernel(ops_, "muon_momentum_elementwise_kernel", (4 + 8 + 2) * elements, 4 * elements, kernels)};
    UpdateList steps = {
        Kernel(ops_, "muon_normalize_elementwise_kernel", (alone ? 6 : 6 + 4) * elements, 3 * elements, 0)};
    Append(NewtonSchulz(gram, wide, groups, nullptr), &steps);
    const UpdateWork update =
        Kernel(ops_, "muon_update_elementwise_kernel", (8 + 2 + moment_bytes) * elements, 4 * elements, 0);
    if (alone) {
      Append(std::move(steps), &out.start);
      out.start.push_back(update);
      return out;
    }
    const UpdateWork exchange =
        Call(CollectiveType::kAllToAll, p.expert ? GroupKind::kExpertData : GroupKind::kData, Stream::kGather,
             2 * elements);
    out.start.push_back(exchange);
    out.middle = std::move(steps);
    out.middle.push_back(Kernel(ops_, "split_copy_elementwise_kernel", 4 * elements, 0, 0));
    out.middle.push_back(exchange);
    out.end = {update};
    return out;
  }

  // AdamW for the other weights, and the copy of all updated weights to the dtype of GEMMs.
  void Rest(StepUpdate* out) const {
    int64_t vectors[2] = {0, 0};
    const bool owns = t_.owns_weights();
    for (const Parameter& p : owns ? own_ : all_) {
      if (p.matrices.empty()) vectors[p.expert ? 1 : 0] += p.count * p.elements;
    }
    if (!owns && plan_.split.zero > 0) {
      for (const bool expert : {false, true})
        vectors[expert ? 1 : 0] = ShareOf(vectors[expert ? 1 : 0], plan_.split.holders(expert));
    }
    const int64_t elements = vectors[0] + vectors[1];
    UpdateWork work;
    if (elements > 0) {
      work.op = ops_.Update(elements).front();
      out->after.push_back(work);
    }
    if (plan_.element_bytes() == 4) return;
    work.op = ops_.Stream(
        "multi_tensor_apply_kernel_copy",
        (4 + plan_.element_bytes()) * (owns ? ElementsOf(own_) : UpdatedElements(plan_, all_)), 0);
    out->after.push_back(work);
  }

  // DeepSpeed. With zero=3 all matrices are gathered at once: the momentum and the gradients before, updates
  // and momentum after. Each rank then applies its share of the updates.
  void Gathered(StepUpdate* out) const {
    int64_t shared = 0;
    for (const bool expert : {false, true}) {
      int64_t elements = 0;
      for (const Parameter& p : all_)
        elements += p.expert == expert && !p.matrices.empty() ? p.count * p.elements : 0;
      if (elements == 0) continue;
      const int64_t ranks = plan_.split.holders(expert), share = ShareOf(elements, ranks);
      shared += share;
      if (plan_.split.zero < 3 || ranks == 1) continue;
      const GroupKind group = expert ? GroupKind::kExpertData : GroupKind::kData;
      const auto gather = [&](int64_t bytes) {
        return Call(CollectiveType::kAllGather, group, Stream::kGather, bytes * share);
      };
      out->before.push_back(gather(4));
      out->before.push_back(gather(plan_.reduced_bytes()));
      out->after.insert(out->after.begin(), {gather(plan_.reduced_bytes()), gather(4)});
    }
    out->after.push_back(Kernel(ops_, "muon_update_elementwise_kernel", (8 + 12) * shared, 2 * shared, 2));
  }

  // Weights of unequal sizes are gathered at once, dense ones and those of experts: each rank's are copied
  // into one tensor, and the others' from their tensors. PyTorch's gather of unequal sizes is a group of
  // broadcasts; each rank gets as many bytes as from a gather of equal shares, which stands for it.
  void ShareWeights(StepUpdate* out) const {
    for (const bool expert : {false, true}) {
      const int64_t ranks = plan_.split.holders(expert), size = plan_.element_bytes();
      int64_t elements = 0, weights = 0;
      for (const Parameter& p : all_) {
        if (p.expert != expert) continue;
        elements += p.count * p.elements;
        weights += p.count;
      }
      if (elements == 0 || ranks == 1) continue;
      const int64_t share = ShareOf(elements, ranks);
      out->after.push_back(Kernel(ops_, "catarraybatchedcopy_kernel", 2 * size * share, 0, 1));
      out->after.push_back(Call(CollectiveType::kAllGather,
                                expert ? GroupKind::kExpertData : GroupKind::kData, Stream::kGather,
                                size * share));
      out->after.push_back(Kernel(ops_, "float_copy_elementwise_kernel", 2 * size * (elements - share), 0,
                                  static_cast<int>(std::min<int64_t>(weights, 1 << 20))));
    }
  }

  const StepPlan& plan_;
  const TrainingPlan& t_;
  const std::vector<Parameter>& all_;
  std::vector<Parameter> own_;  // OwnedByLargest(), where ranks own weights or matrices
  const Operators ops_, narrow_, wide_;
};

// Adds one kind of work after the other.
class Adder {
 public:
  Adder(NodeList at, StageGraph* graph) : at_(std::move(at)), graph_(graph) {}

  NodeList Add(const UpdateList& list, NodeList at) {
    for (const UpdateWork& work : list) {
      if (work.launches > 0) graph_->HostWorks(work.launches * LoopKernelNs(graph_->host), kSpot);
      at = {work.collective ? graph_->Collective(work.type, work.group, work.stream, work.bytes, kSpot, at)
                            : graph_->Compute(work.op, kSpot, at)};
    }
    return at;
  }

  NodeList Add(const StepUpdate& update) {
    at_ = Add(update.before, at_);
    for (const MatrixUpdate& m : update.matrices) {
      for (int64_t i = 0; i < m.times; ++i) {
        if (m.middle.empty()) {
          at_ = Add(m.start, at_);
        } else {
          Next(m);
        }
      }
    }
    while (!started_.empty() || !exchanged_.empty()) Advance();
    return Add(update.after, at_);
  }

 private:
  static constexpr Spot kSpot = {-1, -1, "step", "update"};
  struct Task {
    const MatrixUpdate* of;
    NodeList at;
  };

  // Starts a task, goes on with the one before it, and ends the one before that.
  void Next(const MatrixUpdate& m) {
    const Task task = {&m, Add(m.start, at_)};
    Advance();
    started_.push_back(task);
  }
  void Advance() {
    std::vector<Task> ended = std::exchange(exchanged_, {});
    for (const Task& task : std::exchange(started_, {}))
      exchanged_.push_back({task.of, Add(task.of->middle, task.at)});
    for (const Task& task : ended) at_ = Add(task.of->end, Join(at_, task.at));
  }

  NodeList at_;
  StageGraph* graph_;
  std::vector<Task> started_, exchanged_;
};

}  // namespace

StepUpdate DescribeUpdate(const StepPlan& plan, const std::vector<Parameter>& all) {
  return Describer(plan, all).Describe();
}

NodeList AddUpdate(const StepUpdate& update, NodeList at, StageGraph* graph) {
  return Adder(std::move(at), graph).Add(update);
}

}  // namespace chakra::generate
