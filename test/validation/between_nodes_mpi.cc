#include <cmath>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/validation/between_nodes.h"
#include "test/validation/between_nodes_cells.h"

namespace chakra::validation {
namespace {

// Bounds on the median of |error| over all machines in a band: 3 points above the value at the time of
// writing.
constexpr double kMostMpi[kNodesBands.size()] = {0.30, 0.33, 0.35, 0.36};

std::string CallText(const NodesCall& c) {
  return c.algorithm.empty() ? absl::StrCat(c.collective, " | the library's")
                             : absl::StrCat(c.collective, " | ", c.algorithm);
}

}  // namespace

std::string BetweenNodesMpiMarkdown(const NodesTable& table, const NodesMachines& machines,
                                    const std::string& left_out) {
  std::set<std::string> seen;
  for (const NodesCall& c : table.calls) seen.insert(c.machine);
  std::string out = absl::StrFormat(
      "# Collectives between nodes by MPI\n\n%d calls of MPI on buffers of hosts, on %d machines (OSU "
      "micro-benchmarks and pico), "
      "against `library=mpi` on the fabric `analytical`.\n",
      table.calls.size(), seen.size());
  absl::StrAppend(&out, R"(
- A call is a machine, a collective, an algorithm, nodes, ranks and bytes. Its time is the median of its rows.
- The error is predicted / measured - 1, in %. Cells: its median, the median of its absolute value, and in brackets the calls.

The numbers of messages (`host` of `backends/transports`) are read off osu_latency and osu_bw between two hosts; those of InfiniBand,
of sums and of copies (`replay/nccl/mpi`) were fitted on MareNostrum 5 and Leonardo with the algorithm given. No call with the
library's own choice and none of several ranks a node took part, but for the message rates of EFA, gVNIC and Slingshot, and
shared memory on Alps.
)");
  absl::StrAppend(&out, "\n## By machine\n");
  AppendTableHead("fabric | machine", 2, &out);
  for (const auto& [key, cells] :
       CellsBy(table.calls, [](const NodesCall& c) { return std::pair(c.fabric, c.machine); })) {
    AppendCells(absl::StrCat(key.first, " | ", key.second), cells, &out);
  }
  for (const auto& [all, cells] : CellsBy(table.calls, [](const NodesCall&) { return 0; }))
    AppendCells("all | all", cells, &out);
  absl::StrAppend(&out, "\n## By collective and algorithm\n");
  AppendTableHead("machine | ranks a node | collective | algorithm", 4, &out);
  for (const auto& [key, cells] : CellsBy(table.calls, [](const NodesCall& c) {
         return std::tuple(c.machine, c.ranks / c.nodes, CallText(c));
       })) {
    AppendCells(absl::StrCat(std::get<0>(key), " | ", std::get<1>(key), " | ", std::get<2>(key)), cells,
                &out);
  }
  if (!left_out.empty()) absl::StrAppend(&out, "\n## Machines left out in turn\n\n", left_out);
  absl::StrAppend(&out, "\n## Clusters\n\n| machine | cluster | set | why |\n|---|---|---|---|\n");
  for (const auto& [name, m] : machines) {
    std::string set;
    for (const std::string& field : m.set) absl::StrAppend(&set, set.empty() ? "" : " ", field);
    absl::StrAppend(&out, "| ", name, " | ", m.cluster.empty() ? "left out" : m.cluster, " | ", set, " | ",
                    m.why, " |\n");
  }
  absl::StrAppend(&out, "\n## Rows left out\n\n| reason | rows |\n|---|---|\n");
  for (const auto& [reason, rows] : table.left_out) absl::StrAppend(&out, "| ", reason, " | ", rows, " |\n");
  return out;
}

std::vector<Finding> CheckBetweenNodesMpi(const std::vector<NodesCall>& calls) {
  std::vector<Finding> out;
  for (const auto& [all, cells] : CellsBy(calls, [](const NodesCall&) { return 0; })) {
    for (size_t band = 0; band < cells.size(); ++band) {
      if (cells[band].empty()) continue;
      const double error = MedianAbsolute(cells[band]);
      out.push_back(
          {absl::StrFormat("MPI, %s: median of the absolute error %.1f %% of %d calls, at most %.0f %%",
                           kNodesBands[band], 100 * error, cells[band].size(), 100 * kMostMpi[band]),
           error <= kMostMpi[band]});
    }
  }
  return out;
}

}  // namespace chakra::validation
