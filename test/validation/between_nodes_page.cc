#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/validation/between_nodes.h"
#include "test/validation/between_nodes_cells.h"
#include "trace/base/median.h"
#include "trace/io/csv.h"

namespace chakra::validation {
namespace {

constexpr size_t kBands = kNodesBands.size();

// Bounds on the median of |error| of a fabric: InfiniBand and RoCE, then the others.
constexpr double kMostKnown[kBands] = {0.15, 0.15, 0.15, 0.08};
constexpr double kMostOther[kBands] = {0.25, 0.25, 0.20, 0.12};

// Cells that were above the bounds when the check was written: 3 points above their value at that time.
struct Exception {
  const char* fabric;
  size_t band;
  double most;
};
constexpr Exception kExceptions[] = {{"racks", 2, 0.246}};

struct Growth {
  const char* machine;
  const char* forced;
  std::vector<uint64_t> sizes;
};

double MostOf(const std::string& fabric, size_t band) {
  return fabric == "InfiniBand" || fabric == "RoCE" ? kMostKnown[band] : kMostOther[band];
}

const Exception* ExceptionOf(const std::string& fabric, size_t band) {
  for (const Exception& e : kExceptions) {
    if (fabric == e.fabric && band == e.band) return &e;
  }
  return nullptr;
}

size_t FabricIndex(const std::string& fabric) {
  return static_cast<size_t>(std::find(kNodesFabrics.begin(), kNodesFabrics.end(), fabric) -
                             kNodesFabrics.begin());
}

std::string CollectiveText(const NodesCall& c) {
  return c.Forced() == "auto" ? c.collective : absl::StrCat(c.collective, ", ", c.Forced());
}

void AppendByFabric(const std::vector<NodesCall>& calls, std::string* out) {
  absl::StrAppend(out, "\n## By fabric\n");
  AppendTableHead("fabric | collective", 2, out);
  const auto by_collective =
      CellsBy(calls, [](const NodesCall& c) { return std::tuple(FabricIndex(c.fabric), c.collective); });
  for (const auto& [key, cells] : by_collective) {
    AppendCells(absl::StrCat(kNodesFabrics[std::get<0>(key)], " | ", std::get<1>(key)), cells, out);
  }
  const auto by_fabric = CellsBy(calls, [](const NodesCall& c) { return FabricIndex(c.fabric); });
  for (const auto& [fabric, cells] : by_fabric) {
    AppendCells(absl::StrCat(kNodesFabrics[fabric], " | all"), cells, out);
  }
}

void AppendBounds(const std::vector<NodesCall>& calls, std::string* out) {
  absl::StrAppend(out, R"(
## What the check holds

`--check` holds the median of the absolute error of a fabric, over all its collectives. InfiniBand and RoCE: at most 15, 15, 15 and
8 % in the four bands. The other fabrics: at most 25, 25, 20 and 12 %. Cells that did not hold when the check was written have a bound
of their own, 3 points above what they had, so that they do not get worse:

| fabric | band | median of the absolute error | should be at most | is held to |
|---|---|---|---|---|
)");
  const auto by_fabric = CellsBy(calls, [](const NodesCall& c) { return c.fabric; });
  for (const Exception& e : kExceptions) {
    const auto at = by_fabric.find(e.fabric);
    if (at == by_fabric.end() || at->second[e.band].empty()) continue;
    absl::StrAppendFormat(out, "| %s | %s | %.1f %% | %.0f %% | %.1f %% |\n", e.fabric, kNodesBands[e.band],
                          100 * MedianAbsolute(at->second[e.band]), 100 * MostOf(e.fabric, e.band),
                          100 * e.most);
  }
}

void AppendByMachine(const std::vector<NodesCall>& calls, std::string* out) {
  absl::StrAppend(
      out,
      "\n## By machine and nodes\n\nA collective with an algorithm or a protocol: the run forced it. Of "
      "racks, nodes are hosts.\n");
  AppendTableHead("machine | collective | nodes", 3, out);
  const auto by_machine = CellsBy(calls, [](const NodesCall& c) {
    return std::tuple(FabricIndex(c.fabric), c.machine, CollectiveText(c), c.nodes);
  });
  for (const auto& [key, cells] : by_machine) {
    AppendCells(absl::StrCat(std::get<1>(key), " | ", std::get<2>(key), " | ", std::get<3>(key)), cells, out);
  }
}

// One machine's times by nodes.
void AppendGrowthOf(const Growth& growth, const std::vector<NodesCall>& calls, std::string* out) {
  std::map<uint64_t, std::map<int, const NodesCall*>> by_size;
  std::set<int> nodes;
  for (const NodesCall& c : calls) {
    if (c.machine != growth.machine || c.collective != "all_reduce" || c.Forced() != growth.forced ||
        std::count(growth.sizes.begin(), growth.sizes.end(), c.bytes) == 0) {
      continue;
    }
    by_size[c.bytes][c.nodes] = &c;
    nodes.insert(c.nodes);
  }
  if (by_size.empty()) return;
  absl::StrAppend(out, "\n", growth.machine, ", all_reduce, algorithm: ", growth.forced, "\n\n| size |");
  for (int n : nodes) absl::StrAppend(out, " ", n, " |");
  absl::StrAppend(out, "\n|---|");
  for (size_t i = 0; i < nodes.size(); ++i) absl::StrAppend(out, "---|");
  for (const auto& [bytes, row] : by_size) {
    absl::StrAppend(out, "\n| ", SizeText(bytes), " |");
    for (int n : nodes) {
      const auto at = row.find(n);
      absl::StrAppend(out, " ",
                      at == row.end()
                          ? "-"
                          : absl::StrFormat("%.0f / %.0f", at->second->measured_us, at->second->predicted_us),
                      " |");
    }
  }
  absl::StrAppend(out, "\n");
}

// A call's time over the same call's time on the fewest nodes of its machine, predicted against measured.
void AppendGrowthErrors(const std::vector<NodesCall>& calls, std::string* out) {
  std::map<std::tuple<std::string, std::string, std::string, uint64_t>, const NodesCall*> fewest;
  std::map<std::string, Cells> by_machine;
  Cells all;
  for (const NodesCall& c : calls) {  // by nodes
    const NodesCall* first =
        fewest.try_emplace({c.machine, c.collective, c.Forced(), c.bytes}, &c).first->second;
    if (first->nodes == c.nodes) continue;
    const double error = (1 + c.Error()) / (1 + first->Error()) - 1;
    by_machine[c.machine][NodesBand(c.bytes)].push_back(error);
    all[NodesBand(c.bytes)].push_back(error);
  }
  absl::StrAppend(out,
                  "\nThe growth of a call: its time over the same call's on the fewest nodes of its machine. "
                  "Predicted growth / measured growth - 1, in %:\n");
  AppendTableHead("machine", 1, out);
  for (const auto& [machine, cells] : by_machine) AppendCells(machine, cells, out);
  AppendCells("all", all, out);
}

void AppendGrowth(const std::vector<NodesCall>& calls, std::string* out) {
  constexpr uint64_t kKiB = 1024, kMiB = kKiB * kKiB;
  const std::vector<uint64_t> marenostrum = {256, 16 * kKiB, 8 * kMiB, 64 * kMiB, 128 * kMiB, 512 * kMiB};
  const Growth machines[] = {
      {"alps-clariden",
       "auto",
       {8, 4 * kKiB, 32 * kKiB, 256 * kKiB, kMiB, 16 * kMiB, 128 * kMiB, 1024 * kMiB, 4096 * kMiB}},
      {"marenostrum5-acc", "ring", marenostrum},
      {"marenostrum5-acc", "tree", marenostrum}};
  absl::StrAppend(
      out,
      "\n## How the time grows with nodes\n\nMeasured / predicted, in us. Columns are nodes of 4 GPUs.\n");
  for (const Growth& g : machines) AppendGrowthOf(g, calls, out);
  AppendGrowthErrors(calls, out);
}

void AppendB200(const std::vector<NodesCall>& calls, std::string* out) {
  absl::StrAppend(
      out,
      "\n## Four nodes of B200 on EFA\n\nAll-reduce on 4 nodes of 8 B200 (AWS P6, stas00/ml-engineering), "
      "against `aws-p6-b200`.\n\n| size | measured | predicted | with | error |\n|---|---|---|---|---|\n");
  for (const NodesCall& c : calls) {
    if (c.machine != "aws-p6-b200-stas") continue;
    absl::StrAppendFormat(out, "| %s | %.1f us | %.1f us | %s | %+.1f %% |\n", SizeText(c.bytes),
                          c.measured_us, c.predicted_us, c.chosen, 100 * c.Error());
  }
}

// The clusters of the machines, and the rows left out.
void AppendMachines(const NodesTable& table, const NodesMachines& machines, std::string* out) {
  std::set<std::string> judged;
  for (const NodesCall& c : table.calls) judged.insert(c.machine);
  absl::StrAppend(
      out,
      "\n## What stands for each machine\n\nThe table is `between_nodes_machines.csv`. Nodes, and the "
      "GPUs of each, are those of the row.\n\n| machine | fabric | cluster | why |\n|---|---|---|---|\n");
  for (const std::string& name : judged) {
    const NodesMachine& m = machines.at(name);
    absl::StrAppend(out, "| ", name, " | ", m.fabric, " | `", m.cluster, "`");
    for (const std::string& set : m.set) absl::StrAppend(out, " `--set ", set, "`");
    absl::StrAppend(out, " | ", m.why, " |\n");
  }
  absl::StrAppend(out, "\n## Left out\n\n| rows | why |\n|---|---|\n");
  for (const auto& [reason, rows] : table.left_out) absl::StrAppend(out, "| ", rows, " | ", reason, " |\n");
}

constexpr char kNotes[] = R"(
## What is known of the measurements

- Alps has a hole from 64 KiB to 2 MiB on 2 to 8 nodes (0.9 to 1.5 ms). Later software does not have it.
- On Alps, runs from 64 nodes on differ by the day. All-reduce of 1 GiB on 64 nodes took 24 to 281 ms in ten runs.
- Trees on MareNostrum 5 are faster than the law below 64 KiB and at 8 MiB. The release of its NCCL is not recorded.
- V100 with EFA of 2019 take 163 us for 8 bytes on 2 nodes and 631 us on 8. They ran NCCL 2.4, which has another tuner.
- MI300X with cards that the source does not name takes 219 us for 32 bytes on 2 nodes, where MI355X takes 40 us. No transport
  stands for these cards. This page prices them with `roce-400`, and no number was fitted to them.
- nccl1357 ran one GPU of each node. The law has its trees twice as slow: what it counts for the filling of the pipeline is that of
  nodes with 4 and 8 cards. The fit did not have these rows, nor those of MI300X.
)";

}  // namespace

