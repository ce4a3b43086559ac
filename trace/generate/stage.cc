#include "trace/generate/stage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/generate/copies.h"
#include "trace/generate/layers.h"
#include "trace/generate/merge.h"
#include "trace/generate/optimizer/parameters.h"
#include "trace/generate/optimizer/update.h"
#include "trace/generate/pieces.h"
#include "trace/generate/reduce.h"
#include "trace/generate/schedule.h"

namespace chakra::generate {
namespace {

class StageBuilder {
 public:
  StageBuilder(const StepPlan& plan, int64_t stage)
      : plan_(plan), stage_(stage), layers_(plan, &graph_), sharing_(plan, &graph_), copies_(plan, &graph_) {
    const Split& s = plan.split;
    graph_.host = plan.training.host;
    done_.resize(static_cast<size_t>(s.stage_pieces() * plan.micro_batches()));
    put_off_.resize(done_.size());
    for (int64_t piece = 0; piece < s.stage_pieces(); ++piece) AddUnits(piece);
    if (plan.training.by_matrix()) parameters_ = ParametersOf(plan, stage);
  }

  absl::StatusOr<StageGraph> Build() {
    Begin();
    const std::vector<Pass> passes = PassesOf(plan_.split, plan_.micro_batches(), stage_);
    for (size_t i = 0; i < passes.size(); ++i) {
      if (passes[i].merged) {
        Merged(passes[i], passes[i + 1]);
        ++i;
      } else {
        Run(passes[i]);
      }
      if (graph_.nodes.size() > kMostNodes) {
        return absl::ResourceExhaustedError(
            absl::StrCat("a rank has more than ", kMostNodes, " nodes; expected fewer micro-batches"));
      }
    }
    End();
    Interleave(merged_, plan_.split.hides(), &graph_);
    return std::move(graph_);
  }

 private:
  int64_t Number(int64_t piece) const { return PieceOf(plan_.split, stage_, piece); }
  const Piece& At(int64_t piece) const { return plan_.pieces[static_cast<size_t>(Number(piece))]; }
  size_t IndexOf(int64_t piece, int64_t micro_batch) const {
    return static_cast<size_t>(piece * plan_.micro_batches() + micro_batch);
  }
  NodeList& Done(const Pass& pass) { return done_[IndexOf(pass.piece, pass.micro_batch)]; }
  // The position that is `by` pieces further in the direction of a micro-batch of `pass`.
  PieceSpot Next(const Pass& pass, int64_t by) const {
    const int64_t number = Number(pass.piece);
    return SpotOf(plan_.split, number + by, GoesBack(plan_.split, stage_, number));
  }

  void AddUnits(int64_t piece) {
    const Piece& p = At(piece);
    unit_of_piece_.push_back(units_.size());
    if (p.embedding) AddUnit({ShareOfEmbedding(plan_), 0, -1});
    for (int64_t layer = p.first; layer < p.first + p.layers; ++layer) {
      const WeightShare share = ShareOfLayer(plan_, layer), trained = TrainedOfLayer(plan_, layer);
      const int64_t copy =
          layer == plan_.model.layers && plan_.copies_embedding() ? CopyOfEmbedding(plan_) : 0;
      AddUnit({share.dense + copy, share.expert, static_cast<int32_t>(layer)}, trained.dense);
      replicated_ += trained.replicated;
    }
    if (p.head) AddUnit({ShareOfHead(plan_), 0, -1});
  }

  // `adapters`: trained elements in addition to the unit's own weights, if these are frozen. Frozen weights
  // are gathered if ranks share them (zero=3), and never updated.
  void AddUnit(WeightUnit unit, int64_t adapters = 0) {
    if (plan_.training.frozen()) {
      graph_.weights += adapters;
      if (plan_.split.zero < 3) unit.dense = unit.expert = 0;
      unit.dense += adapters;
    } else {
      graph_.weights += unit.dense;
      graph_.expert_weights += unit.expert;
    }
    units_.push_back(unit);
  }

  // Clears the gradients; with overlap_param, gathers the weights that the last step updated.
  void Begin() {
    const int64_t held = plan_.split.zero == 3 ? OwnWeights() : graph_.weights + graph_.expert_weights;
    const Spot spot = {-1, -1, "step", "clear_gradients"};
    begin_ = {graph_.Compute(layers_.operators().Fill(held, plan_.gradient_bytes()), spot, {})};
    if (plan_.split.overlap_param) gathered_ = sharing_.GatherAll(units_, {});
  }

