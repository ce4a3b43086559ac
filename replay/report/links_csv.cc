#include "replay/report/links_csv.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/report/columns.h"
#include "replay/report/report.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr size_t kFlushAt = 1 << 16;

std::string LinksHead(const LinkUse& use) {
  return absl::StrCat(use.link, ",", CsvField(ToUtf8(use.name)), ",", CsvField(ToUtf8(use.link_class)), ",");
}

}  // namespace

absl::Status WriteLinkSeries(const LinkUses& links, const WriteBytes& write) {
  std::string out = "link,name,class,begin_ps,end_ps,share,queued_bytes";
  for (const LinkCount& count : kLinkCounts) absl::StrAppend(&out, ",", count.name);
  out += '\n';
  const int64_t bucket = links.bucket.picos();
  for (const LinkUse& use : links.busiest) {
    const std::string head = LinksHead(use);
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
      RETURN_IF_ERROR(write(out));
      out.clear();
    }
  }
  return write(out);
}

absl::Status WriteLinkTotals(const LinkUses& links, bool packets, Time end, const WriteBytes& write) {
  const std::vector<ReportColumn> columns = ColumnsOf(*proto::LinkReport::descriptor(), View::kCsv);
  std::string out = "link,name,class,dimension";
  for (const ReportColumn& c : columns) absl::StrAppend(&out, ",", c.name());
  out += '\n';
  for (const LinkUse& use : links.busiest) {
    const proto::LinkReport totals = LinkTotalsOf(use, end);
    absl::StrAppend(&out, LinksHead(use), use.dimension);
    for (const ReportColumn& c : columns) {
      const bool empty = !packets && c.shown->group() == "packets";
      absl::StrAppend(&out, ",", empty ? "" : CsvOf(totals, c));
    }
    out += '\n';
  }
  return write(out);
}

}  // namespace chakra
