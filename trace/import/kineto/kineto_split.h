// Takes the ranks of a file that holds several apart.
#pragma once

#include <string>
#include <vector>

#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/kineto/kineto_labels.h"
#include "trace/import/kineto/kineto_rows.h"

namespace chakra::pytorch::kineto {

// One of several ranks, with the ends of its arrows.
struct SplitRank {
  RankPart part;
  std::vector<FlowEnd> flows;
};

// The ranks of `all`, by `labels`, which has rows. Each has its own rows, and the columns that these need;
// `all.rank` counts for none, for it is that of one of them.
std::vector<SplitRank> SplitByLabel(const DeviceTrace& all, const LaneLabels& labels,
                                    const std::vector<FlowEnd>& flows);

}  // namespace chakra::pytorch::kineto
