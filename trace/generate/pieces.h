// The layers of each pipeline stage, and the direction in which micro-batches pass the stages.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/workload.pb.h"
#include "trace/generate/sizes.h"

namespace chakra::generate {

// The position of a piece of the model: a stage, and the index of the piece on the stage.
struct PieceSpot {
  int64_t stage = 0, piece = 0;
};

// The index in StepPlan::pieces of piece `piece` of `stage`. Piece i is on stage i mod pp. With "dualpipev",
// stage i has piece i of the way to the last stage and piece 2 pp - 1 - i of the way back. With "dualpipe",
// each piece is on two stages, i and pp - 1 - i: one's micro-batches go from stage 0 to the last stage, the
// other's in the opposite direction. Piece 0 of a stage is the one for micro-batches that enter at the nearer
// end.
int64_t PieceOf(const Split& split, int64_t stage, int64_t piece);

// Whether the micro-batches that pass piece `number` on `stage` go from the last stage to stage 0.
bool GoesBack(const Split& split, int64_t stage, int64_t number);

// The position of piece `number` for micro-batches that go back, or that do not.
PieceSpot SpotOf(const Split& split, int64_t number, bool back);

// Sets vpp by Parallel::layout, if it is not given. Errors (InvalidArgument) name the field.
absl::Status TakeLayout(const proto::Parallel& parallel, Split* split);

// The layers of each piece by Parallel::layout, first_layers and last_layers. Without these, all pieces have
// equal shares, or shares that are as equal as possible if the layers do not divide and the model is uneven.
// Errors (InvalidArgument) name the field, its value and the nearest valid value.
absl::StatusOr<std::vector<Piece>> LayPieces(const proto::Workload& workload, const ModelSize& model,
                                             const Split& split);

}  // namespace chakra::generate
