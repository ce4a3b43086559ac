#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/doctor/doctor.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/io/printable_message.h"

namespace chakra::doctor {
namespace {

constexpr size_t kWidth = 110;  // width of wrapped text if the output is a file
constexpr int kShownFiles = 5;  // of each kind
constexpr int kShownNotes = 6;

std::string Plural(uint64_t n, absl::string_view thing) {
  return absl::StrCat(FormatCount(n), " ", thing, n == 1 ? "" : "s");
}

std::string Facts(const proto::FoundRun& run) {
  std::string out = absl::StrCat("  ", Plural(static_cast<uint64_t>(run.ranks()), "rank"), ", ",
                                 Plural(run.nodes(), "node"), ": ", FormatCount(run.device_nodes()),
                                 " on devices, ", Plural(run.collectives(), "collective or message"));
  if (run.collectives() != 1)
    out = absl::StrCat(out.substr(0, out.rfind("collective")), "collectives and messages");
  absl::StrAppend(&out, run.span_ps() > 0
                            ? absl::StrCat("; recorded ", FormatTime(Time::Picos(run.span_ps())))
                            : "; no recorded times");
  return out + "\n";
}

void PrintRun(const proto::FoundRun& run, size_t width, std::string* out) {
  absl::StrAppend(out, absl::StrJoin(run.input(), " "), "\n  ", run.title(), ", ", FormatBytes(run.bytes()),
                  "\n");
  if (!run.error().empty()) {
    absl::StrAppend(out, WrapText("  cannot be read: ", run.error(), "    ", width), "\n");
    return;
  }
  if (run.unread()) {
    absl::StrAppend(out, "  not read, because of its size (--all reads it)\n");
  } else {
    absl::StrAppend(out, Facts(run));
    if (!run.lack().empty() || run.refused().empty())
      absl::StrAppend(out, run.lack().empty() ? "  nothing is missing for a replay\n" : "  missing:\n");
  }
  for (const proto::Lack& l : run.lack()) {
    absl::StrAppend(out, WrapText("  - ", absl::StrCat(l.what(), ": ", l.cost()), "    ", width));
    if (!l.remedy().empty()) absl::StrAppend(out, WrapText("    ", l.remedy(), "    ", width));
  }
  if (!run.refused().empty())
    absl::StrAppend(out, WrapText("  a replay stops: ", run.refused(), "    ", width));
  int shown = 0;
  for (const std::string& n : run.note()) {
    if (shown++ == kShownNotes) {
      absl::StrAppend(out, "  and ",
                      Plural(static_cast<uint64_t>(run.note_size() - kShownNotes), "more note"),
                      " (--format json has them)\n");
      break;
    }
    absl::StrAppend(out, WrapText("  note: ", n, "    ", width));
  }
  absl::StrAppend(out, "  next: ", run.next(), "\n\n");
}

// Groups files by kind.
void PrintFiles(const proto::Diagnosis& diagnosis, size_t width, std::string* out) {
  std::map<std::string, std::vector<const proto::FoundFile*>> kinds;
  std::vector<std::string> order;
  for (const proto::FoundFile& f : diagnosis.file()) {
    auto& files = kinds[f.what()];
    if (files.empty()) order.push_back(f.what());
    files.push_back(&f);
  }
  if (!order.empty()) absl::StrAppend(out, "Other files\n");
  for (const std::string& what : order) {
    const auto& files = kinds[what];
    int shown = 0;
    for (const proto::FoundFile* f : files) {
      if (shown++ == kShownFiles) {
        absl::StrAppend(out, "  and ", FormatCount(files.size() - kShownFiles), " more of that kind\n");
        break;
      }
      absl::StrAppend(out, WrapText("  ", absl::StrCat(f->path(), ": ", what), "    ", width));
      if (!f->remedy().empty()) absl::StrAppend(out, WrapText("    ", f->remedy(), "    ", width));
      if (!f->next().empty()) absl::StrAppend(out, "    next: ", f->next(), "\n");
    }
  }
}

}  // namespace

std::string PrintDiagnosis(const proto::Diagnosis& as_read, TextPage* page) {
  const proto::Diagnosis diagnosis = PrintableCopy(as_read);
  const size_t width = page != nullptr && page->limited() ? page->width() : kWidth;
  std::string out = absl::StrCat(Plural(diagnosis.files(), "file"), ": ",
                                 Plural(static_cast<uint64_t>(diagnosis.run_size()), "run"), ", ",
                                 Plural(static_cast<uint64_t>(diagnosis.file_size()), "other file"), "\n\n");
  for (const proto::FoundRun& run : diagnosis.run()) PrintRun(run, width, &out);
  PrintFiles(diagnosis, width, &out);
  for (const std::string& note : diagnosis.note())
    absl::StrAppend(&out, WrapText("note: ", note, "  ", width));
  if (diagnosis.run_size() == 0) {
    absl::StrAppend(
        &out,
        "No trace was found. `chakra-replay record-help torch` says how to record one (also nsys, jax, "
        "rocprof, nccl);\n`chakra-replay replay --model llama3-8b --parallel dp=8 --training "
        "global_batch=32` needs none.\n");
  }
  return out;
}

}  // namespace chakra::doctor
