// Published measurements of all-reduce against predictions: tables, a plot, and
// the figures that must hold.
//
//   collectives_validation MEASURED.csv [--one-node NCCL_ONE_NODE.csv] [--experts MOE.csv] [--captures
//   FOLDER]
//   [--out FOLDER] [--check] [--compare FOLDER]
//
// --out writes collectives.csv, collectives.md and collectives.svg; --compare
// wants the same bytes in a folder; --check wants the figures of checks.h.
// Exit status: 0 all holds; 1 a figure, a file or the input does not; 2 the
// command line is wrong; 77 there is no file of measurements.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "test/validation/calibrated.h"
#include "test/validation/captures.h"
#include "test/validation/checks.h"
#include "test/validation/experts.h"
#include "test/validation/one_node.h"
#include "test/validation/plot.h"
#include "test/validation/public_figures.h"
#include "test/validation/summary.h"
#include "trace/io/file.h"

namespace chakra::validation {
namespace {

struct Options {
  std::string measured, one_node, experts, captures, out, compare;
  bool check = false;
};

using Files = std::vector<std::pair<std::string, std::string>>;  // name and content

int Fail(const std::string& what) {
  std::fprintf(stderr, "collectives_validation: %s\n", what.c_str());
  return 1;
}

int Write(const Files& files, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& [name, content] : files) {
    const std::string path = absl::StrCat(folder, "/", name);
    std::ofstream out(path, std::ios::binary);
    out << content;
    out.close();
    if (!out) return Fail(absl::StrCat(path, ": cannot be written"));
    std::printf("written: %s\n", path.c_str());
  }
  return 0;
}

int Compare(const Files& files, const Options& o) {
  int status = 0;
  for (const auto& [name, content] : files) {
    const std::string path = absl::StrCat(o.compare, "/", name);
    const absl::StatusOr<std::string> kept = ReadFile(path);
    if (kept.ok() && *kept == content) continue;
    status = Fail(absl::StrCat(
        path,
        kept.ok() ? " is not what the code gives now" : absl::StrCat(": ", kept.status().message()).c_str(),
        "; to write it anew: build/test/collectives_validation ", o.measured,
        o.one_node.empty() ? "" : " --one-node ", o.one_node, o.experts.empty() ? "" : " --experts ",
        o.experts, o.captures.empty() ? "" : " --captures ", o.captures, " --out ", o.compare));
  }
  return status;
}

int Check(const std::vector<Finding>& findings) {
  size_t failed = 0;
  for (const Finding& f : findings) {
    std::printf("%s  %s\n", f.ok ? "ok  " : "FAIL", f.text.c_str());
    failed += !f.ok;
  }
  if (failed == 0) return 0;
  return Fail(absl::StrCat(failed, " of ", findings.size(), " figures do not hold"));
}

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

int Run(const Options& o) {
  if (!std::filesystem::exists(o.measured)) {
    std::fprintf(stderr, "collectives_validation: SKIPPED: %s is absent\n", o.measured.c_str());
    return 77;
  }
  const absl::StatusOr<std::string> text = ReadFile(o.measured);
  if (!text.ok()) return Fail(std::string(text.status().message()));
  const absl::StatusOr<std::vector<MeasuredRow>> rows = ParseMeasured(*text);
  if (!rows.ok()) return Fail(absl::StrCat(o.measured, ": ", rows.status().message()));
  Machines machines;
  absl::StatusOr<PredictedColumn> preset = PresetColumn(*rows, machines);
  if (!preset.ok()) return Fail(std::string(preset.status().message()));
  absl::StatusOr<PredictedColumn> calibrated = CalibratedColumn(*rows, 1);
  if (!calibrated.ok()) return Fail(std::string(calibrated.status().message()));
  const std::vector<PredictedColumn> columns = {*std::move(preset), *std::move(calibrated)};
  const absl::StatusOr<std::vector<Finding>> fits = CheckCalibrated(*rows);
  if (!fits.ok()) return Fail(std::string(fits.status().message()));
  const absl::StatusOr<std::vector<Finding>> switches = CheckSwitches(*rows, columns[0], machines);
  if (!switches.ok()) return Fail(std::string(switches.status().message()));
  std::vector<std::string> notes;
  for (const Finding& f : *switches) notes.push_back(f.text);
  for (const Finding& f : *fits) notes.push_back(f.text);
  Section more;
  if (!o.one_node.empty()) {
    if (absl::Status s = Read(o.one_node, &more); !s.ok()) return Fail(std::string(s.message()));
  }
  if (absl::Status s = AddPublicFigures(&more); !s.ok()) return Fail(std::string(s.message()));
  if (!o.experts.empty()) {
    if (absl::Status s = AddExperts(o.experts, &more); !s.ok()) return Fail(std::string(s.message()));
  }
  if (!o.captures.empty()) {
    if (absl::Status s = AddCaptures(o.captures, &more); !s.ok()) return Fail(std::string(s.message()));
  }
  const Files files = {{"collectives.csv", CsvTable(*rows, columns)},
                       {"collectives.md", absl::StrCat(Markdown(*rows, columns, notes), more.markdown)},
                       {"collectives.svg", Plot(*rows, columns)}};
  int status = o.out.empty() ? 0 : Write(files, o.out);
  if (!o.compare.empty()) status = std::max(status, Compare(files, o));
  if (o.check) {
    std::vector<Finding> findings = CheckMedians(*rows, columns[0], {0.15, 0.30, 0.25});
    findings.insert(findings.end(), switches->begin(), switches->end());
    findings.insert(findings.end(), fits->begin(), fits->end());
    findings.insert(findings.end(), more.findings.begin(), more.findings.end());
    status = std::max(status, Check(findings));
  }
  return status;
}

int Main(const std::vector<std::string>& arguments) {
  Options o;
  bool usage = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "--check") {
      o.check = true;
    } else if ((a == "--out" || a == "--compare" || a == "--one-node" || a == "--experts" ||
                a == "--captures") &&
               i + 1 < arguments.size()) {
      (a == "--out"        ? o.out
       : a == "--compare"  ? o.compare
       : a == "--captures" ? o.captures
       : a == "--experts"  ? o.experts
                           : o.one_node) = arguments[++i];
    } else if (o.measured.empty() && !a.empty() && a[0] != '-') {
      o.measured = a;
    } else {
      usage = true;
    }
  }
  if (usage || o.measured.empty() || !(o.check || !o.out.empty() || !o.compare.empty())) {
    std::fprintf(
        stderr,
        "usage: collectives_validation MEASURED.csv [--one-node NCCL_ONE_NODE.csv] [--experts MOE.csv] "
        "[--captures FOLDER] [--out FOLDER] [--check] [--compare FOLDER], one of the last three at least\n");
    return 2;
  }
  return Run(o);
}

}  // namespace
}  // namespace chakra::validation

int main(int argc, char** argv) {
  return chakra::validation::Main(std::vector<std::string>(argv + 1, argv + argc));
}
