// Published measurements of all-reduce against predictions: tables, a plot, and checks of figures.
//
//   collectives_validation MEASURED.csv [--one-node NCCL_ONE_NODE.csv] [--experts MOE.csv] [--captures
//   FOLDER]
//   [--out FOLDER] [--check] [--compare FOLDER]
//
// --out writes collectives.csv, collectives.md and collectives.svg; --compare expects the same bytes in a
// folder; --check checks the figures of checks.h.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/validation/calibrated.h"
#include "test/validation/captures.h"
#include "test/validation/checks.h"
#include "test/validation/experts.h"
#include "test/validation/one_node.h"
#include "test/validation/plot.h"
#include "test/validation/program.h"
#include "test/validation/public_figures.h"
#include "test/validation/summary.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

struct Section {
  std::string markdown;
  std::vector<Finding> findings;
};

absl::Status AddPublicFigures(Section* out) {
  const absl::StatusOr<std::vector<PublicRow>> rows = PredictPublicFigures();
  if (!rows.ok()) return rows.status();
  absl::StrAppend(&out->markdown, PublicFiguresMarkdown(*rows));
  for (Finding& f : CheckPublicFigures(*rows)) out->findings.push_back(std::move(f));
  return absl::OkStatus();
}

absl::Status AddExperts(const std::string& path, Section* out) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::vector<ExpertsRow>> rows = PredictExperts(*text);
  if (!rows.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", rows.status().message()));
  absl::StrAppend(&out->markdown, ExpertsMarkdown(*rows));
  for (Finding& f : CheckExperts(*rows)) out->findings.push_back(std::move(f));
  return absl::OkStatus();
}

absl::Status AddCaptures(const std::string& folder, Section* out) {
  const absl::StatusOr<std::vector<CaptureRow>> rows = ReadCaptures(folder);
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return absl::OkStatus();
  absl::StrAppend(&out->markdown, CapturesMarkdown(*rows));
  for (Finding& f : CheckCaptures(*rows)) out->findings.push_back(std::move(f));
  return absl::OkStatus();
}

absl::Status Read(const std::string& path, Section* out) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  const absl::StatusOr<std::vector<OneNodeRow>> rows = ParseOneNode(*text);
  if (!rows.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", rows.status().message()));
  const absl::StatusOr<std::vector<double>> presets = PredictOneNode(*rows, false);
  if (!presets.ok()) return presets.status();
  const absl::StatusOr<std::vector<double>> left_out = PredictOneNode(*rows, true);
  if (!left_out.ok()) return left_out.status();
  out->markdown = OneNodeMarkdown(*rows, *presets, *left_out);
  out->findings = CheckOneNode(*rows, *presets);
  return absl::OkStatus();
}

// The sections that the options ask for, besides all-reduce.
absl::StatusOr<Section> MoreOf(const Program& program) {
  Section more;
  absl::Status s;
  if (const std::string& path = program.Option("--one-node"); !path.empty()) s = Read(path, &more);
  s.Update(AddPublicFigures(&more));
  if (const std::string& path = program.Option("--experts"); !path.empty()) s.Update(AddExperts(path, &more));
  if (const std::string& path = program.Option("--captures"); !path.empty())
    s.Update(AddCaptures(path, &more));
  if (!s.ok()) return s;
  return more;
}

int Run(const Program& program) {
  const absl::StatusOr<std::string> text = ReadFile(program.input());
  if (!text.ok()) return program.Fail(text.status());
  const absl::StatusOr<std::vector<MeasuredRow>> rows = ParseMeasured(*text);
  if (!rows.ok()) return program.Fail(absl::StrCat(program.input(), ": ", rows.status().message()));
  Machines machines;
  absl::StatusOr<PredictedColumn> preset = PresetColumn(*rows, machines);
  if (!preset.ok()) return program.Fail(preset.status());
  absl::StatusOr<PredictedColumn> calibrated = CalibratedColumn(*rows, 1);
  if (!calibrated.ok()) return program.Fail(calibrated.status());
  const std::vector<PredictedColumn> columns = {*std::move(preset), *std::move(calibrated)};
  const absl::StatusOr<std::vector<Finding>> fits = CheckCalibrated(*rows);
  if (!fits.ok()) return program.Fail(fits.status());
  const absl::StatusOr<std::vector<Finding>> switches = CheckSwitches(*rows, columns[0], machines);
  if (!switches.ok()) return program.Fail(switches.status());
  const absl::StatusOr<Section> more = MoreOf(program);
  if (!more.ok()) return program.Fail(more.status());
  std::vector<std::string> notes;
  for (const Finding& f : *switches) notes.push_back(f.text);
  for (const Finding& f : *fits) notes.push_back(f.text);
  const int kept =
      program.Keep({{"collectives.csv", CsvTable(*rows, columns)},
                    {"collectives.md", absl::StrCat(Markdown(*rows, columns, notes), more->markdown)},
                    {"collectives.svg", Plot(*rows, columns)}});
  std::vector<Finding> findings = CheckMedians(*rows, columns[0], {0.15, 0.30, 0.25});
  for (const auto* some : {&*switches, &*fits, &more->findings})
    findings.insert(findings.end(), some->begin(), some->end());
  return kept | program.Check(findings);
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  chakra::validation::Program program(
      "collectives_validation", "MEASURED.csv",
      {"--one-node NCCL_ONE_NODE.csv", "--experts MOE.csv", "--captures FOLDER"});
  const int status = program.Parse(argc, argv, true);
  return status == program.kGoOn ? chakra::validation::Run(program) : status;
}
