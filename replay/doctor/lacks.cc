#include "replay/doctor/lacks.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/model/unseen_work.h"

namespace chakra::doctor {
namespace {

// Counts of nodes over all ranks, by what is known of them. Ranks that share a graph each count.
struct Counts {
  uint64_t device = 0;     // computation and copies that are not on a CPU
  uint64_t timeless = 0;   // part of `device`: without a duration, and without work that a model could price
  uint64_t shapeless = 0;  // part of `operators`: without shapes
  uint64_t operators = 0;  // CPU operators
  uint64_t calls = 0;      // collectives and messages
  uint64_t sizeless = 0;   // part of `calls`: without a size, with a time, which they keep
  uint64_t unknown = 0;    // part of `calls`: without a size and without a time
  uint64_t kept = 0;       // communication that keeps its recorded time
  std::set<std::string> unnamed;  // groups of calls that no list of groups has
  bool times = false;
  Time first = Time::Never(), last;
};

void CountRow(const RankTrace& rank, uint32_t row, const Groups& groups, Counts* counts) {
  const Graph& g = *rank.graph;
  const bool timed = g.duration[row] > Time();
  switch (g.type[row]) {
    case NodeType::kCollective:
    case NodeType::kSend:
    case NodeType::kRecv: {
      ++counts->calls;
      const Comm& comm = g.comm[g.payload[row]];
      const bool barrier = comm.type == static_cast<uint8_t>(CollectiveType::kBarrier);
      if (!comm.has_bytes && !barrier) ++(timed ? counts->sizeless : counts->unknown);
      const std::string& group = rank.group_names[rank.peers[g.payload[row]].group];
      if (g.type[row] == NodeType::kCollective && !group.empty() && groups.count(group) == 0)
        counts->unnamed.insert(group);
      return;
    }
    case NodeType::kComp:
    case NodeType::kMemLoad:
    case NodeType::kMemStore:
      if (g.is_kept_comm(row)) {
        ++counts->kept;
        return;
      }
      if (g.is_cpu(row)) {
        ++counts->operators;
        if (g.shapes.empty() || g.shapes[row] == 0) ++counts->shapeless;
        return;
      }
      ++counts->device;
      if (!timed && (g.payload[row] == kNoRow ||
                     (!g.work[g.payload[row]].has_num_ops && !g.work[g.payload[row]].has_tensor_bytes)))
        ++counts->timeless;
      return;
    default:
      return;
  }
}

Counts CountNodes(const TraceSet& traces) {
  Counts counts;
  for (const RankTrace& rank : traces.ranks) {
    const Graph& g = *rank.graph;
    for (uint32_t row = 0; row < g.size(); ++row) {
      CountRow(rank, row, traces.groups, &counts);
      if (g.duration[row] > Time()) counts.times = true;
      const Time start = g.start.empty() ? Time() : g.start[row];
      counts.first = std::min(counts.first, start);
      counts.last = std::max(counts.last, start + g.duration[row]);
    }
  }
  return counts;
}

class Lacks {
 public:
  Lacks(absl::string_view recorder, proto::FoundRun* run) : recorder_(recorder), run_(run) {}

  void Add(std::string what, std::string cost, std::string remedy) {
    proto::Lack* lack = run_->add_lack();
    lack->set_what(std::move(what));
    lack->set_cost(std::move(cost));
    lack->set_remedy(std::move(remedy));
  }
  bool recorded() const { return !recorder_.empty(); }
  // "record it: chakra-replay record-help nsys"; `otherwise` if no profiler has recorded the traces.
  std::string RecordAgain(absl::string_view otherwise) const {
    return recorder_.empty() ? std::string(otherwise)
                             : absl::StrCat("record it: chakra-replay record-help ", recorder_);
  }

