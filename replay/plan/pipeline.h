// When the stages of a pipeline run their passes, computed only from the times of passes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "trace/generate/schedule.h"
#include "trace/generate/sizes.h"

namespace chakra::planning {

// Times of passes, in picoseconds, by piece of the model. There are pp * vpp pieces, in the order of layers.
struct PassTimes {
  std::vector<double> forward, backward;
  // The computation in `forward` and `backward`. A merged pass hides the exchanges of the other pass behind
  // it.
  std::vector<double> forward_compute, backward_compute;
  std::vector<double> tail;     // part of `backward`: work after the gradient was sent to the previous stage
  std::vector<double> weights;  // part of `backward`: gradients of weights, which a schedule may defer
  std::vector<double> between;  // by boundary of stages (pp - 1 of them): the time of a message
  double hidden = 1;            // share of exchanges that merged passes hide
  double slowdown = 0;          // share by which computations of merged passes take longer during exchanges
};

struct PipelineTimes {
  double end = 0;                     // end of the last pass
  std::vector<double> stage_end;      // by stage: end of its last pass
  std::vector<double> first_forward;  // by stage: start of its first pass
  // By piece: start of its backward pass of the last micro-batch, or of the deferred part of that pass. If
  // two stages run the piece, the later start.
  std::vector<double> last_backward;
  std::vector<double> busy;  // by stage: total time of its passes
};

// Recurrences over the passes of generate::PassesOf(): a pass begins when its stage is free and its input has
// arrived. Of many micro-batches, only those until the pipeline is periodic are computed; the others add a
// period each. Two merged passes begin when both may; they take the sum of their computations, or the longer
// pass by itself. Caches the order of the passes for each shape of pipeline.
class Pipelines {
 public:
  PipelineTimes Run(const generate::Split& split, int64_t micro_batches, const PassTimes& times);

 private:
  struct Step {
    int32_t stage = 0, piece = 0, needs = -1;  // index of the step that it waits for; -1: none
    bool forward = true;
    bool merged = false;  // merged with the next step
    bool last = false;    // of the last micro-batch in its direction
    generate::Pass::Part part = generate::Pass::kWhole;
  };
  using Key = std::tuple<int64_t, int64_t, int64_t, int, bool>;
  const std::vector<Step>& OrderOf(const generate::Split& split, int64_t micro_batches);
  // When the input of a step has arrived.
  double ReadyAt(const std::vector<Step>& order, const Step& step, const PassTimes& times) const;
  static double Takes(const Step& step, const PassTimes& times);
  PipelineTimes RunAll(const generate::Split& split, int64_t micro_batches, const PassTimes& times);

  std::map<Key, std::unique_ptr<std::vector<Step>>> orders_;
  std::vector<double> ready_, free_;
};

}  // namespace chakra::planning
