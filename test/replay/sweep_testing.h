// Sweeps over a made-up machine: a point with the words "a=A" and "b=B" has the makespan 1000 * A + B.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "replay/sweep/export.h"
#include "replay/sweep/results.h"
#include "replay/sweep/sweep.h"
#include "trace/io/proto_io.h"

namespace chakra::sweep {

inline std::string FileContent(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteContent(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// The results of a sweep whose points have the outcomes of `run`.
inline absl::StatusOr<Results> Swept(const std::string& spec_text, const std::string& folder,
                                     const RunPoint& run) {
  Spec spec;
  spec.source = "spec.txtpb";
  spec.text = spec_text;
  if (absl::Status s = ParseTextMessage(spec_text, spec.source, &spec.sweep); !s.ok()) return s;
  auto space = Space::Make(spec.sweep);
  if (!space.ok()) return space.status();
  SweepOptions options;
  options.folder = folder;
  options.version = "1";
  auto summary = RunSweep(spec, *space, run, options);
  if (!summary.ok()) return summary.status();
  return LoadResults({folder});
}

class SweepTesting : public testing::Test {
 protected:
  SweepTesting() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sweep_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SweepTesting() override { std::filesystem::remove_all(folder_); }

  std::string At(const std::string& name) const { return folder_ + "/" + name; }

  static Spec MakeSpec(const std::string& text) {
    Spec spec;
    spec.source = "spec.txtpb";
    spec.text = text;
    const absl::Status s = ParseTextMessage(text, spec.source, &spec.sweep);
    EXPECT_TRUE(s.ok()) << s;
    return spec;
  }

  // A point with "bad" fails.
  Outcome Fake(const std::vector<std::string>& words) {
    ++runs_;
    double makespan = 0;
    for (const std::string& w : words) {
      double v = 0;
      if (w == "a=bad") return {absl::InvalidArgumentError("a is \"bad\"\nand so on"), {}, ""};
      if (w.size() > 2 && w[1] == '=' && absl::SimpleAtod(w.substr(2), &v))
        makespan += w[0] == 'a' ? 1000 * v : v;
    }
    return {absl::OkStatus(), {{"makespan_ps", makespan}, {"devices", 8}}, "p:c"};
  }

  absl::StatusOr<SweepSummary> Run(const Spec& spec, const std::string& folder, SweepOptions options = {}) {
    auto space = Space::Make(spec.sweep);
    if (!space.ok()) return space.status();
    options.folder = At(folder);
    options.version = "1";
    return RunSweep(
        spec, *space, [this](const std::vector<std::string>& words) { return Fake(words); }, options);
  }

  std::string Csv(const std::vector<std::string>& folders) {
    std::vector<std::string> paths;
    for (const std::string& f : folders) paths.push_back(At(f));
    auto results = LoadResults(paths);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? ToCsv(*results, false) : "";
  }

  std::string folder_;
  std::atomic<int> runs_ = 0;
};

inline constexpr char kGrid[] =
    "name: 'grid' replay: 't a={a} b={b}' axis { name: 'a' range { from: 1 to: 4 step: 1 } }"
    " axis { name: 'b' range { from: 1 to: 5 step: 1 } }";

}  // namespace chakra::sweep