  // The nodes for which a unit's first use waits.
  NodeList Weights(size_t unit, const Spot& spot) {
    NodeList ready;
    if (plan_.split.zero == 3) {
      if (!plan_.Gathers(absl::string_view(spot.phase) == "forward", spot.micro_batch)) return {};
      // The next unit is gathered while one is used.
      ready = sharing_.Gather(units_[unit], spot, before_last_);
    } else if (plan_.split.overlap_param && plan_.IsFirst(spot.micro_batch)) {
      ready = gathered_[unit];
    }
    return ready;
  }
  void Used(const NodeList& at) { before_last_ = std::exchange(last_, at); }

  Spot PlaceOf(const Pass& pass, int64_t layer, const char* part) const {
    return {static_cast<int32_t>(pass.micro_batch), static_cast<int32_t>(layer),
            pass.forward ? "forward" : "backward", part};
  }

  int64_t MessageBytes() const { return plan_.shared_tokens() * plan_.model.hidden * plan_.element_bytes(); }
  // The tag of a message from the sender's piece `piece`; unique among the messages in flight between two
  // ranks.
  int32_t Tag(const Pass& pass, int64_t piece) const {
    return static_cast<int32_t>((pass.micro_batch * plan_.split.stage_pieces() + piece) * 2 +
                                (pass.forward ? 0 : 1));
  }

  // Sends the output of a pass if a further piece follows. A piece on the same stage finds the output in
  // Done().
  void Send(const Pass& pass, const NodeList& at) {
    if (pass.part == Pass::kWeights || (pass.forward ? At(pass.piece).head : At(pass.piece).embedding))
      return;
    const PieceSpot to = Next(pass, pass.forward ? 1 : -1);
    if (to.stage == stage_) return;
    graph_.Message(NodeType::kSend, PeerKind::kStage, to.stage,
                   pass.forward ? Stream::kSendForward : Stream::kSendBackward, Tag(pass, pass.piece),
                   MessageBytes(), PlaceOf(pass, -1, "send"), at);
  }
  // The input of a pass that does not begin with the embedding or the head.
  NodeList Receive(const Pass& pass) {
    const PieceSpot from = Next(pass, pass.forward ? -1 : 1);
    if (from.stage == stage_) return done_[IndexOf(from.piece, pass.micro_batch)];
    const uint32_t node =
        graph_.Message(NodeType::kRecv, PeerKind::kStage, from.stage,
                       pass.forward ? Stream::kReceiveForward : Stream::kReceiveBackward,
                       Tag(pass, from.piece), MessageBytes(), PlaceOf(pass, -1, "receive"), {});
    // Megatron-LM's host waits for the data that 1F1B receives (batch_p2p_sync); receives of interleaved
    // passes are posted before.
    if (plan_.training.framework == proto::Training::MEGATRON && plan_.split.stage_pieces() == 1)
      graph_.HostWaits({node});
    return {node};
  }

  // The host reads a batch. Until 2023 Megatron-LM's broadcast of the batch read sizes from the device.
  void ReadBatch(const Pass& pass) {
    graph_.HostWorks(graph_.host.batch_ns / (plan_.split.pp > 1 ? 2 : 1), PlaceOf(pass, -1, "batch"));
    if (plan_.training.unfused()) graph_.HostWaits(last_pass_);
  }

  void Run(const Pass& pass) {
    Compute(pass);
    Send(pass, Done(pass));
  }

  // Both passes send when both are done, as in DualPipe's implementation.
  void Merged(const Pass& forward, const Pass& backward) {
    MergedPasses nodes;
    nodes.begin = static_cast<uint32_t>(graph_.nodes.size());
    Compute(forward);
    graph_.HostEnds();
    nodes.middle = static_cast<uint32_t>(graph_.nodes.size());
    graph_.HostBegins(PlaceOf(backward, -1, "host"));
    Compute(backward);
    nodes.end = static_cast<uint32_t>(graph_.nodes.size());
    // Not with zero 3: weights are gathered when the unit before the last is done, which may belong to the
    // other pass.
    if (plan_.split.zero != 3) merged_.push_back(nodes);
    const NodeList done = Join(Done(forward), Done(backward));
    Send(forward, done);
    Send(backward, done);
  }

