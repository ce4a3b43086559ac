#include "replay/plan/unit.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "trace/base/status_macros.h"
#include "trace/generate/layers.h"
#include "trace/generate/layout.h"

namespace chakra::planning {
namespace {

using generate::Gradient;
using generate::NodeList;
using generate::StageGraph;
using generate::StepNode;
using generate::StepPlan;

constexpr int kRepeats = 3;  // copies of a layer; the last copy shows the steady time of many layers

// Runs the nodes of a graph on one of many ranks that all do the same at the same time.
class Walk {
 public:
  Walk(const StepPlan& step, const StageGraph& graph, Prices* prices)
      : step_(step), graph_(graph), prices_(prices), end_(graph.nodes.size()), takes_(graph.nodes.size()) {}

  absl::Status Run() {
    ASSIGN_OR_RETURN(auto times, prices_->OfOperators(graph_.operators));
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const StepNode& n = graph_.nodes[i];
      double& free = free_[static_cast<size_t>(n.stream)];
      double at = free;
      for (uint32_t d = n.dep_begin; d < n.dep_end; ++d) at = std::max(at, end_[graph_.deps[d]]);
      ASSIGN_OR_RETURN(const double end, EndOf(n, at, times));
      end_[i] = free = end;
      takes_[i] = end - at;
      last_ = std::max(last_, end);
      if (n.type == NodeType::kComp)
        computed_.push_back(end);
      else
        computed_.push_back(computed_.empty() ? 0 : computed_.back());
    }
    return absl::OkStatus();
  }

  double Ready(const NodeList& nodes) const {
    double at = 0;
    for (const uint32_t n : nodes) at = std::max(at, end_[n]);
    return at;
  }
  double EndOfNode(uint32_t node) const { return end_[node]; }
  double TakesOfNode(uint32_t node) const { return takes_[node]; }
  // The time of the nodes from `begin` to before `end` that another pass cannot hide: computations, and
  // collectives of tp unless kernels are made to overlap with them.
  double Busy(size_t begin, size_t end) const {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) {
      const StepNode& n = graph_.nodes[i];
      const bool tensor = n.stream == generate::Stream::kTensor && !step_.split.overlap_tensor;
      sum += n.type == NodeType::kComp || tensor ? takes_[i] : 0;
    }
    return sum;
  }
  // When the computations before node `index` have ended.
  double Computed(size_t index) const { return index == 0 ? 0 : computed_[index - 1]; }
  double last() const { return last_; }

 private:
  absl::StatusOr<double> EndOf(const StepNode& n, double at, const std::vector<double>& times) {
    switch (n.type) {
      case NodeType::kComp:
        return at + times[n.op];
      case NodeType::kCollective: {
        const auto price =
            prices_->OfCollective(n.collective, n.bytes, prices_->GroupsOf(n.group, step_.split));
        return price.ok() ? absl::StatusOr<double>(at + *price) : price.status();
      }
      case NodeType::kSend: {
        const generate::Layout layout(step_.split);
        const int peer = layout.OfContext(0, n.peer == generate::PeerKind::kNextContext ? 1 : -1);
        const double takes = prices_->OfMessage(0, peer, n.bytes);
        arrives_[n.tag] = at + takes;
        return at + takes;
      }
      case NodeType::kRecv: {  // from the previous rank, which sends at the same time as this rank
        const auto found = arrives_.find(n.tag);
        return found == arrives_.end() ? at : std::max(at, found->second);
      }
      default:
        return at;
    }
  }

  const StepPlan& step_;
  const StageGraph& graph_;
  Prices* prices_;
  std::vector<double> end_, takes_, computed_;
  std::array<double, generate::kStreams> free_ = {};
  absl::flat_hash_map<int32_t, double> arrives_;
  double last_ = 0;
};

// The nodes that were added to the graph between two calls of Add().
struct Piece {
  NodeList at;
  std::vector<Gradient> gradients;
  size_t nodes = 0;  // number of nodes in the graph after it
};

class UnitMeter {
 public:
  UnitMeter(const StepPlan& step, Prices* prices) : step_(step), prices_(prices), layers_(step, &graph_) {}

