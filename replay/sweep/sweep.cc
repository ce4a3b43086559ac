#include "replay/sweep/sweep.h"

#include <google/protobuf/util/message_differencer.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/sweep/results.h"
#include "replay/sweep/search.h"
#include "trace/base/checksum.h"
#include "trace/base/printable.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/base/utf8.h"

namespace chakra::sweep {
namespace {

constexpr char kEnding[] = ".journal";
constexpr size_t kDifferencesShown = 3;

std::string JournalPath(const SweepOptions& options) {
  if (options.shard.count == 1) return absl::StrCat(options.folder, "/points", kEnding);
  return absl::StrCat(options.folder, "/points.", options.shard.index + 1, "-of-", options.shard.count,
                      kEnding);
}

// The ids of all points, in order.
absl::StatusOr<std::vector<std::string>> Ids(const Space& space) {
  std::vector<std::string> out;
  out.reserve(space.points().size());
  for (const Place& place : space.points()) {
    ASSIGN_OR_RETURN(auto words, space.Words(place));
    out.push_back(Space::Id(words));
  }
  return out;
}

// Describes what changed, for the error that refuses to continue.
std::string WhatChanged(const proto::SweepStart& before, const proto::SweepStart& now, const Space& space) {
  std::string out;
  if (before.version() != now.version())
    absl::StrAppend(&out, "; it was begun by version ", before.version(), ", this is ", now.version());
  google::protobuf::util::MessageDifferencer differ;
  std::string report;
  differ.ReportDifferencesToString(&report);
  differ.Compare(before.sweep(), now.sweep());
  std::vector<std::string> lines = absl::StrSplit(report, '\n', absl::SkipEmpty());
  for (size_t i = 0; i < std::min(lines.size(), kDifferencesShown); ++i)
    absl::StrAppend(&out, "\n  ", Printable(lines[i]));
  if (lines.size() > kDifferencesShown)
    absl::StrAppend(&out, "\n  and ", lines.size() - kDifferencesShown, " more");
  const auto old_space = Space::Make(before.sweep());
  if (!old_space.ok() || space.spec().has_search()) return out;
  const auto old_ids = Ids(*old_space), new_ids = Ids(space);
  if (!old_ids.ok() || !new_ids.ok()) return out;
  const std::set<std::string> was(old_ids->begin(), old_ids->end());
  const auto kept = std::count_if(new_ids->begin(), new_ids->end(),
                                  [&](const std::string& id) { return was.count(id) > 0; });
  absl::StrAppend(&out, "\n  of its ", FormatCount(was.size()), " points ",
                  FormatCount(static_cast<uint64_t>(kept)), " are among the ", FormatCount(new_ids->size()),
                  " of this one");
  return out;
}

class Sweeper {
 public:
  Sweeper(const Spec& spec, const Space& space, const RunPoint& run, const SweepOptions& options)
      : spec_(spec), space_(space), options_(options), run_(run) {}

  absl::StatusOr<SweepSummary> Go() {
    RETURN_IF_ERROR(Open());
    Runner points(space_, run_, journal_.get(), options_.runner);
    runner_ = &points;
    const auto begin = std::chrono::steady_clock::now();
    absl::Status s = spec_.sweep.has_search() ? Search() : RunAll();
    summary_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!s.ok()) return s;
    for (const auto& [id, record] : known_) summary_.failed += record.error().empty() ? 0 : 1;
    return summary_;
  }

 private:
  absl::Status Open() {
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    if (error)
      return absl::UnavailableError(
          absl::StrCat("cannot make the folder ", options_.folder, ": ", error.message()));
    proto::SweepStart start;
    start.set_version(options_.version);
    *start.mutable_sweep() = spec_.sweep;
    start.set_source(spec_.source);
    if (ToUtf8(spec_.text) == spec_.text && spec_.text.find('\0') == std::string::npos)
      start.set_text(spec_.text);
    start.set_points(space_.points().size());
    ASSIGN_OR_RETURN(auto digest, PointsDigest(space_));
    start.set_points_sha256(digest);
    if (auto journals = FindJournals(options_.folder); journals.ok()) {
      for (const std::string& path : *journals) {
        RETURN_IF_ERROR(ReadEarlier(path, start));
      }
    }
    auto journal = JournalWriter::Open(JournalPath(options_), start);
    if (journal.ok()) journal_ = *std::move(journal);
    return journal.status();
  }

