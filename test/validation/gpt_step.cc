#include "test/validation/gpt_step.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/replay/trace_builder.h"

namespace chakra {
namespace {

// The nodes of one rank, in its order.
class RankOfStep {
 public:
  RankOfStep(const GptStep& step, int rank, TraceBuilder* builder)
      : step_(step),
        builder_(builder),
        rank_(rank),
        stage_(rank / (step.tensor * step.data)),
        tensor_group_(absl::StrCat("tp", rank / step.tensor)),
        data_group_(absl::StrCat("dp", rank % step.tensor, "_", stage_)),
        activations_(int64_t{step.micro_batch} * step.sequence * step.hidden * step.bytes) {
    const double h = step.hidden, s = step.sequence;
    const double operations = 24.0 * step.micro_batch * s * h * h * (1 + s / (6 * h));
    forward_us_ = static_cast<uint64_t>(std::llround(operations / step.tensor / step.flops * 1e6 / 2));
  }

  void Write() {
    const int warm_up = std::min(step_.pipeline - stage_ - 1, step_.micro_batches);
    int forward = 0, backward = 0;
    for (; forward < warm_up; ++forward) Forward(forward);
    while (forward < step_.micro_batches) {
      Forward(forward++);
      Backward(backward++);
    }
    while (backward < step_.micro_batches) Backward(backward++);
    std::vector<uint64_t> all = gradients_;
    all.push_back(last_);
    builder_->Comp(rank_, 1000, all);
  }

 private:
  int Neighbour(int stages) const { return rank_ + stages * step_.tensor * step_.data; }
  std::vector<uint64_t> After() const {
    return started_ ? std::vector<uint64_t>{last_} : std::vector<uint64_t>();
  }
  void Then(const et::Node& node) {
    last_ = node.id();
    started_ = true;
  }
  // Half a layer: its kernels, then the sum over the tensor ranks.
  void HalfLayer(uint64_t micros) {
    Then(builder_->Comp(rank_, micros, After()));
    if (step_.tensor == 1) return;
    Then(builder_->Coll(rank_, CollectiveType::kAllReduce, activations_, After(), tensor_group_));
  }
  void Take(int from, int tag) {
    const uint64_t id = builder_->Recv(rank_, from, activations_, tag).id();
    std::vector<uint64_t> deps = After();
    deps.push_back(id);
    Then(builder_->Comp(rank_, 1, deps));
  }
  void Forward(int micro_batch) {
    if (stage_ > 0) Take(Neighbour(-1), 2 * micro_batch);
    for (int half = 0; half < 2 * step_.layers / step_.pipeline; ++half) HalfLayer(forward_us_);
    if (stage_ + 1 < step_.pipeline) {
      builder_->Send(rank_, Neighbour(1), activations_, 2 * micro_batch, After());
    }
  }
  void Backward(int micro_batch) {
    if (stage_ + 1 < step_.pipeline) Take(Neighbour(1), 2 * micro_batch + 1);
    const int halves = 2 * step_.layers / step_.pipeline;
    const double parameters =
        12.0 * step_.hidden * step_.hidden * step_.layers / step_.pipeline / step_.tensor;
    const auto bucket = static_cast<int64_t>(parameters * step_.bytes / step_.buckets);
    for (int half = 0; half < halves; ++half) {
      HalfLayer(2 * forward_us_);
      const bool full = (half + 1) * step_.buckets / halves > half * step_.buckets / halves;
      if (micro_batch + 1 < step_.micro_batches || !full || step_.data == 1) continue;
      std::vector<uint64_t> deps = {last_};
      if (!gradients_.empty()) deps.push_back(gradients_.back());
      gradients_.push_back(builder_->Coll(rank_, CollectiveType::kAllReduce, bucket, deps, data_group_).id());
    }
    if (stage_ > 0) builder_->Send(rank_, Neighbour(-1), activations_, 2 * micro_batch + 1, After());
  }

  const GptStep& step_;
  TraceBuilder* builder_;
  int rank_, stage_;
  std::string tensor_group_, data_group_;
  int64_t activations_;
  uint64_t forward_us_;
  uint64_t last_ = 0;
  bool started_ = false;
  std::vector<uint64_t> gradients_;
};

}  // namespace

absl::StatusOr<TraceSet> MakeGptStep(const GptStep& step) {
  TraceBuilder builder(step.ranks());
  for (int rank = 0; rank < step.ranks(); ++rank) {
    const int block = step.tensor * step.data;
    builder.groups[absl::StrCat("tp", rank / step.tensor)].push_back(rank);
    builder.groups[absl::StrCat("dp", rank % step.tensor, "_", rank / block)].push_back(rank);
    RankOfStep(step, rank, &builder).Write();
  }
  return builder.Build();
}

}  // namespace chakra
