// The text of a report on cost and carbon, and on how numbers were computed.
#pragma once

#include <string>

#include "proto/report.pb.h"
#include "trace/base/text_page.h"

namespace chakra {

// Each returns "" if the report has no such part.
std::string PrintCost(const proto::Report& report, TextPage* page);
std::string PrintCarbon(const proto::Report& report, TextPage* page);
std::string PrintExplained(const proto::Report& report);

}  // namespace chakra
