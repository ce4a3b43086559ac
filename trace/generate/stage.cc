#include "trace/generate/stage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/generate/layers.h"
#include "trace/generate/reduce.h"
#include "trace/generate/schedule.h"

namespace chakra::generate {
namespace {

class StageBuilder {
 public:
  StageBuilder(const StepPlan& plan, int64_t stage)
      : plan_(plan), stage_(stage), layers_(plan, &graph_), sharing_(plan, &graph_) {
    const Split& s = plan.split;
    graph_.host = plan.training.host;
    layers_of_piece_ = plan.model.layers / (s.pp * s.vpp);
    done_.resize(static_cast<size_t>(s.vpp * plan.micro_batches()));
    for (int64_t piece = 0; piece < s.vpp; ++piece) AddUnits(piece);
    for (const WeightUnit& u : units_) {
      graph_.weights += u.dense;
      graph_.expert_weights += u.expert;
    }
  }

  absl::StatusOr<StageGraph> Build() {
    Begin();
    for (const Pass& pass : PassesOf(plan_.split, plan_.micro_batches(), stage_)) {
      if (pass.forward) {
        Forward(pass);
      } else {
        Backward(pass);
      }
      if (graph_.nodes.size() > kMostNodes) {
        return absl::ResourceExhaustedError(
            absl::StrCat("a rank has more than ", kMostNodes, " nodes; expected fewer micro-batches"));
      }
    }
    End();
    return std::move(graph_);
  }

 private:
  int64_t Global(int64_t piece) const { return piece * plan_.split.pp + stage_; }
  bool IsFirst(int64_t piece) const { return Global(piece) == 0; }
  bool IsLast(int64_t piece) const { return Global(piece) + 1 == plan_.split.pp * plan_.split.vpp; }
  int64_t FirstLayer(int64_t piece) const { return Global(piece) * layers_of_piece_; }
  NodeList& Done(const Pass& pass) {
    return done_[static_cast<size_t>(pass.piece * plan_.micro_batches() + pass.micro_batch)];
  }

  void AddUnits(int64_t piece) {
    unit_of_piece_.push_back(units_.size());
    if (IsFirst(piece)) units_.push_back({ShareOfEmbedding(plan_), 0, -1});
    for (int64_t i = 0; i < layers_of_piece_; ++i) {
      const int64_t layer = FirstLayer(piece) + i;
      const WeightShare share = ShareOfLayer(plan_, layer);
      units_.push_back({share.dense, share.expert, static_cast<int32_t>(layer)});
      replicated_ += share.replicated;
    }
    if (IsLast(piece)) units_.push_back({ShareOfHead(plan_), 0, -1});
  }

  // Gradients are cleared; with overlap_param the weights that the last step updated are gathered.
  void Begin() {
    const int64_t held = plan_.split.zero == 3 ? OwnWeights() : graph_.weights + graph_.expert_weights;
    const Spot spot = {-1, -1, "step", "clear_gradients"};
    begin_ = {graph_.Compute(layers_.operators().Fill(held, plan_.gradient_bytes()), spot, {})};
    if (plan_.split.overlap_param) gathered_ = sharing_.GatherAll(units_, {});
  }

  // What a unit's first use waits for.
  NodeList Weights(size_t unit, const Spot& spot) {
    NodeList ready;
    if (plan_.split.zero == 3) {
      // One unit is used while the next is gathered.
      ready = sharing_.Gather(units_[unit], spot, before_last_);
    } else if (plan_.split.overlap_param && spot.micro_batch == 0) {
      ready = gathered_[unit];
    }
    return ready;
  }
  void Used(const NodeList& at) { before_last_ = std::exchange(last_, at); }

  Spot SpotOf(const Pass& pass, int64_t layer, const char* part) const {
    return {static_cast<int32_t>(pass.micro_batch), static_cast<int32_t>(layer),
            pass.forward ? "forward" : "backward", part};
  }

  int64_t MessageBytes() const { return plan_.shared_tokens() * plan_.model.hidden * plan_.element_bytes(); }
  // Of what the piece `global` of the model sends: one number for each on the way between two ranks.
  int32_t Tag(const Pass& pass, int64_t global) const {
    return static_cast<int32_t>((pass.micro_batch * plan_.split.vpp + global / plan_.split.pp) * 2 +
                                (pass.forward ? 0 : 1));
  }
  int64_t StageOf(int64_t global) const { return global % plan_.split.pp; }

