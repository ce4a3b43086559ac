#include "replay/sweep/points.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/topology/dimension_size.h"
#include "replay/report/run_replay.h"
#include "replay/run/arguments.h"
#include "replay/run/machine.h"
#include "trace/base/checksum.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/io/options.h"

namespace chakra::sweep {
namespace {

MachineCounts CountMachine(const Topology& topology) {
  MachineCounts out;
  out.devices = topology.devices();
  out.links = static_cast<int64_t>(topology.links() / 2);
  for (size_t d = 0; d < topology.dimensions().size(); ++d) {
    const NetworkSize size = SizeOf(topology, static_cast<int>(d));
    out.switches += static_cast<int64_t>(size.switches);
    out.switch_ports += static_cast<int64_t>(size.switch_ports);
    out.injection_bytes_per_s = size.injection.bytes_per_second();
    out.cable_bytes_per_s = static_cast<int64_t>(size.cable_bytes_per_s);
  }
  return out;
}

absl::StatusOr<proto::Run> ReadPoint(const std::vector<std::string>& words) {
  proto::Run run;
  RETURN_IF_ERROR(ReadWords(words, &run));
  RETURN_IF_ERROR(CheckRun(run));
  return run;
}

// "PATHS:CONTENTS", two digests; see WarnOfInputs() in results.cc. `made`: options make the workload, so it
// is not a file that may change.
std::string DigestInputs(const proto::Report& report, bool made) {
  Sha256 paths, contents;
  for (const proto::InputFile& input : report.input()) {
    if (made && input.role() == "workload") continue;
    paths.Update(absl::StrCat(input.path(), "\n"));
    contents.Update(absl::StrCat(input.sha256(), "\n"));
  }
  return absl::StrCat(paths.Hex().substr(0, 16), ":", contents.Hex().substr(0, 16));
}

}  // namespace

std::shared_ptr<SweepPoints::Held> SweepPoints::Hold(const proto::Run& run, const TraceOptions& options) {
  // The expert groups of a generated step depend on the machine too.
  const std::string key =
      absl::StrCat(TraceKey(run), " ", options.read.domain, options.edits_keep_lanes ? "" : " free lanes");
  std::shared_ptr<Held> held;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found =
        std::find_if(held_.begin(), held_.end(), [&](const auto& h) { return h.first == key; });
    if (found != held_.end()) {
      held_.splice(held_.begin(), held_, found);
    } else {
      held_.emplace_front(key, std::make_shared<Held>());
      if (held_.size() > kept_) held_.pop_back();
    }
    held = held_.front().second;
  }
  std::call_once(held->once, [&] { held->traces = LoadTraces(options); });
  return held;
}

absl::Status SweepPoints::Load(const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const proto::Run run, ReadPoint(words));
  ASSIGN_OR_RETURN(const ResolvedRun resolved, ResolveRun(run));
  const absl::Status read = Hold(run, resolved.traces)->traces.status();
  // A split that is not valid makes a point with an error, even if it is the first point.
  const bool of_point =
      absl::IsInvalidArgument(read) || absl::IsUnimplemented(read) || absl::IsResourceExhausted(read);
  return TellsWorkload(run) && of_point ? absl::OkStatus() : read;
}

absl::StatusOr<std::string> SweepPoints::Check(const std::vector<std::string>& words) const {
  ASSIGN_OR_RETURN(const proto::Run run, ReadPoint(words));
  ASSIGN_OR_RETURN(const ResolvedRun resolved, ResolveRun(run));
  std::vector<std::string> notes;
  RETURN_IF_ERROR(DescribeMachine(resolved.run, &notes).status());
  return TraceKey(run);
}

