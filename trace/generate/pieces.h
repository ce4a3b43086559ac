// Which layers of the model each pipeline stage has, and which way micro-batches pass the stages.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// The place of a piece of the model: a stage, and which of the stage's pieces.
struct PieceSpot {
  int64_t stage = 0, piece = 0;
};

// The number in StepPlan::pieces of piece `piece` of `stage`. Piece i is on stage i mod pp. "dualpipev": on
// stage i of the way there and 2 pp - 1 - i of the way back. "dualpipe": each is on two stages, i and pp - 1
// - i, of which one's micro-batches go from stage 0 to the last and the other's the other way; a stage's
// piece 0 is the nearer to its end.
int64_t PieceOf(const Split& split, int64_t stage, int64_t piece);

// Whether micro-batches that pass piece `number` on `stage` go from the last stage to stage 0.
bool GoesBack(const Split& split, int64_t stage, int64_t number);

// Where piece `number` is for micro-batches that go back, or that do not.
PieceSpot SpotOf(const Split& split, int64_t number, bool back);

// What Parallel::layout says of vpp, which then may stay open. Errors (InvalidArgument) name the field.
absl::Status TakeLayout(const proto::Parallel& parallel, Split* split);

// The layers of each piece by Parallel::layout, first_layers and last_layers; else in equal shares, or, where
// those do not divide and the model is uneven, as even as can be. Errors (InvalidArgument) name the field,
// its value and the nearest that would do.
absl::StatusOr<std::vector<Piece>> LayPieces(const proto::Workload& workload, const ModelSize& model,
                                             const Split& split);

}  // namespace chakra::generate