  absl::StatusOr<Units> Measure() {
    for (int64_t i = 0; i < step_.model.layers + (step_.model.mtp > 0 ? 1 : 0); ++i)
      of_kind_.try_emplace(KindOfLayer(step_, i), i);
    Build();
    Walk walk(step_, graph_, prices_);
    RETURN_IF_ERROR(walk.Run());
    Units out;
    for (const auto& [kind, layer] : of_kind_) out.layers.emplace_back(kind, UnitTimes());
    SetWeights(&out);
    SetForward(walk, &out);
    SetBackward(walk, &out);
    if (step_.model.mtp > 0) SetFurther(&out);
    return out;
  }

 private:
  void Add(NodeList at, std::vector<Gradient> gradients = {}) {
    pieces_.push_back({std::move(at), std::move(gradients), graph_.nodes.size()});
  }

  // Piece 0 is the embedding. Then come the layers, the head, the head backward, the layers backward in
  // reverse order, and the embedding backward.
  void Build() {
    Add(layers_.Embed(0, {}));
    for (const auto& [kind, layer] : of_kind_) {
      for (int r = 0; r < kRepeats; ++r) Add(layers_.Forward(layer, 0, "forward", pieces_.back().at));
    }
    Add(layers_.Head(0, pieces_.back().at));
    std::vector<Gradient> gradients;
    NodeList at = layers_.HeadBackward(0, pieces_.back().at, &gradients);
    Add(at, std::exchange(gradients, {}));
    for (auto layer = of_kind_.rbegin(); layer != of_kind_.rend(); ++layer) {
      for (int r = 0; r < kRepeats; ++r) {
        at = layers_.Backward(layer->second, 0, pieces_.back().at, &gradients);
        Add(at, std::exchange(gradients, {}));
      }
    }
    layers_.EmbedBackward(0, pieces_.back().at, &gradients);
    Add({}, std::exchange(gradients, {}));
  }

  // Returns the time of the host for the nodes of a piece, and adds their number to `out`.
  double HostOf(size_t piece, UnitTimes* out) const {
    const generate::HostCosts& host = step_.training.host;
    const size_t begin = piece == 0 ? 0 : pieces_[piece - 1].nodes, end = pieces_[piece].nodes;
    int64_t ns = 0;
    for (size_t i = begin; i < end; ++i) {
      const StepNode& n = graph_.nodes[i];
      ns += n.type == NodeType::kComp ? generate::LaunchNs(host, graph_.operators[n.op]) : host.call_ns;
    }
    out->nodes += static_cast<int64_t>(end - begin);
    return 1e3 * static_cast<double>(ns);
  }
  // Additional time of the host for a layer forward, which recomputation repeats.
  double HostOfLayer() const { return 1e3 * static_cast<double>(step_.training.host.layer_ns); }

  // With frozen weights, zero=3 gathers all weights; otherwise ranks share only the trained weights.
  void SetWeights(Units* out) const {
    const bool frozen = step_.training.frozen(), gathers = step_.split.zero == 3;
    size_t index = 0;
    for (const auto& [kind, layer] : of_kind_) {
      UnitTimes& times = out->layers[index++].second;
      const generate::WeightShare share =
          frozen && gathers ? generate::ShareOfLayer(step_, layer) : generate::TrainedOfLayer(step_, layer);
      times.dense = share.dense;
      times.expert = share.expert;
      times.replicated = share.replicated;
    }
    if (frozen && !gathers) return;
    out->embedding.dense = generate::ShareOfEmbedding(step_);
    out->head.dense = generate::ShareOfHead(step_);
  }

  double BusyIn(const Walk& walk, size_t piece) const {
    return walk.Busy(piece == 0 ? 0 : pieces_[piece - 1].nodes, pieces_[piece].nodes);
  }

  void SetForward(const Walk& walk, Units* out) const {
    size_t piece = 0;
    out->embedding.forward = walk.Ready(pieces_[0].at);
    out->embedding.forward_compute = BusyIn(walk, 0);
    out->embedding.forward_host = HostOf(0, &out->embedding);
    for (auto& [kind, times] : out->layers) {
      piece += kRepeats;
      times.forward = walk.Ready(pieces_[piece].at) - walk.Ready(pieces_[piece - 1].at);
      times.forward_compute = BusyIn(walk, piece);
      times.forward_host = HostOfLayer() + HostOf(piece, &times);
    }
    ++piece;
    out->head.forward = walk.Ready(pieces_[piece].at) - walk.Ready(pieces_[piece - 1].at);
    out->head.forward_compute = BusyIn(walk, piece);
    out->head.forward_host = HostOf(piece, &out->head);
  }

