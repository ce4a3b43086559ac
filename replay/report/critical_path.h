// The critical path of a report, for people.
#pragma once

#include <string>

#include "proto/report.pb.h"
#include "trace/base/text_page.h"

namespace chakra {

// Tables of what the run took its time for, what changes would give, and who kept others waiting. Empty where
// the report has no critical path. `page` as for PrintReport().
std::string PrintCriticalPath(const proto::Report& report, TextPage* page);

}  // namespace chakra
