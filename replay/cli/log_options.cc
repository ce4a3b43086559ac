#include "replay/cli/log_options.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/registry.h"
#include "replay/cli/command.h"
#include "replay/report/links_csv.h"
#include "replay/run/arguments.h"
#include "trace/base/status_macros.h"

namespace chakra::cli {
void LogOptions::AddTo(CLI::App* app, const std::string& group) {
  const std::string follow = AnyOf(FabricsThatFollowLinks());
  app->add_option("--flow-log", flows_.path,
                  "Write all flows as CSV: when each starts, arrives, and would arrive without other "
                  "traffic. No closed form "
                  "is used then, as with --no-fast-path. - is standard output; .gz and .zst compress.")
      ->type_name("FILE|-")
      ->group(group);
  app->add_option(
         "--link-log", links_.path,
         absl::StrCat("Write the use of the busiest links over time as CSV; needs --fabric ", follow,
                      ". One row for each link and interval. With packets also queues, marks, drops, losses, "
                      "trims and pauses."))
      ->type_name("FILE|-")
      ->group(group);
  app->add_option(
         "--link-totals", totals_.path,
         absl::StrCat("Write the totals of the busiest links as CSV; needs --fabric ", follow,
                      ". One row for each link. With packets also marks, drops, losses, trims and pauses."))
      ->type_name("FILE|-")
      ->group(group);
  app->add_option("--log-links", most_, "Number of links in --link-log and --link-totals; default: 16.")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32).description(""))
      ->group(group);
}

absl::Status LogOptions::Check(const CLI::App& app, const std::string& fabric,
                               const std::string& other) const {
  const std::pair<const char*, const std::string*> named[] = {
      {"--flow-log", &flows_.path}, {"--link-log", &links_.path}, {"--link-totals", &totals_.path}};
  const FabricKind* const kind = FindFabric(fabric);
  std::vector<NamedOutput> seen = {{other, "the report or table"}};
  for (const auto& [option, path] : named) {
    if (app.count(option) > 0 && path->empty()) {
      return absl::InvalidArgumentError(absl::StrCat(option, " names no file; expected a name, or -"));
    }
    if (path->empty()) continue;
    const NamedOutput output = {*path, option};
    RETURN_IF_ERROR(CheckApart(output, seen));
    seen.push_back(output);
    if (path != &flows_.path && (kind == nullptr || !kind->follows_links)) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, " is for --fabric ", absl::StrJoin(NamesOf(FabricsThatFollowLinks()), " and "),
                       ": ", fabric, " does not follow links"));
    }
  }
  if (app.count("--log-links") > 0 && !links_.asked() && !totals_.asked()) {
    return absl::InvalidArgumentError("--log-links needs --link-log or --link-totals");
  }
  return absl::OkStatus();
}

std::vector<NamedOutput> LogOptions::Outputs() const {
  std::vector<NamedOutput> outputs;
  if (flows_.asked()) outputs.push_back({flows_.path, "--flow-log"});
  if (links_.asked()) outputs.push_back({links_.path, "--link-log"});
  if (totals_.asked()) outputs.push_back({totals_.path, "--link-totals"});
  return outputs;
}

absl::Status LogOptions::Open() {
  for (Output* output : {&flows_, &links_, &totals_}) {
    RETURN_IF_ERROR(output->Open());
  }
  if (flows_.asked()) {
    flow_log_ = std::make_unique<FlowLog>([this](absl::string_view bytes) { return flows_.Append(bytes); });
  }
  return absl::OkStatus();
}

absl::Status LogOptions::FinishLinks(const MachineView& machine, Time end) {
  if (!links_.asked() && !totals_.asked()) return absl::OkStatus();
  const LinkUses uses = machine.Links(most_);
  if (links_.asked()) {
    const auto write = [this](absl::string_view bytes) { return links_.Append(bytes); };
    RETURN_IF_ERROR(WriteLinkSeries(uses, write));
    RETURN_IF_ERROR(links_.Finish());
  }
  if (!totals_.asked()) return absl::OkStatus();
  const bool packets = !machine.Packets().transport.empty();
  const auto write = [this](absl::string_view bytes) { return totals_.Append(bytes); };
  RETURN_IF_ERROR(WriteLinkTotals(uses, packets, end, write));
  return totals_.Finish();
}

absl::Status LogOptions::Finish(const MachineView& machine, Time end) {
  if (flows_.asked()) {
    RETURN_IF_ERROR(flow_log_->Finish());
    RETURN_IF_ERROR(flows_.Finish());
  }
  return FinishLinks(machine, end);
}

}  // namespace chakra::cli
