#include "replay/report/links_csv.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr size_t kFlushAt = 1 << 16;

std::string Head(const LinkUse& use) {
  return absl::StrCat(use.link, ",", CsvField(ToUtf8(use.name)), ",", CsvField(ToUtf8(use.link_class)), ",");
}

}  // namespace

absl::Status WriteLinkSeries(const LinkUses& links, const WriteBytes& write) {
  std::string out = "link,name,class,begin_ps,end_ps,share,queued_bytes";
  for (const LinkCount& count : kLinkCounts) absl::StrAppend(&out, ",", count.name);
  out += '\n';
  const int64_t bucket = links.bucket.picos();
  for (const LinkUse& use : links.busiest) {
    const std::string head = Head(use);
    for (size_t i = 0; i < use.series.size(); ++i) {
      const int64_t begin = bucket * static_cast<int64_t>(i);
      absl::StrAppend(&out, head, begin, ",", begin + bucket, absl::StrFormat(",%.6f,", use.series[i]));
      const bool packets = i < use.queued.size();
      if (packets) absl::StrAppend(&out, use.queued[i]);
      for (const std::vector<uint64_t>& count : use.counts) {
        out += ',';
        if (packets) absl::StrAppend(&out, count.empty() ? 0 : count[i]);
      }
      out += '\n';
      if (out.size() < kFlushAt) continue;
      if (absl::Status s = write(out); !s.ok()) return s;
      out.clear();
    }
  }
  return write(out);
}

absl::Status WriteLinkTotals(const LinkUses& links, bool packets, Time end, const WriteBytes& write) {
  std::string out =
      "link,name,class,dimension,bandwidth_bytes_per_s,bytes,flows,utilization,peak,packets,marks,drops,"
      "trims,pauses,most_queued_bytes,lost,paused_ps\n";
  for (const LinkUse& use : links.busiest) {
    const double most = static_cast<double>(use.bandwidth.bytes_per_second()) * end.seconds();
    const double utilization = most > 0 ? static_cast<double>(use.bytes) / most : 0;
    absl::StrAppend(&out, Head(use), use.dimension, ",", use.bandwidth.bytes_per_second(), ",", use.bytes,
                    ",", use.flows, absl::StrFormat(",%.6f,%.6f,", utilization, use.peak));
    if (packets) {
      absl::StrAppend(&out, use.packets, ",", use.marks, ",", use.drops, ",", use.trims, ",", use.pauses, ",",
                      use.most_queued, ",", use.lost, ",", use.paused, "\n");
    } else {
      out += ",,,,,,,\n";
    }
  }
  return write(out);
}

}  // namespace chakra
