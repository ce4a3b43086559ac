#include "replay/run/jobs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/quantity.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

constexpr double kMostStartPicos = 1e18;  // a million seconds

absl::StatusOr<Time> ParseStart(absl::string_view text) {
  double v = 0;
  absl::string_view unit;
  if (SplitQuantity(text, &v, &unit) && PicosOfUnit(unit) > 0) {
    const double picos = v * PicosOfUnit(unit);
    if (picos <= kMostStartPicos) return Time::Picos(std::llround(picos));
    return absl::InvalidArgumentError(
        absl::StrCat("the start of a job is ", text, "; expected at most 1000000s"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the start of a job is \"", text, "\"; expected a time with its unit (ps, ns, us, ms or s), as 10us"));
}

// Renumbers the ranks of one job. Ranks that the job names but has no trace of come after all ranks of the
// run.
class Mover {
 public:
  Mover(const Job& job, int total) : job_(job), total_(total) {}

  int32_t operator()(int32_t rank) const {
    if (rank < 0) return rank;
    const int64_t moved =
        rank < job_.ranks ? int64_t{job_.first_rank} + rank : int64_t{total_} + (int64_t{rank} - job_.ranks);
    return static_cast<int32_t>(std::min<int64_t>(moved, std::numeric_limits<int32_t>::max()));
  }

 private:
  const Job& job_;
  int total_;
};

const std::string& WorldName(const Job& job) { return job.name; }

// `groups` are those of the job's set. If the set does not define group "0", it means all ranks, as in the
// engine.
std::string MovedGroup(const std::string& name, const Groups& groups, const Job& job) {
  if (name.empty() || (name == "0" && groups.count(name) == 0)) return WorldName(job);
  return absl::StrCat(job.name, "/", name);
}

void MoveRank(RankTrace trace, const Groups& groups, const Job& job, const Mover& moved, TraceSet* out) {
  trace.rank = moved(trace.rank);
  for (std::string& name : trace.group_names) name = MovedGroup(name, groups, job);
  std::vector<Peer> peers = trace.peers;
  for (Peer& peer : peers) {
    peer.src = moved(peer.src);
    peer.dst = moved(peer.dst);
    peer.root = moved(peer.root);
  }
  trace.peers = std::move(peers);
  for (Repair& repair : trace.repairs) repair.rank = trace.rank;
  out->ranks.push_back(std::move(trace));
}

void MoveJob(JobInput input, const Job& job, int total, TraceSet* out) {
  const Mover moved(job, total);
  TraceSet& set = input.traces;
  for (RankTrace& trace : set.ranks) MoveRank(std::move(trace), set.groups, job, moved, out);
  for (auto& [name, members] : set.groups) {
    for (int& m : members) m = moved(m);
    out->groups.emplace(MovedGroup(name, set.groups, job), std::move(members));
  }
  std::vector<int>& world = out->groups[WorldName(job)];
  for (int r = 0; r < job.ranks; ++r) world.push_back(job.first_rank + r);
  if (out->group_source != set.group_source && !set.group_source.empty()) {
    absl::StrAppend(&out->group_source, out->group_source.empty() ? "" : ", ", set.group_source);
  }
  out->inputs.insert(out->inputs.end(), set.inputs.begin(), set.inputs.end());
  for (const std::string& w : set.warnings) out->warnings.push_back(absl::StrCat(job.name, ": ", w));
  for (const std::string& a : set.assumptions) out->assumptions.push_back(absl::StrCat(job.name, ": ", a));
  out->of_one_trace |= set.of_one_trace;
}

// Resolves the groups of one job's calls that name dimensions.
class DimensionGroups {
 public:
  DimensionGroups(const Job& job, const std::vector<int>& sizes, TraceSet* traces)
      : job_(job), sizes_(sizes), traces_(traces) {}

  void Resolve(RankTrace* trace) {
    std::map<std::pair<uint32_t, uint8_t>, uint32_t> known;  // dimensions to group of this rank
    std::vector<Peer> peers = trace->peers;
    for (uint32_t row = 0; row < trace->graph->size(); ++row) {
      if (trace->graph->type[row] != NodeType::kCollective) continue;
      const uint32_t payload = trace->graph->payload[row];
      const Comm& comm = trace->graph->comm[payload];
      Peer& peer = peers[payload];
      if (comm.dims_count == 0 || trace->group_names[peer.group] != WorldName(job_)) continue;
      const auto [it, fresh] = known.emplace(std::make_pair(comm.involved_dims, comm.dims_count), peer.group);
      if (fresh) it->second = GroupOf(comm, peer.group, trace);
      peer.group = it->second;
    }
    trace->peers = std::move(peers);
  }

 private:
  uint32_t GroupOf(const Comm& comm, uint32_t world, RankTrace* trace) {
    std::vector<bool> involved(sizes_.size(), true);
    bool all = true;
    for (size_t d = 0; d < sizes_.size() && d < comm.dims_count; ++d) {
      involved[d] = (comm.involved_dims >> d) & 1;
      all = all && (involved[d] || sizes_[d] == 1);
    }
    if (all) return world;
    // The rank without its coordinates in the dimensions that take part. It is equal for all members of a
    // group.
    const auto key = [&](int64_t r) {
      int64_t kept = 0, stride = 1;
      for (size_t d = 0; d < sizes_.size(); stride *= sizes_[d], ++d) {
        if (!involved[d]) kept += r / stride % sizes_[d] * stride;
      }
      return kept;
    };
    std::string name = absl::StrCat(job_.name, ":dims");
    for (const bool b : involved) absl::StrAppend(&name, b ? ":1" : ":0");
    const int64_t own = key(trace->rank - job_.first_rank);
    absl::StrAppend(&name, "@", own);
    std::vector<int>& members = traces_->groups[name];
    if (members.empty()) {
      for (int r = 0; r < job_.ranks; ++r) {
        if (key(r) == own) members.push_back(job_.first_rank + r);
      }
    }
    trace->group_names.push_back(std::move(name));
    return static_cast<uint32_t>(trace->group_names.size() - 1);
  }

  const Job& job_;
  const std::vector<int>& sizes_;
  TraceSet* traces_;
};

}  // namespace

