// Builds the graph of the ranks of one role of a recommendation model.
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "trace/generate/operators.h"
#include "trace/generate/step.h"
#include "trace/generate/tables_sizes.h"

namespace chakra::generate {
namespace {

// torch/nn/parallel/distributed.py (bucket_cap_mb) and torch/csrc/distributed/c10d/reducer.hpp
// (kDefaultFirstBucketBytes).
constexpr int64_t kBucketBytes = int64_t{25} << 20, kFirstBucketBytes = int64_t{1} << 20;
constexpr int64_t kDenseGradientBytes = 4;
// Bits of a key that one pass of CUB's radix sort handles (cub::DeviceRadixSort, Onesweep's policies).
constexpr int kRadixBits = 8;

class TableStageBuilder {
 public:
  TableStageBuilder(const StepPlan& plan, int64_t role)
      : plan_(plan), m_(plan.tables), s_(plan, role), ops_(plan.training), e_(ops_.element_bytes()) {
    graph_.host = plan.training.host;
    graph_.weights = DenseParameters(m_) + s_.rows() * m_.dim;
  }

  StageGraph Build() {
    spot_ = {0, -1, "forward", ""};
    graph_.HostWorks(graph_.host.batch_ns, spot_);
    const bool ahead = plan_.table_plan.overlap_indices;
    const NodeList indices = s_.exchanges() && !ahead ? ExchangeIndices({}) : NodeList();
    Forward(indices);
    if (s_.exchanges() && ahead) next_indices_ = ExchangeIndices({});
    spot_.phase = "backward";
    Backward();
    FlushBucket();
    End();
    return std::move(graph_);
  }

 private:
  NodeList Run(const Operator& op, const char* part, const NodeList& at) {
    spot_.part = part;
    return {graph_.Compute(op, spot_, at)};
  }
  // A kernel that reads and writes `bytes`.
  NodeList Pass(const char* kernel, int64_t bytes, int64_t operations, const char* part, const NodeList& at) {
    return bytes == 0 ? at : Run(ops_.Stream(kernel, bytes, operations), part, at);
  }
  NodeList Exchange(CollectiveType type, Stream stream, int64_t bytes, const char* part, const NodeList& at) {
    if (bytes == 0 || s_.ranks == 1) return at;
    spot_.part = part;
    return {graph_.Collective(type, GroupKind::kData, stream, bytes, spot_, at)};
  }
  NodeList AllToAll(int64_t sent, int64_t got, const char* part, const NodeList& at) {
    return Exchange(CollectiveType::kAllToAll, Stream::kTables, sent > got ? sent : got, part, at);
  }

  // TorchRec's KJTAllToAll: the host waits for the sizes before it can start the exchange of the data.
  // Indices of tables that are shared by rows are put in the order of ranks first.
  NodeList ExchangeIndices(NodeList at) {
    const int64_t sent = s_.lengths_sent() + s_.indices_sent(), got = s_.lengths_got() + s_.indices_got();
    at = Pass("permute_2d_data_kernel", 2 * sent, 0, "indices", at);
    const NodeList sizes = AllToAll(s_.sizes_sent(), s_.sizes_sent(), "indices.sizes", at);
    graph_.HostWaits(sizes);
    at = AllToAll(s_.lengths_sent(), s_.lengths_got(), "indices.lengths", Join(sizes, at));
    at = AllToAll(s_.indices_sent(), s_.indices_got(), "indices", at);
    return Pass("permute_2d_data_kernel", 2 * got, 0, "indices", at);
  }

  // Reads rows and writes their sums; also reads indices and the offsets of bags (FBGEMM's
  // split_embedding_codegen_forward: 8 bytes each).
  NodeList Lookup(const char* part, int64_t lookups, int64_t bags, int64_t row_bytes, const NodeList& at) {
    return Pass("split_embedding_codegen_forward_unweighted_kernel",
                lookups * (m_.dim * row_bytes + 8) + bags * (8 + m_.dim * e_), lookups * m_.dim, part, at);
  }
  NodeList Lookups(const NodeList& indices) {
    NodeList done =
        Lookup("tables.lookup", s_.own_lookups(), s_.samples * s_.own.tables, s_.row_bytes, indices);
    done = AllToAll(s_.vectors_sent(), s_.vectors_got(), "tables.vectors", done);
    NodeList parts =
        Lookup("rows.lookup", s_.row_lookups(), s_.samples * s_.by_rows.tables, s_.row_bytes, indices);
    parts = Exchange(CollectiveType::kReduceScatter, Stream::kTables, s_.parts(), "rows.vectors", parts);
    const NodeList copied =
        Lookup("copied.lookup", s_.copied_lookups(), s_.own_samples * s_.copied.tables, 4, indices);
    return Join(Join(done, parts), copied);
  }