  void Compute(const Pass& pass) {
    if (pass.forward) {
      Forward(pass);
    } else if (pass.part == Pass::kWeights) {
      BackwardOfWeights(pass);
    } else {
      Backward(pass);
    }
  }

  void Forward(const Pass& pass) {
    const Piece& piece = At(pass.piece);
    size_t unit = unit_of_piece_[static_cast<size_t>(pass.piece)];
    NodeList at = begin_;
    if (piece.embedding || piece.head) ReadBatch(pass);
    if (piece.embedding) {
      at = layers_.Embed(pass.micro_batch, Join(at, Weights(unit++, PlaceOf(pass, -1, "weights"))));
      Used(at);
    } else {
      at = Join(at, Receive(pass));
    }
    for (int64_t layer = piece.first; layer < EndOfTrunk(piece); ++layer) {
      at = layers_.Forward(layer, pass.micro_batch, "forward",
                           Join(at, Weights(unit++, PlaceOf(pass, layer, "weights"))));
      at = copies_.BehindForward(layer, pass.micro_batch, at);
      Used(at);
    }
    if (piece.head) at = Heads(pass, unit, at);
    Done(pass) = at;
    last_pass_ = at;
  }

  int64_t EndOfTrunk(const Piece& piece) const {
    return std::min(piece.first + piece.layers, plan_.model.layers);
  }

  // Layers of multi-token prediction, then the head for the outputs of the trunk and of each of these layers.
  // `unit`: that of the first layer.
  NodeList Heads(const Pass& pass, size_t unit, const NodeList& trunk) {
    std::vector<NodeList> outputs = {trunk};
    for (int64_t k = 0; k < plan_.model.mtp; ++k) {
      const int64_t layer = plan_.model.layers + k;
      const NodeList weights = Weights(unit++, PlaceOf(pass, layer, "weights"));
      outputs.push_back(layers_.Further(layer, pass.micro_batch, Join(outputs.back(), weights)));
      Used(outputs.back());
    }
    const NodeList weights = Weights(unit, PlaceOf(pass, -1, "weights"));
    NodeList done;
    for (const NodeList& output : outputs)
      done = Join(done, layers_.Head(pass.micro_batch, Join(output, weights)));
    Used(done);
    return done;
  }

  // Backward from the losses to the trunk. The head's gradient is complete with that of the trunk's loss.
  NodeList HeadsBackward(const Pass& pass, size_t unit, const NodeList& losses) {
    NodeList from;
    for (int64_t k = plan_.model.mtp - 1; k >= 0; --k) {
      const int64_t layer = plan_.model.layers + k;
      NodeList at = Join(losses, from);
      if (plan_.split.zero == 3)
        at = Join(at, Weights(unit + static_cast<size_t>(k), PlaceOf(pass, layer, "weights")));
      from = BackwardOfUnit(pass, [&](std::vector<Gradient>* g) {
        at = layers_.HeadBackward(pass.micro_batch, at, g, false);
        return layers_.FurtherBackward(layer, pass.micro_batch, at, g);
      });
      Used(from);
    }
    const NodeList at = BackwardOfUnit(
        pass, [&](std::vector<Gradient>* g) { return layers_.HeadBackward(pass.micro_batch, losses, g); });
    return from.empty() ? at : layers_.AddFurther(pass.micro_batch, Join(at, from));
  }

  // Whether gradients of this pass are reduced. Without zero 2 and 3, and with FSDP in a pipeline, these are
  // those of the last micro-batch, to which the others were added.
  bool Reduces(const Pass& pass) const {
    return (plan_.split.zero >= 2 && !plan_.accumulates_whole()) || plan_.IsLast(pass.micro_batch);
  }
  void Take(const Pass& pass, const std::vector<Gradient>& gradients) {
    if (Reduces(pass)) sharing_.Add(gradients, pass.micro_batch);
    if (Reduces(pass) && plan_.split.zero == 3) sharing_.Flush(pass.micro_batch);
  }