absl::StatusOr<JobSpec> ParseJob(absl::string_view text) {
  JobSpec spec;
  const size_t at = text.rfind('@');
  const absl::string_view after = at == absl::string_view::npos ? "" : text.substr(at + 1);
  const bool timed = !after.empty() && absl::ascii_isdigit(static_cast<unsigned char>(after[0])) &&
                     after.find('/') == absl::string_view::npos;
  if (timed) {
    ASSIGN_OR_RETURN(spec.start, ParseStart(after));
    text = text.substr(0, at);
  }
  if (text.empty()) return absl::InvalidArgumentError("a job without a trace; expected TRACE or TRACE@START");
  spec.trace = std::string(text);
  return spec;
}

absl::StatusOr<TraceSet> MergeJobs(std::vector<JobInput> inputs, std::vector<Job>* jobs) {
  if (inputs.empty()) return absl::InvalidArgumentError("there is no job; expected at least one");
  jobs->clear();
  int64_t total = 0;
  for (const JobInput& input : inputs) {
    Job job;
    job.name = absl::StrCat("job", jobs->size());
    job.input = input.input;
    job.first_rank = static_cast<int>(total);
    job.ranks = static_cast<int>(input.traces.ranks.size());
    job.start = input.start;
    total += job.ranks;
    if (total > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the jobs have ", total, " ranks in all; expected at most ", std::numeric_limits<int32_t>::max()));
    }
    jobs->push_back(std::move(job));
  }
  TraceSet out;
  for (size_t j = 0; j < inputs.size(); ++j) {
    MoveJob(std::move(inputs[j]), (*jobs)[j], static_cast<int>(total), &out);
  }
  return out;
}

void ResolveJobDimensions(const std::vector<Job>& jobs, const std::vector<int>& dimension_sizes,
                          TraceSet* traces) {
  if (dimension_sizes.empty()) return;
  for (const Job& job : jobs) {
    DimensionGroups groups(job, dimension_sizes, traces);
    for (int r = 0; r < job.ranks; ++r)
      groups.Resolve(&traces->ranks[static_cast<size_t>(job.first_rank + r)]);
  }
}

std::vector<Time> RankStarts(const std::vector<Job>& jobs, const Variation& variation) {
  std::vector<Time> starts;
  for (const Job& job : jobs) starts.insert(starts.end(), static_cast<size_t>(job.ranks), job.start);
  const std::vector<Time>& delays = variation.starts();
  if (starts.empty()) return delays;
  for (size_t r = 0; r < delays.size(); ++r) starts[r] += delays[r];
  return starts;
}

std::vector<proto::JobReport> ReportJobs(const std::vector<Job>& jobs, const Metrics& metrics) {
  std::vector<proto::JobReport> out;
  for (const Job& job : jobs) {
    Time end = job.start;
    for (int r = 0; r < job.ranks; ++r)
      end = std::max(end, metrics.ranks[static_cast<size_t>(job.first_rank + r)].end);
    proto::JobReport& report = out.emplace_back();
    report.set_name(job.name);
    report.set_input(job.input);
    report.set_first_rank(job.first_rank);
    report.set_ranks(job.ranks);
    report.set_start_ps(job.start.picos());
    report.set_end_ps(end.picos());
    report.set_makespan_ps((end - job.start).picos());
  }
  return out;
}

}  // namespace chakra
