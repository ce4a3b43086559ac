// Published measurements of collectives between nodes against predictions: tables, and the medians that must
// hold.
//
//   between_nodes_validation BETWEEN_NODES.csv [--out FOLDER] [--compare FOLDER] [--check]
//
// Presets for machines: test/validation/between_nodes_machines.csv. --out writes between_nodes.csv and
// between_nodes.md;
// --compare wants the same bytes in a folder; --check wants the figures of CheckBetweenNodes().
#include <string>

#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "test/validation/between_nodes.h"
#include "test/validation/program.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

std::string SourceFile(const char* name) {
  return absl::StrCat(CHAKRA_SOURCE_DIR, "/test/validation/", name);
}

absl::StatusOr<NodesMachines> ReadMachines() {
  const std::string path = SourceFile("between_nodes_machines.csv");
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<NodesMachines> machines = ParseNodesMachines(*text);
  if (!machines.ok())
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", machines.status().message()));
  return machines;
}

absl::StatusOr<NodesTable> PricedTable(const std::string& path, const NodesMachines& machines) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<NodesTable> table = ParseBetweenNodes(*text, machines);
  if (!table.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", table.status().message()));
  if (absl::Status s = PredictBetweenNodes(machines, &table->calls); !s.ok()) return s;
  return table;
}

int Run(const Program& program) {
  const absl::StatusOr<NodesMachines> machines = ReadMachines();
  if (!machines.ok()) return program.Fail(machines.status());
  const absl::StatusOr<NodesTable> table = PricedTable(program.input(), *machines);
  if (!table.ok()) return program.Fail(table.status());
  const absl::StatusOr<std::string> left_out = ReadFile(SourceFile("between_nodes_left_out.md"));
  const int kept = program.Keep(
      {{"between_nodes.csv", BetweenNodesCsv(table->calls)},
       {"between_nodes.md", BetweenNodesMarkdown(*table, *machines, left_out.ok() ? *left_out : "")}});
  return kept | program.Check(CheckBetweenNodes(table->calls));
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::Program program("between_nodes_validation", "BETWEEN_NODES.csv");
  const int status = program.Parse(argc, argv, true);
  return status == program.kGoOn ? chakra::validation::Run(program) : status;
}
