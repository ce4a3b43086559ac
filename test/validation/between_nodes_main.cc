// Published measurements of collectives between nodes against predictions: tables, and the medians that must
// hold.
//
//   between_nodes_validation BETWEEN_NODES.csv [--out FOLDER] [--check] [--compare FOLDER]
//
// Presets for machines: test/validation/between_nodes_machines.csv. --out writes between_nodes.csv and
// between_nodes.md;
// --compare wants the same bytes in a folder; --check wants the figures of CheckBetweenNodes(). Exit status:
// 0 all holds; 1 a figure, a file or the input does not; 2 the command line is wrong; 77 there is no file of
// measurements.
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "test/validation/between_nodes.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

struct NodesOptions {
  std::string measured, out, compare;
  bool check = false;
};

int FailNodes(const std::string& what) {
  std::fprintf(stderr, "between_nodes_validation: %s\n", what.c_str());
  return 1;
}

std::string SourceFile(const char* name) {
  return absl::StrCat(CHAKRA_SOURCE_DIR, "/test/validation/", name);
}

int CompareNodes(const NodesOptions& o, const std::string& name, const std::string& content) {
  const std::string path = absl::StrCat(o.compare, "/", name);
  const absl::StatusOr<std::string> kept = ReadFile(path);
  if (kept.ok() && *kept == content) return 0;
  return FailNodes(absl::StrCat(path, kept.ok() ? " is not what the code gives now" : " cannot be read",
                                "; to write it anew: build/test/between_nodes_validation ", o.measured,
                                " --out ", o.compare));
}

int CheckNodes(const std::vector<NodesCall>& calls) {
  size_t failed = 0;
  const std::vector<Finding> findings = CheckBetweenNodes(calls);
  for (const Finding& f : findings) {
    std::printf("%s  %s\n", f.ok ? "ok  " : "FAIL", f.text.c_str());
    failed += !f.ok;
  }
  if (failed == 0) return 0;
  return FailNodes(absl::StrCat(failed, " of ", findings.size(), " figures do not hold"));
}

absl::StatusOr<NodesTable> PricedTable(const std::string& path, const NodesMachines& machines) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  absl::StatusOr<NodesTable> table = ParseBetweenNodes(*text, machines);
  if (!table.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", table.status().message()));
  if (absl::Status s = PredictBetweenNodes(machines, &table->calls); !s.ok()) return s;
  return table;
}

int RunNodes(const NodesOptions& o) {
  if (!std::filesystem::exists(o.measured)) {
    std::fprintf(stderr, "between_nodes_validation: SKIPPED: %s is absent\n", o.measured.c_str());
    return 77;
  }
  const std::string machines_path = SourceFile("between_nodes_machines.csv");
  const absl::StatusOr<std::string> text = ReadFile(machines_path);
  if (!text.ok()) return FailNodes(std::string(text.status().message()));
  const absl::StatusOr<NodesMachines> machines = ParseNodesMachines(*text);
  if (!machines.ok()) return FailNodes(absl::StrCat(machines_path, ": ", machines.status().message()));
  const absl::StatusOr<NodesTable> table = PricedTable(o.measured, *machines);
  if (!table.ok()) return FailNodes(std::string(table.status().message()));
  const absl::StatusOr<std::string> left_out = ReadFile(SourceFile("between_nodes_left_out.md"));
  const std::pair<std::string, std::string> files[] = {
      {"between_nodes.csv", BetweenNodesCsv(table->calls)},
      {"between_nodes.md", BetweenNodesMarkdown(*table, *machines, left_out.ok() ? *left_out : "")}};
  std::error_code error;
  if (!o.out.empty()) std::filesystem::create_directories(o.out, error);
  int status = 0;
  for (const auto& [name, content] : files) {
    if (!o.out.empty()) {
      if (const absl::Status s = WriteFile(absl::StrCat(o.out, "/", name), content); !s.ok())
        return FailNodes(std::string(s.message()));
    }
    if (!o.compare.empty()) status |= CompareNodes(o, name, content);
  }
  if (o.check) status |= CheckNodes(table->calls);
  return status;
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::NodesOptions o;
  bool usage = false;
  const std::vector<std::string> args(argv + 1, argv + argc);
  for (size_t i = 0; i < args.size(); ++i) {
    if ((args[i] == "--out" || args[i] == "--compare") && i + 1 < args.size()) {
      (args[i] == "--out" ? o.out : o.compare) = args[i + 1];
      ++i;
    } else if (args[i] == "--check") {
      o.check = true;
    } else if (o.measured.empty() && !args[i].empty() && args[i][0] != '-') {
      o.measured = args[i];
    } else {
      usage = true;
    }
  }
  if (usage || o.measured.empty() || !(o.check || !o.out.empty() || !o.compare.empty())) {
    std::fprintf(
        stderr,
        "usage: between_nodes_validation BETWEEN_NODES.csv [--out FOLDER] [--check] [--compare FOLDER], one "
        "of the last three at least\n");
    return 2;
  }
  return chakra::validation::RunNodes(o);
}