  absl::Status ReadEarlier(const std::string& path, const proto::SweepStart& start) {
    ASSIGN_OR_RETURN(auto content, ReadJournal(path));
    // Journals of other shards may be in the middle of a write.
    if (path == JournalPath(options_)) summary_.damaged += content.damaged;
    const bool same = content.start.has_value() && content.start->points_sha256() == start.points_sha256() &&
                      content.start->version() == start.version();
    if (!same && !options_.continue_changed && (content.start.has_value() || !content.points.empty())) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, " is of another sweep",
                       content.start.has_value() ? WhatChanged(*content.start, start, space_) : "",
                       "\n  expected another folder, or --continue-changed, which keeps the results of the "
                       "same commands"));
    }
    for (auto& [id, record] : content.points) {
      if (options_.retry_failed && !record.error().empty()) continue;
      before_[id] = std::move(record);
    }
    return absl::OkStatus();
  }

  absl::Status RunAll() {
    ASSIGN_OR_RETURN(auto ids, Ids(space_));
    std::vector<Task> tasks;
    std::set<std::string> asked;  // several points may have the same command
    for (uint64_t n = 0; n < ids.size(); ++n) {
      if (n % options_.shard.count != options_.shard.index) continue;
      ++summary_.points;
      const std::string& id = ids[n];
      if (const auto found = before_.find(id); found != before_.end()) {
        known_[id] = found->second;
        ++summary_.done_before;
      } else if (asked.insert(id).second) {
        tasks.push_back({n, id, space_.points()[n]});
      }
    }
    std::stable_sort(tasks.begin(), tasks.end(), [&](const Task& a, const Task& b) {
      for (const size_t axis : options_.slow_axes) {
        if (a.place[axis] != b.place[axis]) return a.place[axis] < b.place[axis];
      }
      return false;
    });
    if (options_.limit > 0 && tasks.size() > options_.limit) {
      summary_.left = tasks.size() - options_.limit;
      tasks.resize(options_.limit);
    }
    return RunTasks(std::move(tasks));
  }

  absl::Status RunTasks(std::vector<Task> tasks) {
    if (tasks.empty()) return absl::OkStatus();
    const size_t count = tasks.size();
    ASSIGN_OR_RETURN(auto records, runner_->Run(std::move(tasks)));
    summary_.run += count;
    for (auto& [id, record] : records) known_[id] = std::move(record);
    return absl::OkStatus();
  }

  absl::Status Search() {
    SearchProblem problem;
    for (const SpaceUnit& unit : space_.units()) problem.sizes.push_back(unit.count);
    problem.allowed = [&](const GridPoint& p) { return space_.Allowed(space_.PlaceOf(p)); };
    problem.evaluate = [&](const std::vector<GridPoint>& round) { return Evaluate(round); };
    ASSIGN_OR_RETURN(auto result, RunSearch(problem, spec_.sweep.search()));
    summary_.search = DescribeSearch(result, spec_.sweep.search());
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::optional<double>>> Evaluate(const std::vector<GridPoint>& round) {
    std::vector<Task> tasks;
    std::vector<std::vector<std::string>> ids;  // by point: the ids of its repeats
    std::set<std::string> asked;
    for (const GridPoint& p : round) {
      ids.emplace_back();
      for (const Place& place : space_.PlacesOf(p)) {
        ASSIGN_OR_RETURN(auto words, space_.Words(place));
        const std::string id = Space::Id(words);
        ids.back().push_back(id);
        const uint64_t number = summary_.points++;
        if (known_.count(id) > 0) continue;
        if (const auto found = before_.find(id); found != before_.end()) {
          known_[id] = found->second;
          ++summary_.done_before;
        } else if (asked.insert(id).second) {
          tasks.push_back({number, id, place});
        }
      }
    }
    if (options_.limit > 0 && summary_.run + tasks.size() > options_.limit) {
      return absl::CancelledError(
          absl::StrCat("--limit ", options_.limit, " ends the search before its end"));
    }
    RETURN_IF_ERROR(RunTasks(std::move(tasks)));
    std::vector<std::optional<double>> costs;
    for (size_t i = 0; i < round.size(); ++i) {
      std::vector<const proto::PointRecord*> records;
      for (const std::string& id : ids[i]) records.push_back(&known_[id]);
      costs.push_back(CostOf(space_, space_.PlacesOf(round[i]), records));
    }
    return costs;
  }

  const Spec& spec_;
  const Space& space_;
  const SweepOptions& options_;
  const RunPoint& run_;
  std::unique_ptr<JournalWriter> journal_;
  Runner* runner_ = nullptr;
  std::map<std::string, proto::PointRecord> before_;  // records in journals of earlier calls
  std::map<std::string, proto::PointRecord> known_;   // records of points of this sweep
  SweepSummary summary_;
};

}  // namespace

absl::StatusOr<Shard> ParseShard(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  Shard out;
  uint32_t index = 0;
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &index) && absl::SimpleAtoi(parts[1], &out.count) &&
      index >= 1 && index <= out.count) {
    out.index = index - 1;
    return out;
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\", expected I/N with I from 1 to N, as 3/8"));
}

absl::StatusOr<std::vector<std::string>> FindJournals(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (absl::EndsWith(entry.path().string(), kEnding)) out.push_back(entry.path().string());
  }
  if (error)
    return absl::NotFoundError(absl::StrCat("cannot read the folder ", folder, ": ", error.message()));
  if (out.empty()) {
    return absl::NotFoundError(
        absl::StrCat(folder, " has no results of a sweep (points.journal); expected the folder of -o"));
  }
  std::sort(out.begin(), out.end());
  return out;
}

absl::StatusOr<std::string> PointsDigest(const Space& space) {
  if (space.spec().has_search()) {
    proto::Sweep spec = space.spec();
    spec.clear_name();
    spec.clear_description();
    return Sha256Hex(spec.SerializeAsString());
  }
  ASSIGN_OR_RETURN(auto ids, Ids(space));
  return Sha256Hex(absl::StrJoin(ids, "\n"));
}

absl::StatusOr<SweepSummary> RunSweep(const Spec& spec, const Space& space, const RunPoint& run,
                                      const SweepOptions& options) {
  return Sweeper(spec, space, run, options).Go();
}

}  // namespace chakra::sweep