  // Autocast casts a weight and its bias at each use.
  NodeList CastWeights(int64_t weight, int64_t bias, const char* part, const NodeList& at) {
    if (e_ == 4) return at;
    Operator cast = ops_.Stream("float_copy_elementwise_kernel", (4 + e_) * (weight + bias), 0);
    cast.launches = bias > 0 ? 2 : 1;
    return Run(cast, part, at);
  }
  NodeList Linear(int64_t in, int64_t out, bool bias, const char* part, NodeList at) {
    at = CastWeights(in * out, bias ? out : 0, part, at);
    return Run(ops_.PlainProduct(s_.own_samples, out, in), part, at);
  }
  NodeList Mlp(int64_t in, const std::vector<int64_t>& widths, bool last, const char* part, NodeList at) {
    for (size_t i = 0; i < widths.size(); ++i) {
      at = Linear(in, widths[i], true, part, at);
      in = widths[i];
      if (last || i + 1 < widths.size())
        at = Pass("relu_elementwise_kernel", 2 * e_ * s_.own_samples * in, s_.own_samples * in, part, at);
    }
    return at;
  }

  NodeList Gradient(int64_t elements, const NodeList& node) {
    bucket_ += elements;
    bucket_nodes_.insert(bucket_nodes_.end(), node.begin(), node.end());
    if (bucket_ * kDenseGradientBytes >= (first_ ? kFirstBucketBytes : kBucketBytes)) FlushBucket();
    return node;
  }
  void FlushBucket() {
    if (bucket_ == 0) return;
    first_ = false;
    const int64_t elements = bucket_;
    const NodeList nodes(bucket_nodes_.begin(), bucket_nodes_.end());
    bucket_ = 0;
    bucket_nodes_.clear();
    if (plan_.split.overlap_grad) return Reduce(elements, nodes, "gradients");
    held_back_.emplace_back(elements, nodes);
  }
  void Reduce(int64_t elements, const NodeList& nodes, const char* part) {
    reduced_ = Join(reduced_, Exchange(CollectiveType::kAllReduce, Stream::kReduce,
                                       elements * kDenseGradientBytes, part, nodes));
  }

  // The gradients of a layer's weight and bias, and of its input if that `has` one. `at`: the gradient of the
  // layer's output.
  NodeList LinearBackward(int64_t in, int64_t out, bool has, bool bias, const char* part,
                          const NodeList& at) {
    const NodeList input = has ? Run(ops_.PlainProduct(s_.own_samples, in, out), part, at) : at;
    NodeList weight = Run(ops_.PlainProduct(out, in, s_.own_samples), part, at);
    NodeList sum = bias ? Run(ops_.SumRows(s_.own_samples, out), part, at) : NodeList();
    if (e_ < 4) weight = sum = CastWeights(in * out, bias ? out : 0, part, Join(weight, sum));
    // Buckets are filled with parameters from the last to the first.
    if (bias) Gradient(out, sum);
    Gradient(in * out, weight);
    return input;
  }
  NodeList MlpBackward(int64_t first, const std::vector<int64_t>& widths, bool last, bool has,
                       const char* part, NodeList at) {
    for (size_t i = widths.size(); i-- > 0;) {
      const int64_t in = i > 0 ? widths[i - 1] : first, out = widths[i];
      if (last || i + 1 < widths.size())
        at = Pass("threshold_backward_elementwise_kernel", 3 * e_ * s_.own_samples * out,
                  s_.own_samples * out, part, at);
      at = LinearBackward(in, out, has || i > 0, true, part, at);
    }
    return at;
  }

