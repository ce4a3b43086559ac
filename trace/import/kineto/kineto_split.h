// Splits a file that holds several ranks.
#pragma once

#include <string>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/kineto/kineto_labels.h"
#include "trace/import/kineto/kineto_rows.h"

namespace chakra::pytorch::kineto {

// One rank of the file, with the ends of its arrows.
struct SplitRank {
  RankPart part;
  std::vector<FlowEnd> flows;
};

// The ranks of `all`. `labels` must have rows. Each rank gets its own events and the rows that these refer
// to. `all.rank` is not used: it is the rank of only one of them.
std::vector<SplitRank> SplitByLabel(const DeviceTrace& all, const LaneLabels& labels,
                                    const std::vector<FlowEnd>& flows);

}  // namespace chakra::pytorch::kineto
