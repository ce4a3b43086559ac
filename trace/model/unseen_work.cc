#include "trace/model/unseen_work.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/base/text_table.h"

namespace chakra {

std::string Describe(const UnseenWork& unseen) {
  std::string out;
  const auto add = [&](uint64_t part, uint64_t all, absl::string_view what) {
    if (part == 0) return;
    absl::StrAppend(&out, out.empty() ? "" : " and ", FormatCount(part), " of ", FormatCount(all),
                    " launches of ", what);
  };
  add(unseen.launches_unseen, unseen.launches, "kernels");
  add(unseen.graphs_unseen, unseen.graphs, "graphs");
  if (!out.empty()) absl::StrAppend(&out, " have no operation of the device in the capture");
  if (unseen.unknown == 0) return out;
  return absl::StrCat(out, out.empty() ? "" : "; ", "no operation of a device was found, but ",
                      FormatCount(unseen.unknown), " events that may be device operations were left out");
}

UnseenWork UnseenOf(const TraceSet& traces) {
  UnseenWork sum;
  const std::pair<absl::string_view, uint64_t*> fields[] = {{"launches", &sum.launches},
                                                            {"launches_unseen", &sum.launches_unseen},
                                                            {"graphs", &sum.graphs},
                                                            {"graphs_unseen", &sum.graphs_unseen},
                                                            {"unknown_events", &sum.unknown}};
  for (const RankTrace& rank : traces.ranks) {
    ChakraProtoMsg::GlobalMetadata metadata;
    // Few traces have these attributes: do not parse the metadata of others.
    if (!absl::StrContains(rank.metadata, "unknown_events") || !metadata.ParseFromString(rank.metadata))
      continue;
    for (const auto& attr : metadata.attr()) {
      for (const auto& [name, field] : fields) {
        if (attr.name() == name && attr.int64_val() > 0) *field += static_cast<uint64_t>(attr.int64_val());
      }
    }
  }
  return sum;
}

}  // namespace chakra
