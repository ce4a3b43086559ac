#include "trace/import/pytorch/kineto.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/import/pytorch/kineto_event.h"
#include "trace/import/pytorch/kineto_finish.h"
#include "trace/import/pytorch/kineto_head.h"
#include "trace/import/pytorch/kineto_notes.h"
#include "trace/import/pytorch/kineto_rows.h"
#include "trace/import/pytorch/kineto_scan.h"
#include "trace/import/pytorch/kineto_text.h"

namespace chakra::pytorch {
namespace {

constexpr absl::string_view kDistributed = "distributedInfo", kDevices = "deviceProperties",
                            kBase = "baseTimeNanoseconds", kMetadata = "metadata";

// XProf's and TensorBoard's view of a JAX or TensorFlow profile: it names neither launches nor kinds of
// events.
absl::Status IsXprofView(absl::string_view file) {
  return absl::InvalidArgumentError(absl::StrCat(
      file,
      ": a view that XProf or TensorBoard made of a JAX profile, without what launched what; expected the "
      "profile itself: give the *.xplane.pb beside it (LOGDIR/plugins/profile/RUN/HOST.xplane.pb)"));
}

absl::Status ReadMember(const kineto::Scan& scan, absl::string_view file, DeviceTrace* out, int64_t* base,
                        bool* xprof, kineto::Notes* notes) {
  if (scan.key() == kMetadata) {
    *xprof = absl::StrContains(scan.value(), "\"highres-ticks\"");
    return absl::OkStatus();
  }
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
                 absl::StrCat("the file ends at byte ", scan.byte(), ", before its JSON does; ",
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

}  // namespace

absl::StatusOr<DeviceTrace> ReadKineto(ByteSource* source, absl::string_view file) {
  DeviceTrace out;
  out.file = std::string(file);
  kineto::Notes notes;
  kineto::Scan scan(
      source, file,
      {std::string(kDistributed), std::string(kDevices), std::string(kBase), std::string(kMetadata)});
  bool xprof = false;
  kineto::EventReader reader(file);
  kineto::RowBuilder rows(file, &out, &notes);
  int64_t base = 0;
  for (;;) {
    auto item = scan.Next();
    if (!item.ok()) return item.status();
    if (*item == kineto::Scan::Item::kEnd) break;
    const absl::Status status = *item == kineto::Scan::Item::kEvents
                                    ? reader.Read(scan.batch(), &rows)
                                    : ReadMember(scan, file, &out, &base, &xprof, &notes);
    if (!status.ok()) return status;
  }
  if (!scan.has_events()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ends at byte ", scan.byte(),
                                                   " without \"traceEvents\"; expected a Kineto trace"));
  }
  if (xprof && out.events.empty()) return IsXprofView(file);
  rows.Finish();
  CountRepairs(scan, reader, &notes);
  kineto::SetBase(base, &out, &rows.flows(), &notes);
  kineto::SortEvents(&out);
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
  if (head[0] != '{') return false;
  // Members that Kineto writes before the events may fill the head.
  return absl::StrContains(head, "\"traceEvents\"") || absl::StrContains(head, "\"deviceProperties\"") ||
         absl::StrContains(head, "\"baseTimeNanoseconds\"");
}

}  // namespace chakra::pytorch