  // Concatenates all vectors of a sample. Then come the dot products of all pairs, of which those below the
  // diagonal are concatenated with the bottom's vector (facebookresearch/dlrm, interact_features); or the
  // cross layers.
  NodeList Interact(NodeList at) {
    const int64_t b = s_.own_samples, n = m_.vectors();
    at = Pass("catarraybatchedcopy_kernel", 2 * e_ * b * m_.crossed(), 0, "interaction", at);
    if (m_.cross_layers > 0) return Cross(at);
    at = Run(ops_.Product(n, n, m_.dim, b), "interaction", at);
    at = Pass("index_elementwise_kernel", (2 * e_ * b + 16) * m_.pairs(), 0, "interaction", at);
    return Pass("catarraybatchedcopy_kernel", 2 * e_ * b * m_.top_input(), 0, "interaction", at);
  }
  NodeList InteractBackward(NodeList at) {
    const int64_t b = s_.own_samples, n = m_.vectors();
    if (m_.cross_layers > 0) return CrossBackward(at);
    at = Pass("fill_elementwise_kernel", e_ * b * n * n, 0, "interaction", at);
    at = Pass("indexing_backward_kernel", (2 * e_ * b + 16) * m_.pairs(), 0, "interaction", at);
    const NodeList left = Run(ops_.Product(n, m_.dim, n, b), "interaction", at);
    const NodeList right = Run(ops_.Product(n, m_.dim, n, b), "interaction", at);
    return Run(ops_.Add(b * n, m_.dim), "interaction", Join(left, right));
  }
  // Wang et al., "DCN V2", 2021, section 3.2: x + x0 * (W (V x) + b). After the GEMMs come an elementwise
  // multiplication and an addition: two kernels, or one if compiled.
  NodeList Cross(NodeList at) {
    const int64_t in = m_.crossed(), rank = m_.cross_rank, elements = s_.own_samples * in;
    const bool fused = plan_.training.compiled;
    for (int64_t i = 0; i < m_.cross_layers; ++i) {
      at = Linear(in, rank, false, "cross.down", at);
      at = Linear(rank, in, true, "cross.up", at);
      Operator join =
          ops_.Stream("mul_add_elementwise_kernel", (fused ? 4 : 6) * e_ * elements, 2 * elements);
      join.launches = fused ? 1 : 2;
      at = Run(join, "cross", at);
    }
    return at;
  }
  // The gradient times x0 goes to the GEMMs. The gradient times the GEMMs' output goes to x0, which gets one
  // from each layer. The gradient itself goes to the layer's input.
  NodeList CrossBackward(NodeList at) {
    const int64_t in = m_.crossed(), rank = m_.cross_rank, elements = s_.own_samples * in;
    const bool fused = plan_.training.compiled;
    for (int64_t i = 0; i < m_.cross_layers; ++i) {
      Operator split =
          ops_.Stream("mul_backward_elementwise_kernel", (fused ? 6 : 9) * e_ * elements, 3 * elements);
      split.launches = fused ? 1 : 3;
      const NodeList joined = Run(split, "cross", at);
      NodeList low = LinearBackward(rank, in, true, true, "cross.up", joined);
      low = LinearBackward(in, rank, true, false, "cross.down", low);
      at = Run(ops_.Add(s_.own_samples, in), "cross", Join(low, joined));
    }
    return at;
  }

  void Forward(const NodeList& indices) {
    NodeList vectors, bottom;
    if (plan_.table_plan.overlap_vectors) {
      vectors = Lookups(indices);
      bottom = Mlp(m_.dense, m_.bottom, true, "bottom", {});
    } else {
      bottom = Mlp(m_.dense, m_.bottom, true, "bottom", {});
      vectors = Lookups(indices);
    }
    if (s_.exchanges())  // puts vectors from the order of ranks into that of tables
      vectors = Pass("permute_pooled_embs_kernel", 2 * (s_.vectors_got() + s_.own_parts()), 0,
                     "tables.vectors", vectors);
    NodeList at = Interact(Join(bottom, vectors));
    at = Mlp(m_.top_input(), m_.top, false, "top", at);
    const int64_t outputs = s_.own_samples * m_.top.back();
    loss_ = Pass("binary_cross_entropy_elementwise_kernel", 2 * e_ * outputs, 5 * outputs, "loss", at);
  }

