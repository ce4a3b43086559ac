// Prints the critical path of a report for people.
#pragma once

#include <string>

#include "proto/report.pb.h"
#include "trace/base/text_page.h"

namespace chakra {

// Tables of the causes of the makespan, the effects of changes, and the stragglers. Empty if the report has
// no critical path. `page` as for PrintReport().
std::string PrintCriticalPath(const proto::Report& report, TextPage* page);

}  // namespace chakra
