// What a report's text says of cost, carbon, and how numbers came about.
#pragma once

#include <string>

#include "proto/report.pb.h"
#include "trace/base/text_page.h"

namespace chakra {

// "": the report has none.
std::string PrintCost(const proto::Report& report, TextPage* page);
std::string PrintCarbon(const proto::Report& report, TextPage* page);
std::string PrintExplained(const proto::Report& report);

}  // namespace chakra
