#include "replay/cli/timeline_options.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"
#include "trace/base/status_macros.h"

namespace chakra::cli {
namespace {

constexpr size_t kLinks = 16;  // number of links with counters

}  // namespace

void TimelineOptions::AddTo(CLI::App* app, const std::string& group) {
  app->add_option(
         "--timeline", output_.path,
         "Write all nodes on their lanes over time, for ui.perfetto.dev or Chrome's viewers. By the ending: "
         ".perfetto-trace and .pftrace for ui.perfetto.dev, .json for chrome://tracing and the Performance "
         "panel of DevTools; .gz compresses.")
      ->type_name("FILE|-")
      ->group(group);
  app->add_option("--timeline-format", format_name_,
                  "Format of --timeline: perfetto or json; default: by the ending of its name.")
      ->type_name("FORMAT")
      ->group(group);
  app->add_option("--timeline-ranks", ranks_text_, "Ranks of --timeline, as 0-7,16 or 0-254/2; default: all.")
      ->type_name("LIST")
      ->group(group);
  app->add_option("--timeline-nodes", most_nodes_,
                  absl::StrCat("Limit of nodes in --timeline; 0: no limit; default: ", kTimelineNodes,
                               ". Ranks beyond it are left out."))
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""))
      ->group(group);
}

absl::Status TimelineOptions::Check(const CLI::App& app, const std::vector<NamedOutput>& others) {
  if (!asked()) {
    if (app.count("--timeline") > 0)
      return absl::InvalidArgumentError("--timeline names no file; expected a name, or -");
    for (const char* option : {"--timeline-format", "--timeline-ranks", "--timeline-nodes"}) {
      if (app.count(option) > 0) return absl::InvalidArgumentError(absl::StrCat(option, " needs --timeline"));
    }
    return absl::OkStatus();
  }
  const auto format =
      app.count("--timeline-format") > 0 ? ParseTimelineFormat(format_name_) : TimelineFormatOf(output_.path);
  if (!format.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(app.count("--timeline-format") > 0 ? "--timeline-format " : "--timeline ",
                     format.status().message()));
  }
  format_ = *format;
  if (app.count("--timeline-ranks") > 0) {
    auto ranks = ParseTimelineRanks(ranks_text_);
    if (!ranks.ok())
      return absl::InvalidArgumentError(absl::StrCat("--timeline-ranks ", ranks.status().message()));
    ranks_ = *std::move(ranks);
  }
  return CheckApart({output_.path, "--timeline"}, others);
}

absl::Status TimelineOptions::Finish(TimelineInput input, const MachineView& machine) {
  if (!asked()) return absl::OkStatus();
  const LinkUses links = machine.Links(kLinks);
  input.links = &links;
  input.ranks = ranks_;
  input.most_nodes = most_nodes_;
  const auto write = [this](absl::string_view bytes) { return output_.Append(bytes); };
  ASSIGN_OR_RETURN(const TimelineTotals totals, WriteTimeline(input, format_, write));
  RETURN_IF_ERROR(output_.Finish());
  if (!totals.left_out.empty()) PrintError(totals.left_out);
  return absl::OkStatus();
}

}  // namespace chakra::cli