  void Send(const Pass& pass, int64_t to, const NodeList& at) {
    graph_.Message(NodeType::kSend, PeerKind::kStage, StageOf(to),
                   pass.forward ? Stream::kSendForward : Stream::kSendBackward, Tag(pass, Global(pass.piece)),
                   MessageBytes(), SpotOf(pass, -1, "send"), at);
  }
  // Megatron-LM's host waits for what 1F1B sends and receives (batch_p2p_sync); interleaved passes are posted before.
  uint32_t Receive(const Pass& pass, int64_t from) {
    const uint32_t node = graph_.Message(NodeType::kRecv, PeerKind::kStage, StageOf(from),
                          pass.forward ? Stream::kReceiveForward : Stream::kReceiveBackward, Tag(pass, from),
                          MessageBytes(), SpotOf(pass, -1, "receive"), {});
    const bool waits = plan_.training.framework == proto::Training::MEGATRON && plan_.split.vpp == 1;
    if (waits) graph_.HostWaits({node});
    return node;
  }
  // The host reads a batch. Megatron-LM's broadcast of it read sizes from the device until 2023.
  void ReadBatch(const Pass& pass) {
    graph_.HostWorks(graph_.host.batch_ns / (plan_.split.pp > 1 ? 2 : 1), SpotOf(pass, -1, "batch"));
    if (plan_.training.unfused()) graph_.HostWaits(last_pass_);
  }

  void Forward(const Pass& pass) {
    size_t unit = unit_of_piece_[static_cast<size_t>(pass.piece)];
    NodeList at = begin_;
    if (IsFirst(pass.piece) || IsLast(pass.piece)) ReadBatch(pass);
    if (IsFirst(pass.piece)) {
      at = layers_.Embed(pass.micro_batch, Join(at, Weights(unit++, SpotOf(pass, -1, "weights"))));
      Used(at);
    } else {
      at.push_back(Receive(pass, Global(pass.piece) - 1));
    }
    for (int64_t i = 0; i < layers_of_piece_; ++i) {
      const int64_t layer = FirstLayer(pass.piece) + i;
      at = layers_.Forward(layer, pass.micro_batch, "forward",
                           Join(at, Weights(unit++, SpotOf(pass, layer, "weights"))));
      Used(at);
    }
    if (IsLast(pass.piece)) {
      at = layers_.Head(pass.micro_batch, Join(at, Weights(unit, SpotOf(pass, -1, "weights"))));
      Used(at);
    } else {
      Send(pass, Global(pass.piece) + 1, at);
    }
    Done(pass) = at;
    last_pass_ = at;
  }

  // Whether gradients of this pass are reduced: those of the last micro-batch, which the others are added to.
  bool Reduces(const Pass& pass) const {
    return plan_.split.zero >= 2 || pass.micro_batch + 1 == plan_.micro_batches();
  }
  void Take(const Pass& pass, std::vector<Gradient>* gradients) {
    if (Reduces(pass)) sharing_.Add(*gradients, pass.micro_batch);
    if (Reduces(pass) && plan_.split.zero == 3) sharing_.Flush(pass.micro_batch);
    gradients->clear();
  }

  void Backward(const Pass& pass) {
    std::vector<Gradient> gradients;
    NodeList at = Done(pass);
    if (IsLast(pass.piece)) {
      at = layers_.HeadBackward(pass.micro_batch, at, &gradients);
      Take(pass, &gradients);
      Used(at);
    } else {
      at.push_back(Receive(pass, Global(pass.piece) + 1));
    }
    const size_t first = unit_of_piece_[static_cast<size_t>(pass.piece)] + (IsFirst(pass.piece) ? 1 : 0);
    for (int64_t i = layers_of_piece_ - 1; i >= 0; --i) {
      const int64_t layer = FirstLayer(pass.piece) + i;
      if (plan_.split.zero == 3)
        at = Join(at, Weights(first + static_cast<size_t>(i), SpotOf(pass, layer, "weights")));
      at = layers_.Backward(layer, pass.micro_batch, at, &gradients);
      Take(pass, &gradients);
      Used(at);
    }
    if (IsFirst(pass.piece)) {
      layers_.EmbedBackward(pass.micro_batch, at, &gradients);
      Take(pass, &gradients);
    } else {
      Send(pass, Global(pass.piece) - 1, at);
    }
    // Each piece has its own buckets. Without overlap there is one, when all is done.
    const bool whole = plan_.split.zero < 2 && !plan_.split.overlap_grad;
    if (Reduces(pass) && !whole) sharing_.Flush(pass.micro_batch);
    Done(pass) = at;
    last_backward_ = last_pass_ = at;
  }

