// What communication costs: by kind and dimension of the split, and by group.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/report.pb.h"
#include "trace/base/text_page.h"

namespace chakra {

// The dimension of the split that a group belongs to: its name without the number at its end ("tp" of "tp8",
// "job1/dp" of "job1/dp12"); of a name that is a number or has numbers in it, the ranks of the group ("8
// ranks, 4 apart"). "" is all ranks.
std::string GroupDimension(absl::string_view group, const std::vector<int>& ranks);

// "  ... and 12 more ranks (all are in --format json)", or nothing where `rest` is 0.
std::string MoreRows(int64_t rest, absl::string_view what);

// The section of the text report: groups that are alike in one row, and before them a sum by kind and
// dimension where that has fewer rows.
std::string PrintCommunication(const proto::Report& r, TextPage* page);

}  // namespace chakra
