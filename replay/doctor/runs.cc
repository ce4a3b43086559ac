#include "replay/doctor/runs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "replay/doctor/lacks.h"
#include "replay/report/run_replay.h"
#include "replay/run/options.h"
#include "replay/run/traces.h"
#include "replay/sweep/words.h"
#include "trace/base/text_table.h"
#include "trace/import/inputs.h"
#include "trace/import/registry.h"

namespace chakra::doctor {
namespace {

constexpr uint64_t kMostTried = uint64_t{1} << 22;  // runs with more nodes are not replayed

// The topic of `record-help` for each importer that has one.
constexpr std::pair<absl::string_view, absl::string_view> kRecorders[] = {
    {"pytorch", "torch"},        {"nsys", "nsys"}, {"rocprof", "rocprof"}, {"xplane", "jax"},
    {"collective_logs", "nccl"},
};

// An attempt to read files as one run: the inputs of a command, and the files that they consist of.
struct Attempt {
  std::vector<std::string> inputs;
  std::vector<Candidate> files;
};

// For an archive, the importer is found from the files in it.
absl::string_view RecorderOf(const Attempt& attempt) {
  const Importer* importer = attempt.files.front().importer;
  if (importer == nullptr) importer = ImporterOfRun(attempt.inputs, {});
  for (const auto& [name, recorder] : kRecorders) {
    if (importer != nullptr && importer->name == name) return recorder;
  }
  return "";
}

uint64_t Bytes(const Attempt& attempt) {
  uint64_t bytes = 0;
  for (const Candidate& c : attempt.files) bytes += c.bytes;
  return bytes;
}

std::string Title(const Attempt& attempt) {
  const Importer* importer = attempt.files.front().importer;
  if (importer == nullptr) return "archive of traces";
  return importer->native ? absl::StrCat(importer->title, "s") : std::string(importer->title);
}

proto::FoundRun Describe(const Attempt& attempt) {
  proto::FoundRun run;
  for (const std::string& input : attempt.inputs) run.add_input(input);
  run.set_title(Title(attempt));
  run.set_bytes(Bytes(attempt));
  return run;
}

std::string AttemptCommand(absl::string_view verb, const Attempt& attempt, absl::string_view after) {
  return absl::StrCat("chakra-replay ", verb, " ", sweep::QuoteWords(attempt.inputs), after);
}

void NoteWhatReadersSay(const TraceSet& traces, proto::FoundRun* run) {
  for (const std::string& w : traces.warnings) run->add_note(w);
  for (const std::string& a : traces.assumptions) run->add_note(a);
  std::map<std::string, uint64_t> repairs;  // number of ranks, by text of the repair
  for (const RankTrace& rank : traces.ranks) {
    for (const Repair& r : rank.repairs) ++repairs[absl::StrCat(r.kind, ": ", r.detail)];
  }
  for (const auto& [text, ranks] : repairs)
    run->add_note(ranks == 1 ? text : absl::StrCat(text, " (on ", ranks, " ranks)"));
}

// Replays the run with the command in `next`. Records the error of the replay, or that nothing takes time.
void TryReplay(const LoadedTraces& traces, const std::string& cluster, proto::FoundRun* run) {
  if (traces.set.nodes() > kMostTried) {
    run->add_note(absl::StrCat("a replay was not tried: more than ", FormatCount(kMostTried), " nodes"));
    return;
  }
  RunOptions options;
  options.cluster = cluster;
  const absl::StatusOr<proto::Report> report = RunReplay(traces, options);
  if (!report.ok()) {
    // The field is one line; an error of several lines names one node in each line.
    run->set_refused(absl::StrReplaceAll(report.status().message(), {{"\n  ", "; "}, {"\n", " "}}));
  } else if (report->makespan_ps() == 0) {
    proto::Lack* lack = run->add_lack();
    lack->set_what("anything that takes time");
    lack->set_cost("the makespan is 0 s");
    lack->set_remedy("give recorded times, work that a model can price (--kernels), or the sizes of calls");
  }
}

// Reads the attempt. Returns false if it is not a run; then run->error() has the reason.
bool Read(const Attempt& attempt, const RunLimits& limits, FoundRuns* found, proto::FoundRun* run) {
  *run = Describe(attempt);
  if (run->bytes() > limits.most_bytes) {
    run->set_unread(true);
    run->set_next(AttemptCommand("inspect", attempt, ""));
    for (const Candidate& c : attempt.files) found->used.insert(c.path);
    return true;
  }
  TraceOptions options;
  options.inputs = attempt.inputs;
  options.read.threads = limits.threads;
  const absl::StatusOr<LoadedTraces> traces = LoadTraces(options);
  if (!traces.ok()) {
    run->set_error(std::string(traces.status().message()));
    return false;
  }
  for (const Candidate& c : attempt.files) found->used.insert(c.path);
  for (const InputFile& f : traces->set.inputs) found->used.insert(f.path);
  FindLacks(traces->set, RecorderOf(attempt), run);
  NoteWhatReadersSay(traces->set, run);
  // A capture by itself is replayed on the machine that recorded it; traces without times need a machine.
  const std::string cluster = run->span_ps() > 0 ? "" : "dgx-h100";
  run->set_next(
      AttemptCommand("replay", attempt, cluster.empty() ? "" : absl::StrCat(" --cluster ", cluster)));
  TryReplay(*traces, cluster, run);
  return true;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

// Makes a run of each prefix, for formats whose files have one rank each.
void SplitByPrefix(std::vector<Candidate>* files, std::vector<Attempt>* attempts) {
  std::map<std::string, Attempt> prefixes;
  std::vector<Candidate> others;
  for (Candidate& c : *files) {
    if (c.importer == nullptr || c.importer->frames == nullptr) {
      others.push_back(std::move(c));
      continue;
    }
    const TraceName name = ParseTraceName(c.path);
    const std::string input = name.rank >= 0 ? name.prefix : c.path;
    Attempt& attempt = prefixes[input];
    attempt.inputs = {input};
    attempt.files.push_back(std::move(c));
  }
  for (auto& [input, attempt] : prefixes) attempts->push_back(std::move(attempt));
  *files = std::move(others);
}

void Fail(proto::FoundRun run, const Attempt& attempt, FoundRuns* found) {
  const Candidate& first = attempt.files.front();
  // JSON or text without the name of a trace is more likely to be another kind of file.
  if (first.importer != nullptr && first.importer->frames != nullptr && !first.importer->native &&
      ParseTraceName(first.path).rank < 0) {
    proto::FoundFile file;
    file.set_path(first.path);
    file.set_what("unknown to this program");
    file.set_remedy(absl::StrCat("if it is a trace: ", run.error()));
    found->others.push_back(std::move(file));
    return;
  }
  for (const Candidate& c : attempt.files) found->used.insert(c.path);
  found->runs.push_back(std::move(run));
}

// Whether all files have one format whose files make a run only together, so that reading the folder may
// work.
bool Together(const std::vector<Candidate>& candidates) {
  return std::all_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
    return c.importer == candidates.front().importer && (c.importer == nullptr || c.importer->run != nullptr);
  });
}

void TryEach(std::vector<Attempt> attempts, const RunLimits& limits, FoundRuns* found) {
  for (const Attempt& attempt : attempts) {
    proto::FoundRun run;
    if (Read(attempt, limits, found, &run)) {
      found->runs.push_back(std::move(run));
    } else {
      Fail(std::move(run), attempt, found);
    }
  }
}

// Reads runs that have an index file (Importer::leads), together with the traces in the same folder. Returns
// the other candidates.
std::vector<Candidate> TakeLed(const std::vector<Candidate>& candidates, const RunLimits& limits,
                               FoundRuns* found) {
  const auto leads = [](const Candidate& c) { return c.importer != nullptr && c.importer->leads != nullptr; };
  std::map<std::string, std::vector<Candidate>> leading;  // by folder
  for (const Candidate& c : candidates) {
    if (leads(c)) leading[FolderOf(c.path)].push_back(c);
  }
  std::vector<Attempt> attempts;
  std::vector<Candidate> others;
  for (const auto& [folder, indices] : leading) {
    for (const Candidate& c : indices)
      attempts.push_back({{indices.size() == 1 && !folder.empty() ? folder : c.path}, {c}});
  }
  for (const Candidate& c : candidates) {
    const auto with = leading.find(FolderOf(c.path));
    if (with == leading.end() || c.importer == nullptr || !c.importer->native) {
      if (!leads(c)) others.push_back(c);
      continue;
    }
    // If a folder has several indices, each names its own files; here all files count with the first index.
    const auto first = std::find_if(attempts.begin(), attempts.end(), [&](const Attempt& a) {
      return a.files.front().path == with->second.front().path;
    });
    first->files.push_back(c);
  }
  TryEach(std::move(attempts), limits, found);
  return others;
}

// Like FindRuns(), for candidates that no index file leads.
void FindAlone(const std::string& place, const std::vector<Candidate>& candidates, const RunLimits& limits,
               FoundRuns* found) {
  if (candidates.empty()) return;
  std::string why;
  if (Together(candidates)) {
    const Attempt whole{{candidates.size() == 1 ? candidates.front().path : place}, candidates};
    proto::FoundRun run;
    if (Read(whole, limits, found, &run)) {
      found->runs.push_back(std::move(run));
      return;
    }
    if (candidates.size() == 1) {
      Fail(std::move(run), whole, found);
      return;
    }
    why = run.error();
  }
  // Not one run: try each folder below `place`, and each file in it.
  std::vector<Candidate> here;
  std::map<std::string, std::vector<Candidate>> below;
  for (const Candidate& c : candidates) {
    const std::string folder = FolderOf(c.path);
    if (folder == place || folder.size() <= place.size()) {
      here.push_back(c);
    } else {
      const size_t end = folder.find('/', place.size() + 1);
      below[folder.substr(0, end)].push_back(c);
    }
  }
  std::vector<Attempt> attempts;
  SplitByPrefix(&here, &attempts);
  const size_t first = found->runs.size();
  for (const Candidate& c : here) attempts.push_back({{c.path}, {c}});
  std::sort(attempts.begin(), attempts.end(),
            [](const Attempt& a, const Attempt& b) { return a.inputs < b.inputs; });
  TryEach(std::move(attempts), limits, found);
  if (!why.empty() && found->runs.size() > first)
    found->runs[first].add_note(
        absl::StrCat("read separately, because ", place, " is not a single run: ", why));
  for (const auto& [folder, files] : below) FindAlone(folder, files, limits, found);
}

}  // namespace

void FindRuns(const std::string& place, const std::vector<Candidate>& candidates, const RunLimits& limits,
              FoundRuns* found) {
  FindAlone(place, TakeLed(candidates, limits, found), limits, found);
}

}  // namespace chakra::doctor