  int64_t OwnWeights() const {
    const Split& s = plan_.split;
    if (s.zero == 0) return graph_.weights + graph_.expert_weights;
    return ShareOf(graph_.weights, s.holders(false)) + ShareOf(graph_.expert_weights, s.holders(true));
  }

  NodeList Step(CollectiveType type, GroupKind group, Stream stream, int64_t bytes, const char* part,
                const NodeList& at) {
    const Spot spot = {-1, -1, "step", part};
    return {graph_.Collective(type, group, stream, bytes, spot, at)};
  }

  // What is left to reduce: gradients of weights that the ranks of tp have whole, whose tokens they share,
  // and of an embedding that two stages have.
  NodeList ReduceRest(NodeList at) {
    const Split& s = plan_.split;
    if (s.sp) {
      at = Step(CollectiveType::kAllReduce, GroupKind::kTensor, Stream::kTensor,
                replicated_ * plan_.gradient_bytes(), "replicated_gradients", at);
    }
    if (plan_.model.tied && s.pp > 1 && (stage_ == 0 || stage_ + 1 == s.pp)) {
      at = Step(CollectiveType::kAllReduce, GroupKind::kEnds, Stream::kReduce,
                plan_.padded_outputs() / s.tp * plan_.model.hidden * plan_.gradient_bytes(),
                "embedding_gradients", at);
    }
    return at;
  }

  // The norm of all gradients, by which they are clipped: one number is reduced over those that hold parts.
  NodeList ClipNorm(NodeList at) {
    const Split& s = plan_.split;
    const Spot spot = {-1, -1, "step", "gradient_norm"};
    const bool all = s.zero > 0 || plan_.model.experts > 0;
    const int64_t ranks = all ? s.ranks() : s.tp * s.pp;
    const GroupKind group = all ? GroupKind::kWorld : GroupKind::kModel;
    if (plan_.training.dtype == proto::Training::FP16 && ranks > 1)  // whether one is infinite
      at = Step(CollectiveType::kAllReduce, group, Stream::kReduce, 4, "infinity_check", at);
    for (const Operator& op : layers_.operators().Unscale(OwnWeights())) at = {graph_.Compute(op, spot, at)};
    at = {graph_.Compute(layers_.operators().GradientNorm(OwnWeights()), spot, at)};
    if (ranks > 1) at = Step(CollectiveType::kAllReduce, group, Stream::kReduce, 4, "gradient_norm", at);
    return {graph_.Compute(layers_.operators().Clip(OwnWeights()), spot, at)};
  }

  void End() {
    sharing_.Flush(plan_.micro_batches() - 1);
    graph_.HostWorks(graph_.host.step_ns, {-1, -1, "step", "host"});
    NodeList at = ClipNorm(ReduceRest(Join(last_backward_, sharing_.reduced())));
    const Spot spot = {-1, -1, "step", "update"};
    for (const Operator& op : layers_.operators().Update(OwnWeights())) at = {graph_.Compute(op, spot, at)};
    const int zero = plan_.split.zero;
    if ((zero == 1 || zero == 2) && !plan_.split.overlap_param) sharing_.GatherAll(units_, at);
  }

  const StepPlan& plan_;
  const int64_t stage_;
  StageGraph graph_;
  LayerBuilder layers_;
  Sharing sharing_;
  int64_t layers_of_piece_ = 0;
  int64_t replicated_ = 0;
  std::vector<WeightUnit> units_;
  std::vector<size_t> unit_of_piece_;  // the first
  std::vector<NodeList> gathered_;     // by unit, with overlap_param
  std::vector<NodeList> done_;         // by piece and micro-batch: the last pass's end
  NodeList begin_, last_, before_last_, last_backward_, last_pass_;
};

}  // namespace

absl::StatusOr<StageGraph> BuildStage(const StepPlan& plan, int64_t stage) {
  return StageBuilder(plan, stage).Build();
}

}  // namespace chakra::generate
