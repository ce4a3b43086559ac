// When the stages of a pipeline run their passes, from the times of passes alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "trace/generate/schedule.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// Times of passes, in picoseconds, by piece of the model (pp * vpp of them, in the order of layers).
struct PassTimes {
  std::vector<double> forward, backward;
  // Of these: computation, behind which a merged pass hides the exchanges of the other.
  std::vector<double> forward_compute, backward_compute;
  std::vector<double> tail;     // of `backward`: work behind what is sent on
  std::vector<double> weights;  // of `backward`: gradients of weights, which a schedule may put off
  std::vector<double> between;  // by boundary of stages, pp - 1: of a message
  double hidden = 1;            // share of exchanges that merged passes hide
  double slowdown = 0;          // how much longer computations of merged passes take beside exchanges
};

struct PipelineTimes {
  double end = 0;                     // of the last pass
  std::vector<double> stage_end;      // of the last pass of each stage
  std::vector<double> first_forward;  // by stage: when its first pass begins
  // By piece: when its backward pass of the last micro-batch begins, or what is put off of it; of two stages'
  // the later.
  std::vector<double> last_backward;
  std::vector<double> busy;  // by stage
};

// Recurrences over the passes of generate::PassesOf(): a pass begins when its stage is free and what it needs
// has come. Of many micro-batches only as many are looked at as the pipeline needs to come into its rhythm;
// the others add a period each. Two passes that are merged begin when both may, and take what their
// computations take together, or what the longer takes alone. Remembers the order of the passes of each shape
// of pipeline.
class Pipelines {
 public:
  PipelineTimes Run(const generate::Split& split, int64_t micro_batches, const PassTimes& times);

 private:
  struct Step {
    int32_t stage = 0, piece = 0, needs = -1;  // index of the step that it waits for; -1: none
    bool forward = true;
    bool merged = false;  // with the next step
    bool last = false;    // micro-batch of its way
    generate::Pass::Part part = generate::Pass::kWhole;
  };
  using Key = std::tuple<int64_t, int64_t, int64_t, int, bool>;
  const std::vector<Step>& OrderOf(const generate::Split& split, int64_t micro_batches);
  // When what a step waits for has come.
  double ReadyAt(const std::vector<Step>& order, const Step& step, const PassTimes& times) const;
  static double Takes(const Step& step, const PassTimes& times);
  PipelineTimes RunAll(const generate::Split& split, int64_t micro_batches, const PassTimes& times);

  std::map<Key, std::unique_ptr<std::vector<Step>>> orders_;
  std::vector<double> ready_, free_;
};

}  // namespace chakra::planning
