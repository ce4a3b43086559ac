#include "test/validation/between_nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/collectives/registry.h"
#include "test/validation/csv_line.h"
#include "trace/base/median.h"

namespace chakra::validation {
namespace {

// A row that passed all rules except the rule for rows in place.
struct NodesRow {
  NodesCall call;
  bool in_place = false;
};

absl::StatusOr<std::pair<std::string, NodesMachine>> ParseMachineLine(const CsvLine& line) {
  std::string name, domains, set;
  NodesMachine m;
  for (const absl::Status& s :
       {line.Read("machine", &name), line.Read("fabric", &m.fabric), line.Read("cluster", &m.cluster),
        line.Read("domains", &domains), line.Read("settings", &m.settings),
        line.Read("all_to_all_settings", &m.all_to_all_settings), line.Read("set", &set),
        line.Read("why", &m.why)}) {
    if (!s.ok()) return s;
  }
  if (!domains.empty()) {
    if (absl::Status s = line.Read("domains", &m.domains); !s.ok()) return s;
  }
  m.set = absl::StrSplit(set, ' ', absl::SkipEmpty());
  if (m.cluster.empty() && m.why.empty())
    return line.Error("why", "is empty; expected why the machine is left out");
  if (!m.cluster.empty() && std::count(kNodesFabrics.begin(), kNodesFabrics.end(), m.fabric) == 0) {
    return line.Error("fabric",
                      absl::StrCat("is \"", m.fabric, "\"; expected ", absl::StrJoin(kNodesFabrics, ", ")));
  }
  return std::pair(name, m);
}

// Reads a forced choice; "auto" gives "".
absl::Status ReadForced(const CsvLine& line, const char* column, std::initializer_list<const char*> known,
                        std::string* out) {
  if (absl::Status s = line.Read(column, out); !s.ok()) return s;
  if (*out == "auto") {
    out->clear();
    return absl::OkStatus();
  }
  if (std::count(known.begin(), known.end(), *out) > 0) return absl::OkStatus();
  return line.Error(column, absl::StrCat("is \"", *out, "\"; expected auto, ", absl::StrJoin(known, ", ")));
}

bool IsMpi(const std::string& algorithm, const std::string& protocol) {
  return algorithm == "mpi" || protocol == "mpi" || absl::StartsWith(algorithm, "hier_");
}

// Reads the library's algorithm of a row of MPI ("": its own choice), or the reason why the row is left out.
absl::Status ReadMpi(const CsvLine& line, const std::string& algorithm, NodesCall* call,
                     std::string* reason) {
  static const auto* const kNames =
      new std::map<std::string, std::string>{{"mpi", ""},
                                             {"default_ompi", ""},
                                             {"binary_ompi", "binary"},
                                             {"binomial_ompi", "binomial"},
                                             {"knomial_ompi", "knomial"},
                                             {"linear_ompi", "linear"},
                                             {"linear_sync_ompi", "linear"},
                                             {"modified_bruck_ompi", "bruck"},
                                             {"neighbor_ompi", "neighbor"},
                                             {"pairwise_ompi", "pairwise"},
                                             {"rabenseifner_ompi", "rabenseifner"},
                                             {"recursive_doubling_ompi", "recursive_doubling"},
                                             {"recursive_halving_ompi", "recursive_halving"},
                                             {"ring_ompi", "ring"},
                                             {"ring_segmented_ompi", "ring"},
                                             {"scatter_allgather_ompi", "scatter_all_gather"}};
  std::string buffers, library;
  if (absl::Status s = line.Read("gpu", &buffers); !s.ok()) return s;
  if (absl::Status s = line.Read("library", &library); !s.ok()) return s;
  if (absl::StartsWith(library, "MPICH")) absl::StrAppend(&call->machine, "-mpich");
  const std::optional<CollectiveType> type = CollectiveNamed(call->collective);
  const auto known = kNames->find(algorithm);
  const bool shares = type == CollectiveType::kAllGather || type == CollectiveType::kReduceScatter;
  const bool on_host = absl::StrContains(buffers, "host") || absl::StrContains(buffers, "none");
  if (!type) {
    *reason = absl::StrCat(call->collective, ": not a collective");
  } else if (!on_host) {
    *reason = "buffers of GPUs";
  } else if (type == CollectiveType::kGather || type == CollectiveType::kScatter) {
    *reason = absl::StrCat(call->collective, ": not priced");
  } else if (known == kNames->end() ||
             (type == CollectiveType::kReduce && algorithm == "rabenseifner_ompi")) {
    *reason = "an algorithm that is none of MPI libraries, or not played";
  } else if (shares && call->bytes < 4 * static_cast<uint64_t>(call->ranks)) {
    *reason = "less than an element for each rank";
  } else {
    call->algorithm = known->second;
  }
  return absl::OkStatus();
}

absl::Status CheckCall(const CsvLine& line, const NodesMachine& machine, const NodesCall& call) {
  if (!CollectiveNamed(call.collective)) {
    return line.Error("collective", absl::StrCat("is \"", call.collective, "\"; expected a collective"));
  }
  const int parts = machine.domains > 0 ? machine.domains : call.nodes;
  if (call.ranks % parts == 0) return absl::OkStatus();
  return line.Error("ranks",
                    absl::StrCat("is ", call.ranks, "; expected a multiple of ", parts, ", the nodes"));
}

// Reads the row of a line, or the reason why the row is left out.
absl::Status ParseNodesLine(const CsvLine& line, const NodesMachines& machines, NodesRows rows, NodesRow* row,
                            std::string* reason) {
  NodesCall& call = row->call;
  std::string algorithm, protocol, settings, in_place, use;
  for (const absl::Status& s :
       {line.Read("machine", &call.machine), line.Read("collective", &call.collective),
        line.Read("algo", &algorithm), line.Read("proto", &protocol), line.Read("ranks", &call.ranks),
        line.Read("nodes", &call.nodes), line.Read("bytes", &call.bytes),
        line.Read("time_us", &call.measured_us), line.Read("settings", &settings),
        line.Read("in_place", &in_place), line.Read("use", &use)}) {
    if (!s.ok()) return s;
  }
  if (use != "yes") {
    *reason = absl::StrCat("not for use, by the file: ", use);
    return absl::OkStatus();
  }
  const bool mpi = IsMpi(algorithm, protocol);
  if (mpi != (rows == NodesRows::kMpi)) {
    *reason = mpi ? "MPI: buffers of hosts, or MPI's own algorithms" : "not of MPI";
    return absl::OkStatus();
  }
  if (mpi) {
    if (absl::Status s = ReadMpi(line, algorithm, &call, reason); !s.ok() || !reason->empty()) return s;
  }
  const auto at = machines.find(call.machine);
  if (at == machines.end()) {
    return line.Error("machine",
                      absl::StrCat("is \"", call.machine, "\", which between_nodes_machines.csv lacks"));
  }
  const NodesMachine& machine = at->second;
  if (machine.cluster.empty()) {
    *reason = absl::StrCat(call.machine, ": ", machine.why);
    return absl::OkStatus();
  }
  const bool exchange = call.collective == "all_to_all" && !machine.all_to_all_settings.empty();
  if (!absl::StrContains(settings, exchange ? machine.all_to_all_settings : machine.settings)) {
    *reason = absl::StrCat(call.machine, ": other settings");
    return absl::OkStatus();
  }
  call.fabric = machine.fabric;
  row->in_place = in_place == "yes";
  if (mpi) return CheckCall(line, machine, call);
  if (absl::Status s = ReadForced(line, "algo", {"ring", "tree", "nvls_tree"}, &call.algorithm); !s.ok())
    return s;
  if (absl::Status s = ReadForced(line, "proto", {"ll", "ll128", "simple"}, &call.protocol); !s.ok())
    return s;
  return CheckCall(line, machine, call);
}

// Leaves out rows in place if the machine has others, and takes medians.
void TakeMedians(std::vector<NodesRow> rows, NodesTable* table) {
  std::set<std::string> apart;
  for (const NodesRow& r : rows) {
    if (!r.in_place) apart.insert(r.call.machine);
  }
  const auto key = [](const NodesCall& c) {
    return std::tie(c.machine, c.collective, c.algorithm, c.protocol, c.nodes, c.ranks, c.bytes);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const NodesRow& a, const NodesRow& b) { return key(a.call) < key(b.call); });
  std::vector<double> times;
  for (NodesRow& r : rows) {
    if (r.in_place && apart.count(r.call.machine) > 0) {
      ++table->left_out["in place, where the machine has rows out of place"];
      continue;
    }
    const bool same = !table->calls.empty() && key(table->calls.back()) == key(r.call);
    if (!same) {
      times.clear();
      table->calls.push_back(r.call);
    }
    times.push_back(r.call.measured_us);
    table->calls.back().measured_us = Median(times);
  }
}

}  // namespace