 private:
  absl::string_view recorder_;
  proto::FoundRun* run_;
};

std::string Of(uint64_t part, uint64_t all, absl::string_view things) {
  return absl::StrCat(FormatCount(part), " of ", FormatCount(all), " ", things);
}

// The number of ranks of the job, from its groups.
int JobSize(const TraceSet& traces) {
  int size = static_cast<int>(traces.ranks.size());
  for (const auto& [name, ranks] : traces.groups) {
    for (const int r : ranks) size = std::max(size, r + 1);
  }
  return size;
}

void CommunicationLacks(const Counts& counts, Lacks* lacks) {
  if (counts.kept > 0) {
    lacks->Add(absl::StrCat("sizes or groups of ", FormatCount(counts.kept), " communication operations"),
               "these keep their recorded time on any cluster",
               lacks->RecordAgain("name sizes (comm_size) and groups in the traces"));
  }
  if (counts.sizeless > 0) {
    lacks->Add(absl::StrCat("sizes of ", Of(counts.sizeless, counts.calls, "collectives and messages")),
               "these keep their recorded time on any cluster",
               lacks->RecordAgain("set comm_size in the traces"));
  }
  if (counts.unknown > 0) {
    lacks->Add(
        absl::StrCat("sizes and times of ", Of(counts.unknown, counts.calls, "collectives and messages")),
        "a replay stops at the first of them", lacks->RecordAgain("set comm_size in the traces"));
  }
  if (!counts.unnamed.empty()) {
    lacks->Add(absl::StrCat("members of ", counts.unnamed.size() == 1 ? "group " : "groups such as ", "\"",
                            *counts.unnamed.begin(), "\""),
               "a replay stops at the first call on it",
               "write {\"NAME\": [ranks], ...} to a file and add --groups FILE");
  }
}

}  // namespace

namespace {

// Adds work of the device that captures do not show. Returns whether there is much of it.
bool AddUnseen(const TraceSet& traces, Lacks* lacks) {
  const UnseenWork unseen = UnseenOf(traces);
  if (!unseen.Counts()) return false;
  lacks->Add(absl::StrCat("work of the device: ", Describe(unseen)),
             "computation is too low, and what bounds the run is not known",
             lacks->RecordAgain("record it again"));
  return true;
}

}  // namespace

void FindLacks(const TraceSet& traces, absl::string_view recorder, proto::FoundRun* run) {
  const Counts counts = CountNodes(traces);
  run->set_ranks(static_cast<int32_t>(traces.ranks.size()));
  run->set_nodes(traces.nodes());
  run->set_device_nodes(counts.device);
  run->set_collectives(counts.calls);
  if (counts.times) run->set_span_ps((counts.last - counts.first).picos());

  Lacks lacks(recorder, run);
  if (const int job = JobSize(traces); job > static_cast<int>(traces.ranks.size())) {
    lacks.Add(
        absl::StrCat(job - static_cast<int>(traces.ranks.size()), " of ", job, " ranks"),
        "their work and delays are not known; collectives keep their recorded times",
        traces.ranks.size() == 1
            ? absl::StrCat("give the files of all ranks; or replay all ranks like this one: --ranks ", job)
            : "give the files of all ranks");
  }
  const bool unseen = AddUnseen(traces, &lacks);
  if (counts.device == 0 && counts.operators > 0 && !unseen) {
    lacks.Add("operations of a device", "only the host's time is known",
              recorder.empty() ? "none, if the job ran on CPUs"
                               : absl::StrCat("none, if the job ran on CPUs; else record it: chakra-replay "
                                              "record-help ",
                                              recorder));
  }
  if (counts.timeless > 0 && recorder.empty()) {  // a recorded time of 0 is a time
    lacks.Add(absl::StrCat("times and work of ", Of(counts.timeless, counts.device, "device operations")),
              "these take no time, unless a kernel table has them",
              "add --kernels FILE --compute table (see chakra-replay kernels)");
  }
  if (!recorder.empty() && counts.operators > 0 && counts.shapeless == counts.operators) {
    lacks.Add("shapes of operators", "models and kernel tables cannot distinguish sizes",
              lacks.RecordAgain(""));
  }
  CommunicationLacks(counts, &lacks);
}

}  // namespace chakra::doctor