Outcome SweepPoints::Run(const std::vector<std::string>& words) {
  if (sent_.empty()) return RunHere(words);
  std::vector<std::string> here = words;
  for (std::string& word : here) {
    for (const auto& [local, there] : sent_) {
      if (word == there) word = local;
    }
  }
  Outcome outcome = RunHere(here);
  const auto told = [this](absl::string_view text) {
    std::string out(text);
    for (const auto& [local, there] : sent_) out = absl::StrReplaceAll(out, {{local, there}});
    return out;
  };
  if (!outcome.status.ok())
    outcome.status = absl::Status(outcome.status.code(), told(outcome.status.message()));
  return outcome;
}

Outcome SweepPoints::RunHere(const std::vector<std::string>& words) {
  const auto run = ReadPoint(words);
  if (!run.ok()) return {run.status(), {}, ""};
  auto resolved = ResolveRun(*run);
  if (!resolved.ok()) return {resolved.status(), {}, ""};
  const std::shared_ptr<Held> held = Hold(*run, resolved->traces);
  if (!held->traces.ok()) return {held->traces.status(), {}, ""};
  if (!run->process().has_threads()) resolved->run.fabric_options.threads = threads_;
  MachineCounts machine;
  ReplayHooks hooks;
  hooks.machine = [&](const Topology& topology) { machine = CountMachine(topology); };
  auto report = RunReplay(*held->traces, resolved->run, hooks);
  if (!report.ok()) return {report.status(), {}, ""};
  for (proto::InputFile& input : *report->mutable_input()) {
    for (const auto& [local, there] : sent_) {
      if (absl::StartsWith(input.path(), local)) {
        input.set_path(absl::StrCat(there, input.path().substr(local.size())));
        break;
      }
    }
  }
  return {absl::OkStatus(), MetricsOf(*report, machine), DigestInputs(*report, TellsWorkload(*run)),
          report->input()};
}

absl::StatusOr<std::vector<size_t>> CheckPoints(const Space& space, SweepPoints* points) {
  const auto& axes = space.axes();
  // A search starts in the middle of each axis, so its values are checked there.
  std::vector<Place> places = space.points();
  if (space.spec().has_search()) {
    std::vector<uint64_t> middle;
    for (const SpaceUnit& unit : space.units()) middle.push_back((unit.count - 1) / 2);
    for (size_t u = 0; u < middle.size(); ++u) {
      for (uint64_t i = 0; i < space.units()[u].count; ++i) {
        std::vector<uint64_t> at = middle;
        at[u] = i;
        places.push_back(space.PlaceOf(at));
      }
    }
  }
  std::vector<std::set<uint32_t>> seen(axes.size());
  std::vector<std::set<std::string>> keys(axes.size());
  std::set<size_t> slow;
  std::string first_key;
  for (size_t n = 0; n < places.size(); ++n) {
    std::vector<size_t> fresh;
    for (size_t a = 0; a < axes.size(); ++a) {
      // Two values of a range suffice: they show whether the axis changes the traces, and the other values do
      // the same.
      if (axes[a].range != nullptr && seen[a].size() > 1) continue;
      if (seen[a].insert(places[n][a]).second) fresh.push_back(a);
    }
    if (fresh.empty() && n > 0) continue;
    ASSIGN_OR_RETURN(auto words, space.Words(places[n]));
    auto key = points->Check(words);
    if (!key.ok()) {
      // An error of the first point may be in what all points have in common, so no axis is named.
      const std::string where = n == 0 || fresh.empty() ? "" : absl::StrCat(axes[fresh[0]].where, ": ");
      const std::string which =
          n == 0 || fresh.empty()
              ? "the first point"
              : absl::StrCat("the value \"", axes[fresh[0]].values[places[n][fresh[0]]].text, "\" of axis ",
                             axes[fresh[0]].name);
      return absl::InvalidArgumentError(absl::StrCat(where, which, ", of ", FormatCount(places.size()),
                                                     " points: ", key.status().message()));
    }
    if (n == 0) {
      first_key = *key;
      RETURN_IF_ERROR(points->Load(words));
    } else if (*key != first_key) {
      slow.insert(fresh.begin(), fresh.end());
    }
  }
  return std::vector<size_t>(slow.begin(), slow.end());
}

}  // namespace chakra::sweep
