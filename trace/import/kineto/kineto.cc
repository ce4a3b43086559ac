#include "trace/import/kineto/kineto.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"
#include "trace/import/kineto/kineto_event.h"
#include "trace/import/kineto/kineto_finish.h"
#include "trace/import/kineto/kineto_head.h"
#include "trace/import/kineto/kineto_labels.h"
#include "trace/import/kineto/kineto_notes.h"
#include "trace/import/kineto/kineto_rows.h"
#include "trace/import/kineto/kineto_scan.h"
#include "trace/import/kineto/kineto_split.h"
#include "trace/import/kineto/kineto_text.h"

namespace chakra::pytorch {
namespace {

constexpr absl::string_view kDistributed = "distributedInfo", kDevices = "deviceProperties",
                            kBase = "baseTimeNanoseconds";

absl::Status ReadMember(const kineto::Scan& scan, absl::string_view file, DeviceTrace* out, int64_t* base,
                        kineto::Notes* notes) {
  if (scan.key() == kDistributed) {
    return kineto::ReadDistributedInfo(scan.value(), file, scan.byte(), out, notes);
  }
  if (scan.key() == kDevices) return kineto::ReadDeviceProperties(scan.value(), file, scan.byte(), out);
  if (!kineto::ToInteger(scan.value(), base) || *base < 0 || *base > int64_t{1} << 62) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": \"", kBase, "\" at byte ", scan.byte(), " is ",
                                                   scan.value().substr(0, 40),
                                                   "; expected nanoseconds of the epoch"));
  }
  return absl::OkStatus();
}

void CountRepairs(const kineto::Scan& scan, const kineto::EventReader& reader, kineto::Notes* notes) {
  if (scan.truncated()) {
    notes->Count("truncated_kineto", scan.events(),
                 absl::StrCat("the file ends at byte ", scan.byte(), ", before the end of its JSON; ",
                              scan.events(), " whole events were read"));
  }
  if (scan.trailing_commas() > 0) {
    notes->Count("kineto_trailing_comma", scan.events(), "a comma before the end of the events",
                 scan.trailing_commas());
  }
  if (reader.bad_utf8() > 0)
    notes->Count("kineto_bad_utf8", 0, "bytes that are not UTF-8, read as '?'", reader.bad_utf8());
  if (reader.bad_controls() > 0) {
    notes->Count("kineto_control_character", 0, "control characters within strings, read as spaces",
                 reader.bad_controls());
  }
}

absl::Status HoldsSeveralRanks(absl::string_view file, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      file, ": several ranks in one file: ", why,
      "; expected a file for each rank, or processes with labels that name their ranks (\"[TP00] 4711\")"));
}

// Moves the ranks of a file to `parts`. Repairs of the whole file are reported for the first rank only.
absl::StatusOr<DeviceTrace> TakeApart(const DeviceTrace& all, const kineto::LaneLabels& labels,
                                      const std::vector<kineto::FlowEnd>& flows, kineto::Notes* notes,
                                      std::vector<RankPart>* parts) {
  if (parts == nullptr) return HoldsSeveralRanks(all.file, "its processes belong to several ranks");
  for (kineto::SplitRank& rank : kineto::SplitByLabel(all, labels, flows)) {
    kineto::Notes own = std::move(*notes);
    kineto::ResolveFlows(&rank.flows, rank.part.device.get(), &own);
    kineto::InspectCorrelations(rank.part.device.get(), &own);
    rank.part.device->strings.Shrink();
    rank.part.device->repairs = own.Take(all.file, kNoRank);
    *notes = kineto::Notes();
    parts->push_back(std::move(rank.part));
  }
  DeviceTrace rest;
  rest.file = all.file;
  return rest;
}

}  // namespace

absl::StatusOr<DeviceTrace> ReadKineto(ByteSource* source, absl::string_view file,
                                       std::vector<RankPart>* parts) {
  DeviceTrace out;
  out.file = std::string(file);
  kineto::Notes notes;
  kineto::Scan scan(source, file, {std::string(kDistributed), std::string(kDevices), std::string(kBase)});
  kineto::EventReader reader(file);
  kineto::RowBuilder rows(file, &out, &notes);
  int64_t base = 0;
  for (;;) {
    ASSIGN_OR_RETURN(auto item, scan.Next());
    if (item == kineto::Scan::Item::kEnd) break;
    RETURN_IF_ERROR(item == kineto::Scan::Item::kEvents ? reader.Read(scan.batch(), &rows)
                                                        : ReadMember(scan, file, &out, &base, &notes));
  }
  if (!scan.has_events()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ends at byte ", scan.byte(),
                                                   " without \"traceEvents\"; expected a Kineto trace"));
  }
  rows.Finish();
  CountRepairs(scan, reader, &notes);
  RETURN_IF_ERROR(kineto::LeaveOutLost(file, &out, &notes));
  kineto::SetBase(base, &out, &rows.flows(), &notes);
  kineto::SortEvents(&out);
  const absl::StatusOr<kineto::LaneLabels> labels = kineto::FindRanks(out, rows.processes());
  if (!labels.ok()) return HoldsSeveralRanks(file, labels.status().message());
  if (labels->any()) return TakeApart(out, *labels, rows.flows(), &notes, parts);
  rows.JoinStreams();
  kineto::ResolveFlows(&rows.flows(), &out, &notes);
  kineto::InspectCorrelations(&out, &notes);
  out.strings.Shrink();
  out.repairs = notes.Take(file, out.rank);
  return out;
}

bool LooksLikeKineto(absl::string_view head) {
  absl::ConsumePrefix(&head, "\xef\xbb\xbf");
  const size_t begin = head.find_first_not_of(" \n\r\t");
  if (begin == absl::string_view::npos) return false;
  head.remove_prefix(begin);
  if (head[0] == '[') return absl::StrContains(head, "\"ph\"");
  // XProf's JSON view of a JAX profile
  if (head[0] != '{' || absl::StrContains(head, "\"highres-ticks\"")) return false;
  // The members that Kineto writes before "traceEvents" may fill the whole head.
  return absl::StrContains(head, "\"traceEvents\"") || absl::StrContains(head, "\"deviceProperties\"") ||
         absl::StrContains(head, "\"baseTimeNanoseconds\"");
}

}  // namespace chakra::pytorch