size_t NodesBand(uint64_t bytes) {
  constexpr uint64_t kKiB = 1024, kMiB = kKiB * kKiB;
  return bytes < 64 * kKiB ? 0 : bytes < kMiB ? 1 : bytes < 32 * kMiB ? 2 : 3;
}

std::string NodesCall::Forced() const {
  if (algorithm.empty() && protocol.empty()) return "auto";
  return absl::StrCat(algorithm, algorithm.empty() || protocol.empty() ? "" : "/", protocol);
}

absl::StatusOr<NodesMachines> ParseNodesMachines(const std::string& text) {
  NodesMachines machines;
  const absl::Status read = ForEachLine(text, [&](const CsvLine& line) {
    absl::StatusOr<std::pair<std::string, NodesMachine>> machine = ParseMachineLine(line);
    if (!machine.ok()) return machine.status();
    if (!machines.insert(*std::move(machine)).second) return line.Error("machine", "is there twice");
    return absl::OkStatus();
  });
  if (!read.ok()) return read;
  return machines;
}

absl::StatusOr<NodesTable> ParseBetweenNodes(const std::string& text, const NodesMachines& machines,
                                             NodesRows wanted) {
  NodesTable table;
  std::vector<NodesRow> rows;
  const absl::Status read = ForEachLine(text, [&](const CsvLine& line) {
    NodesRow row;
    std::string reason;
    if (absl::Status s = ParseNodesLine(line, machines, wanted, &row, &reason); !s.ok()) return s;
    ++table.rows;
    if (reason.empty()) {
      rows.push_back(std::move(row));
    } else {
      ++table.left_out[reason];
    }
    return absl::OkStatus();
  });
  if (!read.ok()) return read;
  TakeMedians(std::move(rows), &table);
  return table;
}

}  // namespace chakra::validation
