#include "trace/import/hlo/messages.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace chakra::hlo {

void TagMessages(std::vector<StepCollective>* collectives) {
  std::map<int64_t, std::set<CollectiveKind>> on_channel;
  for (const StepCollective& c : *collectives) on_channel[c.what.what->channel].insert(c.what.kind);
  std::map<std::pair<int64_t, std::vector<std::pair<int64_t, int64_t>>>, uint32_t> tags;
  for (uint32_t row = 0; row < collectives->size(); ++row) {
    StepCollective& c = (*collectives)[row];
    c.tag = row;
    if (c.what.kind != CollectiveKind::kSend && c.what.kind != CollectiveKind::kRecv) continue;
    const int64_t channel = c.what.what->channel;
    const std::set<CollectiveKind>& kinds = on_channel[channel];
    const bool both =
        channel > 0 && kinds.contains(CollectiveKind::kSend) && kinds.contains(CollectiveKind::kRecv);
    std::vector<std::pair<int64_t, int64_t>> pairs;
    if (!both) pairs = c.pairs;
    c.tag = tags.try_emplace({both ? channel : 0, std::move(pairs)}, row).first->second;
  }
}

}  // namespace chakra::hlo