  // Runs `backward`, which appends gradients of one unit to its argument, and passes them on; or defers those
  // of weights.
  template <typename Function>
  NodeList BackwardOfUnit(const Pass& pass, Function backward) {
    std::vector<Gradient> gradients;
    if (pass.part == Pass::kWhole) {
      NodeList at = backward(&gradients);
      Take(pass, gradients);
      return at;
    }
    PutOff& put_off = put_off_[IndexOf(pass.piece, pass.micro_batch)].emplace_back();
    layers_.PutOffInto(&put_off);
    NodeList at = backward(&put_off.gradients);
    layers_.PutOffInto(nullptr);
    return at;
  }

  void Backward(const Pass& pass) {
    const Piece& piece = At(pass.piece);
    NodeList at = Done(pass);
    const size_t first = unit_of_piece_[static_cast<size_t>(pass.piece)] + (piece.embedding ? 1 : 0);
    const int64_t trunk = EndOfTrunk(piece) - piece.first;
    if (piece.head) {
      at = HeadsBackward(pass, first + static_cast<size_t>(trunk), at);
      Used(at);
    } else {
      at = Join(at, Receive(pass));
    }
    const int64_t together = plan_.training.recomputed_at_once();
    for (int64_t i = trunk - 1; i >= 0; --i) {
      const int64_t layer = piece.first + i;
      // Recomputes a group of layers when the backward pass comes to the group's last layer.
      if (together > 1 && (i + 1 == trunk || (i + 1) % together == 0)) {
        for (int64_t j = i / together * together; j <= i; ++j)
          at = layers_.Forward(piece.first + j, pass.micro_batch, "recompute", at);
      }
      if (plan_.split.zero == 3)
        at = Join(at, Weights(first + static_cast<size_t>(i), PlaceOf(pass, layer, "weights")));
      at = copies_.BeforeBackward(layer, pass.micro_batch, at);
      at = BackwardOfUnit(pass, [&](std::vector<Gradient>* g) {
        return layers_.Backward(layer, pass.micro_batch, at, g, together > 1);
      });
      Used(at);
    }
    if (piece.embedding) {
      BackwardOfUnit(pass, [&](std::vector<Gradient>* g) {
        layers_.EmbedBackward(pass.micro_batch, at, g);
        return at;
      });
    }
    Done(pass) = at;
    if (pass.part == Pass::kWhole) Reduce(pass);
    last_backward_ = last_pass_ = at;
  }

  // Runs the work that a backward pass deferred, in its order.
  void BackwardOfWeights(const Pass& pass) {
    std::vector<PutOff>& units = put_off_[IndexOf(pass.piece, pass.micro_batch)];
    for (PutOff& unit : units) {
      layers_.Finish(&unit);
      Take(pass, unit.gradients);
      if (!unit.gradients.empty()) last_backward_ = {unit.gradients.back().node};
    }
    std::vector<PutOff>().swap(units);
    Reduce(pass);
  }

  // Closes buckets. Each piece has its own. Without overlap, everything is reduced at the end.
  void Reduce(const Pass& pass) {
    const bool whole = plan_.split.zero < 2 && !plan_.split.overlap_grad;
    if (Reduces(pass) && !whole) sharing_.Flush(pass.micro_batch);
  }

  int64_t OwnWeights() const {
    const Split& s = plan_.split;
    if (plan_.training.by_matrix()) return UpdatedElements(plan_, parameters_);
    if (s.zero == 0) return graph_.weights + graph_.expert_weights;
    return ShareOf(graph_.weights, s.sharers(false)) + ShareOf(graph_.expert_weights, s.sharers(true));
  }

  NodeList Step(CollectiveType type, GroupKind group, Stream stream, int64_t bytes, const char* part,
                const NodeList& at) {
    const Spot spot = {-1, -1, "step", part};
    return {graph_.Collective(type, group, stream, bytes, spot, at)};
  }

  // The remaining reductions: gradients of weights that the ranks of tp have whole while they share the
  // tokens, and of an embedding that two stages have.
  NodeList ReduceRest(NodeList at) {
    const Split& s = plan_.split;
    if (s.sp && replicated_ > 0) {
      at = Step(CollectiveType::kAllReduce, GroupKind::kTensor, Stream::kTensor,
                replicated_ * plan_.gradient_bytes(), "replicated_gradients", at);
    }
    if (plan_.training.frozen()) return at;
    if ((plan_.model.tied || plan_.copies_embedding()) && !s.ends_together() &&
        (stage_ == 0 || stage_ + 1 == s.pp)) {
      at = Step(CollectiveType::kAllReduce, GroupKind::kEnds, Stream::kReduce,
                plan_.padded_outputs() / s.tp * plan_.model.hidden * plan_.gradient_bytes(),
                "embedding_gradients", at);
    }
    return at;
  }

