// Published measurements of collectives between nodes against predictions: tables, and checks of medians.
//
//   between_nodes_validation BETWEEN_NODES.csv [--out FOLDER] [--compare FOLDER] [--check]
//
// The presets of machines are in test/validation/between_nodes_machines.csv, those for MPI in
// between_nodes_mpi_machines.csv. --out writes between_nodes.csv, between_nodes.md, and both files of
// between_nodes_mpi; --compare expects the same bytes in a folder; --check runs CheckBetweenNodes() and
// CheckBetweenNodesMpi().
#include <string>

#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "test/validation/between_nodes.h"
#include "test/validation/program.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

std::string SourceFile(const std::string& name) {
  return absl::StrCat(CHAKRA_SOURCE_DIR, "/test/validation/", name);
}

absl::StatusOr<NodesMachines> ReadMachines(const std::string& name) {
  const std::string path = SourceFile(name + "_machines.csv");
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<NodesMachines> machines = ParseNodesMachines(*text);
  if (!machines.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", machines.status().message()));
  return machines;
}

absl::StatusOr<NodesTable> PricedTable(const std::string& path, const NodesMachines& machines,
                                       NodesRows rows) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<NodesTable> table = ParseBetweenNodes(*text, machines, rows);
  if (!table.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", table.status().message()));
  if (absl::Status s = PredictBetweenNodes(machines, &table->calls); !s.ok()) return s;
  return table;
}

// Makes one page and its table; `name` is the name of the files.
int Run(const Program& program, const std::string& name, NodesRows rows) {
  const absl::StatusOr<NodesMachines> machines = ReadMachines(name);
  if (!machines.ok()) return program.Fail(machines.status());
  const absl::StatusOr<NodesTable> table = PricedTable(program.input(), *machines, rows);
  if (!table.ok()) return program.Fail(table.status());
  const absl::StatusOr<std::string> left_out = ReadFile(SourceFile(name + "_left_out.md"));
  const bool mpi = rows == NodesRows::kMpi;
  const auto page = mpi ? BetweenNodesMpiMarkdown : BetweenNodesMarkdown;
  const int kept = program.Keep({{name + ".csv", BetweenNodesCsv(table->calls)},
                                 {name + ".md", page(*table, *machines, left_out.ok() ? *left_out : "")}});
  return kept | program.Check(mpi ? CheckBetweenNodesMpi(table->calls) : CheckBetweenNodes(table->calls));
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  using chakra::validation::NodesRows;
  chakra::validation::Program program("between_nodes_validation", "BETWEEN_NODES.csv");
  const int status = program.Parse(argc, argv, true);
  if (status != program.kGoOn) return status;
  return chakra::validation::Run(program, "between_nodes", NodesRows::kNccl) |
         chakra::validation::Run(program, "between_nodes_mpi", NodesRows::kMpi);
}