  void SetGradients(const Walk& walk, size_t piece, UnitTimes* out) const {
    const double begin = walk.Ready(pieces_[piece - 1].at);
    std::set<uint32_t> nodes;
    for (const Gradient& g : pieces_[piece].gradients) {
      out->gradients.push_back({g.elements, g.expert, walk.EndOfNode(g.node) - begin});
      if (nodes.insert(g.node).second) out->weights += walk.TakesOfNode(g.node);
    }
    out->backward_compute = BusyIn(walk, piece);
    out->backward_host = HostOf(piece, out);
  }

  void SetBackward(const Walk& walk, Units* out) const {
    size_t piece = 0;
    piece += kRepeats * of_kind_.size() + 2;
    const auto ready = [&](size_t p) { return walk.Ready(pieces_[p].at); };
    out->head.backward = ready(piece) - ready(piece - 1);
    out->head.tail = std::max(0.0, walk.Computed(pieces_[piece].nodes) - ready(piece));
    SetGradients(walk, piece, &out->head);
    for (auto kind = out->layers.rbegin(); kind != out->layers.rend(); ++kind) {
      piece += kRepeats;
      UnitTimes& layer = kind->second;
      layer.backward = ready(piece) - ready(piece - 1);
      layer.tail = std::max(0.0, walk.Computed(pieces_[piece].nodes) - ready(piece));
      SetGradients(walk, piece, &layer);
      if (step_.Recomputes(of_kind_.at(kind->first)) || step_.training.recomputes_operators())
        layer.backward_host += HostOfLayer();
    }
    ++piece;
    out->embedding.backward = std::max(0.0, walk.last() - ready(piece - 1));
    SetGradients(walk, piece, &out->embedding);
  }

  void SetFurther(Units* out) const {
    const int64_t layer = step_.model.layers;
    UnitTimes& further = out->further = out->LayerOf(KindOfLayer(step_, layer));
    further.forward += out->head.forward;
    further.forward_host += out->head.forward_host;
    further.backward_host += out->head.backward_host;
    for (GradientAt& g : further.gradients) g.at += out->head.backward;
    further.backward += out->head.backward;
    further.forward_compute += out->head.forward_compute;
    further.backward_compute += out->head.backward_compute;
    further.weights += out->head.weights;
    const generate::WeightShare share = generate::ShareOfLayer(step_, layer);
    further.dense = share.dense;
    further.expert = share.expert;
    further.replicated = share.replicated;
  }

  const StepPlan& step_;
  Prices* prices_;
  StageGraph graph_;
  generate::LayerBuilder layers_;
  std::map<int, int64_t> of_kind_;  // by kind: its first layer
  std::vector<Piece> pieces_;
};

}  // namespace

int KindOfLayer(const StepPlan& step, int64_t layer) {
  const int64_t seq = step.training.seq;
  const generate::LayerSpec spec = step.model.SpecOf(layer);
  const auto below = [&](int64_t of) { return of > 0 && of < seq; };
  const int properties = (spec.mlp == 'E' ? 1 : 0) + (below(spec.window) ? 2 : 0) +
                         (step.Recomputes(layer) ? 4 : 0) +
                         (spec.mixer == '*' && step.model.rope && !spec.rope ? 8 : 0) +
                         (below(spec.chunk) ? 16 : 0) + (spec.mlp == generate::kNoSublayer ? 32 : 0);
  return properties + (spec.mixer == '*' ? 0 : 64 * spec.mixer) + (step.InBf16(layer) ? 1 << 14 : 0);
}

int64_t KindsOfLayers(const StepPlan& step) {
  constexpr int kRecomputed = 4;  // of KindOfLayer()
  std::vector<int> seen;
  int64_t kinds = 0;
  for (int64_t i = 0; i < step.model.layers; ++i) {
    const int kind = KindOfLayer(step, i), bare = kind & ~kRecomputed;
    auto at = std::find(seen.begin(), seen.end(), bare);
    if (at == seen.end()) at = seen.insert(at, bare);
    const int64_t bit = std::min<int64_t>(31, at - seen.begin()) * 2 + (kind != bare ? 1 : 0);
    kinds |= int64_t{1} << bit;
  }
  return kinds;
}

absl::StatusOr<Units> MeasureUnits(const StepPlan& step, Prices* prices) {
  return UnitMeter(step, prices).Measure();
}

}  // namespace chakra::planning
