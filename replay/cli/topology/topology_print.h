// The answers of `topology` as text.
#pragma once

#include <string>
#include <vector>

#include "proto/topology_report.pb.h"
#include "trace/base/text_page.h"

namespace chakra::cli {

// `page` is used as in PrintReport(). Lists have lines of at most 80 columns where words allow it.
std::string PrintNetworkList(const proto::NetworkList& list, TextPage* page);
// One kind of network, with each parameter on its own lines.
std::string PrintNetworkKind(const proto::NetworkKindReport& kind, TextPage* page);

std::string PrintTopology(const proto::TopologyReport& report, TextPage* page);
std::string PrintFindings(const proto::TopologyReport& report);

// The lines under the title of a drawing.
std::vector<std::string> DrawingFigures(const proto::TopologyReport& report);

}  // namespace chakra::cli
