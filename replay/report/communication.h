// The cost of communication: by kind and dimension of the split, and by group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/report.pb.h"
#include "trace/base/text_page.h"

namespace chakra {

// The dimension of the split that a group belongs to: its name without the number at its end ("tp" of "tp8",
// "job1/dp" of "job1/dp12"). If the rest of the name is empty or has digits in it, the ranks of the group ("8
// ranks, 4 apart"). A group without a name is "all ranks".
std::string GroupDimension(absl::string_view group, const std::vector<int>& ranks);

// "  ... and 12 more ranks (all are in --format json)"; "" if `rest` is 0 or less
std::string MoreRows(int64_t rest, absl::string_view what);

// The section of the text report. Groups that differ only in their ranks share a row. A sum by kind and
// dimension comes first if it has fewer rows.
std::string PrintCommunication(const proto::Report& r, TextPage* page);

}  // namespace chakra
