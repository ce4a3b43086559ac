#include "replay/sweep/results.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/sweep/journal.h"
#include "replay/sweep/search.h"
#include "replay/sweep/sweep.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"

namespace chakra::sweep {
namespace {

using Records = std::map<std::string, proto::PointRecord>;

// Adds the row of a point if it has a record. Returns whether it has one.
absl::StatusOr<bool> AddRow(const Records& records, uint64_t number, const Place& place, Results* out) {
  ASSIGN_OR_RETURN(auto words, out->space->Words(place));
  const auto found = records.find(Space::Id(words));
  if (found == records.end()) return false;
  ResultRow row;
  row.number = number;
  row.id = found->first;
  row.place = place;
  row.error = found->second.error();
  row.record = found->second;
  row.metrics = MetricsOf(*out->space, place, found->second);
  out->failed += row.error.empty() ? 0 : 1;
  out->rows.push_back(std::move(row));
  return true;
}

// Replays the search with the recorded results, as far as they exist, and adds its points.
absl::Status AddRowsOfSearch(const Records& records, Results* out) {
  const Space& space = *out->space;
  SearchProblem problem;
  for (const SpaceUnit& unit : space.units()) problem.sizes.push_back(unit.count);
  problem.allowed = [&](const GridPoint& p) { return space.Allowed(space.PlaceOf(p)); };
  problem.evaluate =
      [&](const std::vector<GridPoint>& round) -> absl::StatusOr<std::vector<std::optional<double>>> {
    std::vector<std::optional<double>> costs;
    bool all = true;
    for (const GridPoint& p : round) {
      const std::vector<Place> places = space.PlacesOf(p);
      std::vector<const proto::PointRecord*> ended;
      for (const Place& place : places) {
        ASSIGN_OR_RETURN(auto added, AddRow(records, out->points++, place, out));
        if (added) ended.push_back(&records.at(out->rows.back().id));
      }
      all = all && ended.size() == places.size();
      if (all) costs.push_back(CostOf(space, places, ended));
    }
    if (!all) return absl::CancelledError("");
    return costs;
  };
  auto walked = RunSearch(problem, space.spec().search());
  return absl::IsCancelled(walked.status()) ? absl::OkStatus() : walked.status();
}

void NameColumns(Results* out) {
  std::set<std::string> seen;
  for (const ResultRow& row : out->rows) {
    for (const auto& [name, value] : row.metrics) seen.insert(name);
  }
  const auto take = [&](const std::string& name) {
    if (seen.erase(name) > 0) out->metrics.push_back(name);
  };
  for (const proto::Metric& m : out->space->spec().metric()) take(m.name());
  take("makespan_ps");
  out->metrics.insert(out->metrics.end(), seen.begin(), seen.end());
}

// Warns if points with the same paths of files read different content.
void WarnOfInputs(Results* out) {
  std::map<std::string, std::set<std::string>> digests;  // digests of contents, by digest of paths
  for (const ResultRow& row : out->rows) {
    const size_t colon = row.record.inputs().find(':');
    if (colon == std::string::npos) continue;
    digests[row.record.inputs().substr(0, colon)].insert(row.record.inputs().substr(colon + 1));
  }
  for (const auto& [paths, contents] : digests) {
    if (contents.size() < 2) continue;
    out->warnings.push_back(
        "points that name the same files read different contents: a file was changed while the sweep ran, or "
        "between its parts");
    return;
  }
}

}  // namespace

Lookup Results::AxesOf(const ResultRow& row) const {
  return [this, &row](const std::string& name) { return space->ValueAt(row.place, name); };
}

size_t SeedAxis(const Results& results) {
  const auto& axes = results.space->axes();
  return results.space->spec().repeats() > 0 && !axes.empty() ? axes.size() - 1 : kNotAxis;
}

PointMetrics MetricsOf(const Space& space, const Place& place, const proto::PointRecord& record) {
  PointMetrics out;
  if (!record.error().empty()) return out;
  for (const proto::PointValue& v : record.metric()) out[v.name()] = v.value();
  AddDerived(
      space.spec(), [&](const std::string& name) { return space.ValueAt(place, name); }, &out);
  return out;
}

PointMetrics MeanOf(const std::vector<const PointMetrics*>& repeats) {
  PointMetrics mean = *repeats[0];
  for (size_t i = 1; i < repeats.size(); ++i) {
    for (auto it = mean.begin(); it != mean.end();) {
      const auto found = repeats[i]->find(it->first);
      if (found == repeats[i]->end()) {
        it = mean.erase(it);
      } else {
        it->second += found->second;
        ++it;
      }
    }
  }
  for (auto& [name, value] : mean) value /= static_cast<double>(repeats.size());
  return mean;
}

std::optional<double> CostOf(const Space& space, const std::vector<Place>& places,
                             const std::vector<const proto::PointRecord*>& records) {
  std::vector<PointMetrics> metrics;
  const Place* first = nullptr;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!records[i]->error().empty()) continue;
    if (first == nullptr) first = &places[i];
    metrics.push_back(MetricsOf(space, places[i], *records[i]));
  }
  if (first == nullptr) return std::nullopt;
  std::vector<const PointMetrics*> repeats;
  for (const PointMetrics& m : metrics) repeats.push_back(&m);
  const proto::Objective& objective = space.spec().objective();
  auto e = Expression::Parse(objective.metric().empty() ? "makespan_ps" : objective.metric());
  if (!e.ok()) return std::nullopt;
  auto value = EvaluateMetric(
      *e, [&](const std::string& name) { return space.ValueAt(*first, name); }, MeanOf(repeats));
  if (!value.ok()) return std::nullopt;
  return objective.goal() == proto::Objective::MAXIMIZE ? -*value : *value;
}

absl::StatusOr<Results> LoadResults(const std::vector<std::string>& folders) {
  Results out;
  Records records;
  std::string first;
  for (const std::string& folder : folders) {
    ASSIGN_OR_RETURN(auto journals, FindJournals(folder));
    for (const std::string& path : journals) {
      ASSIGN_OR_RETURN(auto content, ReadJournal(path));
      out.damaged += content.damaged;
      if (!content.start.has_value()) {
        if (content.points.empty()) continue;
        return absl::DataLossError(
            absl::StrCat(path,
                         ": its first line, which says what the sweep is, is damaged; run the sweep "
                         "with -o ",
                         folder, " again, which writes a new one"));
      }
      if (out.start == nullptr) {
        out.start = std::make_shared<proto::SweepStart>(*content.start);
        first = path;
      } else if (out.start->points_sha256() != content.start->points_sha256()) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, " is of another sweep than ", first, ": their points differ"));
      }
      for (auto& [id, record] : content.points) records[id] = std::move(record);
      out.files.merge(content.files);
    }
  }
  if (out.start == nullptr) return absl::NotFoundError(absl::StrCat(folders[0], " has no results yet"));
  auto space = Space::Make(out.start->sweep());
  if (!space.ok()) return absl::DataLossError(absl::StrCat(first, ": ", space.status().message()));
  out.space.emplace(*std::move(space));
  if (out.space->spec().has_search()) {
    RETURN_IF_ERROR(AddRowsOfSearch(records, &out));
  } else {
    out.points = out.space->points().size();
    for (uint64_t n = 0; n < out.points; ++n) {
      RETURN_IF_ERROR(AddRow(records, n, out.space->points()[n], &out).status());
    }
  }
  NameColumns(&out);
  WarnOfInputs(&out);
  return out;
}

}  // namespace chakra::sweep
