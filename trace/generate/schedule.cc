#include "trace/generate/schedule.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "trace/generate/pieces.h"

namespace chakra::generate {
namespace {

// The k-th forward (or backward) pass of a stage.
Pass At(const Split& s, bool forward, int64_t k) {
  const int64_t group = s.pp * s.vpp, in_group = k % group;
  const int64_t piece = s.vpp == 1 ? 0 : in_group / s.pp;
  const int64_t micro_batch = s.vpp == 1 ? k : k / group * s.pp + in_group % s.pp;
  return {forward, micro_batch, forward ? piece : s.vpp - 1 - piece};
}

// Adds passes. Deferred gradients of weights run in the order of their passes.
class Passes {
 public:
  Passes(int64_t first_of_0, int64_t first_of_1)
      : next_{{first_of_0, first_of_0}, {first_of_1, first_of_1}} {}

  void Forward(int64_t piece) { passes_.push_back({true, next_[piece].forward++, piece}); }
  void Backward(int64_t piece) { passes_.push_back({false, next_[piece].backward++, piece}); }
  void Inputs(int64_t piece) {
    passes_.push_back({false, next_[piece].backward++, piece, Pass::kInputs});
    put_off_.push_back(passes_.back());
  }
  void Weights() {
    passes_.push_back(put_off_[ran_++]);
    passes_.back().part = Pass::kWeights;
  }
  void Merged(int64_t forward, int64_t backward) {
    Forward(forward);
    passes_.back().merged = true;
    Backward(backward);
  }
  int64_t waiting() const { return static_cast<int64_t>(put_off_.size() - ran_); }
  std::vector<Pass> Take() { return std::move(passes_); }

 private:
  struct Next {
    int64_t forward = 0, backward = 0;
  };
  Next next_[2];
  std::vector<Pass> passes_, put_off_;
  size_t ran_ = 0;
};

std::vector<Pass> ZeroBubble(const Split& s, int64_t micro_batches, int64_t stage) {
  const int64_t warm = std::min(s.pp - stage - 1, micro_batches);
  Passes out(0, 0);
  for (int64_t k = 0; k < warm; ++k) out.Forward(0);
  for (int64_t k = 0; k < micro_batches; ++k) {
    if (k + warm < micro_batches) out.Forward(0);
    out.Inputs(0);
    if (out.waiting() > stage) out.Weights();
  }
  while (out.waiting() > 0) out.Weights();
  return out.Take();
}

// Steps 1 to 8 of the published schedule. `near`: number of stages between this one and the end where piece
// 0's micro-batches enter; `half`: number of stages from that end to the middle, where they meet those of
// piece 1.
std::vector<Pass> TwoWays(Passes out, int64_t half, int64_t near, int64_t micro_batches) {
  const int64_t far = half - near - 1;
  for (int64_t i = 0; i < 2 * far; ++i) out.Forward(0);
  for (int64_t i = 0; i < near + 1; ++i) {
    out.Forward(0);
    out.Forward(1);
  }
  for (int64_t i = 0; i < far; ++i) {
    out.Inputs(1);
    out.Weights();
    out.Forward(1);
  }
  for (int64_t i = 0; i < micro_batches - 2 * half + near + 1; ++i) {
    if (i == 0 && far == 0) {  // stages in the middle do not wait for each other
      out.Forward(0);
      out.Backward(1);
    } else {
      out.Merged(0, 1);
    }
    out.Merged(1, 0);
  }
  for (int64_t i = 0; i < far; ++i) {
    out.Backward(1);
    out.Merged(1, 0);
  }
  for (int64_t i = 0; i < 2 * (near + 1); ++i) {
    const int64_t piece = i % 2 == 0 ? 1 : 0;
    if (i < near + 1) {
      out.Backward(piece);
    } else {
      out.Inputs(piece);
    }
  }
  for (int64_t i = 0; i < far; ++i) {
    out.Weights();
    out.Inputs(0);
  }
  for (int64_t i = 0; i < near + 1; ++i) out.Weights();
  return out.Take();
}

}  // namespace

std::vector<Pass> PassesOf(const Split& s, int64_t micro_batches, int64_t stage) {
  if (s.schedule == Schedule::kZbH1) return ZeroBubble(s, micro_batches, stage);
  if (s.schedule == Schedule::kDualPipeV) return TwoWays(Passes(0, 0), s.pp, stage, micro_batches);
  if (s.schedule == Schedule::kDualPipe) {
    const int64_t half = micro_batches / 2;
    const bool back = GoesBack(s, stage, PieceOf(s, stage, 0));
    return TwoWays(Passes(back ? half : 0, back ? 0 : half), s.pp / 2, std::min(stage, s.pp - 1 - stage),
                   half);
  }
  const int64_t all = micro_batches * s.vpp;
  int64_t warm = all;  // gpipe
  if (s.schedule == Schedule::k1F1B) warm = std::min(s.pp - stage - 1, all);
  if (s.schedule == Schedule::kInterleaved) warm = std::min(2 * (s.pp - stage - 1) + (s.vpp - 1) * s.pp, all);
  // One more forward pass, so that no backward pass waits for the forward pass with which it runs.
  if (s.overlap_expert) warm = std::min(warm + 1, all);
  std::vector<Pass> passes;
  passes.reserve(static_cast<size_t>(2 * all));
  for (int64_t k = 0; k < warm; ++k) passes.push_back(At(s, true, k));
  for (int64_t k = warm; k < all; ++k) {
    passes.push_back(At(s, true, k));
    passes.back().merged = s.overlap_expert;
    passes.push_back(At(s, false, k - warm));
  }
  for (int64_t k = all - warm; k < all; ++k) passes.push_back(At(s, false, k));
  return passes;
}

int64_t MostInFlight(const std::vector<Pass>& passes) {
  int64_t now = 0, most = 0;
  for (const Pass& p : passes) {
    if (p.part == Pass::kWeights) continue;
    now += p.forward ? 1 : -1;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace chakra::generate