std::string BetweenNodesCsv(const std::vector<NodesCall>& calls) {
  std::string out = "machine,collective,algorithm,nodes,ranks,bytes,measured_us,predicted_us,chosen\n";
  for (const NodesCall& c : calls) {
    absl::StrAppendFormat(&out, "%s,%s,%s,%d,%d,%d,%.2f,%.1f,%s\n", CsvAsItIs(c.machine),
                          CsvAsItIs(c.collective), c.Forced(), c.nodes, c.ranks, c.bytes, c.measured_us,
                          c.predicted_us, c.chosen);
  }
  return out;
}

std::string BetweenNodesMarkdown(const NodesTable& table, const NodesMachines& machines,
                                 const std::string& left_out) {
  std::set<std::string> judged;
  for (const NodesCall& c : table.calls) judged.insert(c.machine);
  std::string out = absl::StrCat(
      "# Collectives between nodes\n\n", table.calls.size(), " calls of NCCL and RCCL on ", judged.size(),
      " machines (nccl-tests and the like), against presets on the fabric `analytical`.\n\n"
      "- A call is a machine, a collective, an algorithm, nodes and bytes. Its time is the median of its "
      "rows. "
      "`between_nodes.csv` has each.\n"
      "- Rows are out of place, where a machine has such rows. Bytes are those of nccl-tests.\n"
      "- The error is predicted / measured - 1, in %. Cells: its median, the median of its absolute value, "
      "and in "
      "brackets the calls.\n\n"
      "The constants of the transports (`backends/transports`) and of the law "
      "(`replay/nccl/between_nodes.cc`) were "
      "fitted on these rows,\nall together. So this page is a check of the fit. ",
      left_out.empty() ? "" : "With one machine left out at a time: see below.", "\n");
  AppendByFabric(table.calls, &out);
  AppendBounds(table.calls, &out);
  if (!left_out.empty()) {
    absl::StrAppend(
        &out,
        "\n## With one machine left out at a time\n\n"
        "Each machine is predicted by constants that were fitted without it "
        "(`bench/between_nodes_fit.py MEASURED.csv --left-out`, which\nhas the law a second time, as closed "
        "forms). `between_nodes_left_out.md` keeps the table.\n\n",
        left_out);
  }
  absl::StrAppend(&out, kNotes);
  AppendGrowth(table.calls, &out);
  AppendB200(table.calls, &out);
  AppendByMachine(table.calls, &out);
  AppendMachines(table, machines, &out);
  return out;
}

std::vector<Finding> CheckBetweenNodes(const std::vector<NodesCall>& calls) {
  std::vector<Finding> findings;
  const auto by_fabric = CellsBy(calls, [](const NodesCall& c) { return FabricIndex(c.fabric); });
  for (const auto& [index, cells] : by_fabric) {
    const std::string fabric = kNodesFabrics[index];
    for (size_t band = 0; band < kBands; ++band) {
      if (cells[band].empty()) continue;
      const Exception* exception = ExceptionOf(fabric, band);
      const double most = exception != nullptr ? exception->most : MostOf(fabric, band);
      const double median = MedianAbsolute(cells[band]);
      findings.push_back(
          {absl::StrFormat(
               "between nodes, %s, %s: median |error| %.1f %% of %d calls; expected at most %.4g %%%s",
               fabric, kNodesBands[band], 100 * median, cells[band].size(), 100 * most,
               exception != nullptr
                   ? absl::StrFormat(", an exception (others: %.0f %%)", 100 * MostOf(fabric, band))
                   : ""),
           median <= most});
    }
  }
  if (findings.empty()) findings.push_back({"between nodes: no calls", false});
  return findings;
}

}  // namespace chakra::validation
