#include "trace/generate/copies.h"

#include <algorithm>

#include "trace/generate/memory.h"

namespace chakra::generate {

int64_t EndOfWindow(const StepPlan& p, int64_t i) {
  const int64_t n = p.training.offload.layers, each = p.model.layers / n, rest = p.model.layers % n;
  return each * (i + 1) - 1 + std::min(i + 1, rest);
}

ActivationCopies::ActivationCopies(const StepPlan& plan, StageGraph* graph)
    : plan_(plan),
      graph_(graph),
      out_(static_cast<size_t>(plan.training.offload.layers)),
      back_(out_.size()) {
  for (int64_t i = 0; i < plan.training.offload.layers; ++i) bytes_.push_back(ActivationsOfLayer(plan, i));
}

uint32_t ActivationCopies::Copy(bool to_host, int64_t layer, int64_t micro_batch, const NodeList& at) {
  const Spot spot = {static_cast<int32_t>(micro_batch), static_cast<int32_t>(layer),
                     to_host ? "forward" : "backward", to_host ? "offload" : "reload"};
  return graph_->Copy(to_host, bytes_[static_cast<size_t>(layer)], spot, at);
}

NodeList ActivationCopies::BehindForward(int64_t layer, int64_t micro_batch, NodeList at) {
  const auto copied = static_cast<int64_t>(out_.size());
  if (copied == 0) return at;
  if (layer == 0) out_[0] = Copy(true, 0, micro_batch, at);
  for (int64_t i = 0; i < copied; ++i) {
    if (EndOfWindow(plan_, i) != layer) continue;
    at = Join(at, {out_[static_cast<size_t>(i)]});
    if (i + 1 < copied) out_[static_cast<size_t>(i + 1)] = Copy(true, i + 1, micro_batch, at);
  }
  return at;
}

NodeList ActivationCopies::BeforeBackward(int64_t layer, int64_t micro_batch, NodeList at) {
  const auto copied = static_cast<int64_t>(out_.size());
  for (int64_t i = 0; i < copied; ++i) {
    if (EndOfWindow(plan_, i) != layer) continue;
    if (i + 1 < copied) at = Join(at, {back_[static_cast<size_t>(i + 1)]});
    back_[static_cast<size_t>(i)] = Copy(false, i, micro_batch, at);
  }
  if (layer == 0 && copied > 0) at = Join(at, {back_[0]});
  return at;
}

NodeList UpdateOnHost(const StepPlan& plan, int64_t weights, int64_t pieces, const NodeList& at,
                      StageGraph* graph) {
  const auto spot = [](const char* part) { return Spot{-1, -1, "step", part}; };
  const auto piece = [&](int64_t i) { return weights * (i + 1) / pieces - weights * i / pieces; };
  // All copies of gradients are queued before the host begins.
  NodeList out, back;
  for (int64_t i = 0; i < pieces; ++i)
    out.push_back(graph->Copy(true, CopiedBytes(piece(i)), spot("gradients_to_host"), at));
  for (int64_t i = 0; i < pieces; ++i) {
    const uint32_t update = graph->HostComputes(HostUpdateNs(plan, piece(i)), spot("update_on_host"),
                                                {out[static_cast<size_t>(i)]});
    back.push_back(graph->Copy(false, CopiedBytes(piece(i)), spot("weights_to_device"), {update}));
  }
  return back;
}

}  // namespace chakra::generate