  // The norm of all gradients, for clipping: one number is reduced over the ranks that hold parts.
  NodeList ClipNorm(NodeList at) {
    const Split& s = plan_.split;
    const Spot spot = {-1, -1, "step", "gradient_norm"};
    const bool all = s.zero > 0 || plan_.model.experts > 0;
    const int64_t ranks = all ? s.ranks() : s.tp * s.pp;
    const GroupKind group = all ? GroupKind::kWorld : GroupKind::kModel;
    if (plan_.training.dtype == proto::Training::FP16 && ranks > 1)  // whether a gradient is infinite
      at = Step(CollectiveType::kAllReduce, group, Stream::kReduce, 4, "infinity_check", at);
    for (const Operator& op : layers_.operators().Unscale(OwnWeights())) at = {graph_.Compute(op, spot, at)};
    at = {graph_.Compute(layers_.operators().GradientNorm(OwnWeights()), spot, at)};
    if (ranks > 1) at = Step(CollectiveType::kAllReduce, group, Stream::kReduce, 4, "gradient_norm", at);
    return {graph_.Compute(layers_.operators().Clip(OwnWeights()), spot, at)};
  }

  // Weights that the host updates are complete when their copies are back. Then all weights are copied to the
  // dtype of GEMMs.
  NodeList Update(NodeList at) {
    if (plan_.training.by_matrix()) return AddUpdate(DescribeUpdate(plan_, parameters_), at, &graph_);
    const Spot spot = {-1, -1, "step", "update"};
    const int64_t own = OwnWeights(), hosts = UpdatedByHost(plan_, own);
    if (hosts > 0) {
      const auto units = static_cast<int64_t>(units_.size());
      const NodeList back =
          UpdateOnHost(plan_, hosts, plan_.training.offload.overlaps ? units : 1, at, &graph_);
      if (hosts < own) at = {graph_.Compute(layers_.operators().Update(own - hosts).front(), spot, at)};
      at = Join(at, back);
    }
    const std::vector<Operator> update = layers_.operators().Update(own);
    for (size_t i = hosts > 0 ? 1 : 0; i < update.size(); ++i) at = {graph_.Compute(update[i], spot, at)};
    return at;
  }

  void End() {
    sharing_.Flush(plan_.micro_batches() - 1);
    graph_.HostWorks(graph_.host.step_ns, {-1, -1, "step", "host"});
    NodeList at = ClipNorm(ReduceRest(Join(last_backward_, sharing_.reduced())));
    at = Update(at);
    const int zero = plan_.split.zero;
    const bool gathered = plan_.split.overlap_param || plan_.training.owns_weights();
    if ((zero == 1 || zero == 2) && !gathered) sharing_.GatherAll(units_, at);
  }

  const StepPlan& plan_;
  const int64_t stage_;
  StageGraph graph_;
  LayerBuilder layers_;
  Sharing sharing_;
  ActivationCopies copies_;
  int64_t replicated_ = 0;
  std::vector<Parameter> parameters_;  // for optimizers of whole matrices
  std::vector<WeightUnit> units_;
  std::vector<size_t> unit_of_piece_;  // first unit of each piece
  std::vector<NodeList> gathered_;     // by unit, with overlap_param
  std::vector<NodeList> done_;         // by piece and micro-batch: the end of the last pass
  std::vector<std::vector<PutOff>>
      // by piece and micro-batch: deferred work of each unit, in the order of the pass; empty: none
      put_off_;
  std::vector<MergedPasses> merged_;
  NodeList begin_, last_, before_last_, last_backward_, last_pass_;
};

}  // namespace

absl::StatusOr<StageGraph> BuildStage(const StepPlan& plan, int64_t stage) {
  if (plan.tables.any()) return BuildTableStage(plan, stage);
  return StageBuilder(plan, stage).Build();
}

}  // namespace chakra::generate