  void Backward() {
    const int64_t outputs = s_.own_samples * m_.top.back();
    NodeList at = Pass("binary_cross_entropy_backward_elementwise_kernel", 3 * e_ * outputs, 3 * outputs,
                       "loss", loss_);
    at = MlpBackward(m_.top_input(), m_.top, false, true, "top", at);
    at = InteractBackward(at);
    NodeList vectors = at;
    if (s_.exchanges())
      vectors = Pass("permute_pooled_embs_kernel", 2 * (s_.vectors_got() + s_.own_parts()), 0,
                     "tables.gradients", vectors);
    const NodeList own = AllToAll(s_.vectors_got(), s_.vectors_sent(), "tables.gradients", vectors);
    const NodeList by_rows =
        Exchange(CollectiveType::kAllGather, Stream::kTables, s_.own_parts(), "rows.gradients", vectors);
    CopiedBackward(at);
    // Autograd runs in the reverse order of the forward pass.
    if (plan_.table_plan.overlap_vectors) MlpBackward(m_.dense, m_.bottom, true, false, "bottom", at);
    UpdateRows("tables.update", s_.own_lookups(), s_.own, 1, s_.own_update_bytes(plan_.training), own);
    UpdateRows("rows.update", s_.row_lookups(), s_.by_rows, s_.ranks, s_.row_update_bytes(plan_.training),
               by_rows);
    if (!plan_.table_plan.overlap_vectors) MlpBackward(m_.dense, m_.bottom, true, false, "bottom", at);
    last_ = {static_cast<uint32_t>(graph_.nodes.size() - 1)};
  }

  // The gradients of copied tables, which are accumulated and reduced.
  void CopiedBackward(const NodeList& at) {
    if (s_.copied.tables == 0) return;
    const int64_t elements = s_.copied.rows * m_.dim;
    NodeList done = Pass("fill_elementwise_kernel", 4 * elements, 0, "copied.gradients", at);
    done = Pass("embedding_backward_kernel", (e_ + 8) * s_.copied_lookups() * m_.dim,
                s_.copied_lookups() * m_.dim, "copied.gradients", done);
    copied_ = done;
    if (plan_.split.overlap_grad) Reduce(elements, done, "copied.gradients");
  }

  // FBGEMM's split_embedding_backward_codegen: the indices of all tables become one number each, which are
  // sorted together with the positions of their bags. For each run of equal numbers, the gradient is the sum
  // of the bags' gradients, and updates the row and the row's state.
  void UpdateRows(const char* part, int64_t lookups, const TableSum& tables, int64_t ranks, int64_t bytes,
                  NodeList at) {
    if (lookups == 0) return;
    const int bits = std::bit_width(static_cast<uint64_t>(ShareOf(tables.rows, ranks)));
    const int passes = (bits + kRadixBits - 1) / kRadixBits;
    at = Pass("linearize_index_kernel", (8 + 8 + 4) * lookups, lookups, part, at);
    Operator sort = ops_.Stream("deviceradixsort_kernel", (2 * passes * (8 + 4) + 8) * lookups, 0);
    sort.launches = passes + 1;  // an additional pass counts digits
    at = Run(sort, part, at);
    at = Pass("devicerunlengthencode_kernel", (8 + 8 + 4) * lookups, lookups, part, at);
    updates_ = Join(updates_, Pass("split_embedding_backward_codegen_unweighted_kernel",
                                   bytes + lookups * (m_.dim * e_ + 4), 2 * lookups * m_.dim, part, at));
  }

  void End() {
    spot_ = {-1, -1, "step", ""};
    for (const auto& [elements, nodes] : held_back_) Reduce(elements, Join(nodes, last_), "gradients");
    if (!plan_.split.overlap_grad && !copied_.empty())
      Reduce(s_.copied.rows * m_.dim, Join(copied_, last_), "copied.gradients");
    graph_.HostWorks(graph_.host.step_ns, {-1, -1, "step", "host"});
    const int64_t dense = DenseParameters(m_) + s_.copied.rows * m_.dim;
    NodeList waits = Join(Join(reduced_, updates_), Join(last_, next_indices_));
    // There is no copy to another dtype as in other steps: autocast does it.
    Run(ops_.Update(dense).front(), "update", waits);
  }

  const StepPlan& plan_;
  const TableModel& m_;
  const RoleSizes s_;
  const Operators ops_;
  const int64_t e_;  // bytes of an element of the inputs and outputs of the MLPs
  StageGraph graph_;
  Spot spot_;
  NodeList loss_, last_, next_indices_, reduced_, updates_, copied_;
  bool first_ = true;  // no bucket was closed yet
  int64_t bucket_ = 0;
  std::vector<uint32_t> bucket_nodes_;
  std::vector<std::pair<int64_t, NodeList>> held_back_;  // elements, nodes; without overlap_grad
};

}  // namespace

StageGraph BuildTableStage(const StepPlan& plan, int64_t role) {
  return TableStageBuilder(plan, role).Build();
}

}  // namespace chakra::generate
