// An output that an option names: a file or standard output.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/io/compressed_file.h"

namespace chakra::cli {

// An output from Open() to Finish(). The file appears only when Finish() ends. Errors name the file.
struct Output {
  std::string path;  // "": not requested; -: standard output
  CompressedFile file;

  bool asked() const { return !path.empty(); }
  absl::Status Open();
  absl::Status Append(absl::string_view bytes);
  absl::Status Finish();
};

// An output path, and the name of the output in messages: an option, or words for it.
struct NamedOutput {
  std::string path, what;
};

// Content for `path`; "": not requested.
struct NamedContent {
  std::string path;
  absl::string_view content;
};

// Writes all outputs. Standard output comes last, because its reader may close it, which ends the program.
// Returns the first error.
absl::Status WriteOutputs(std::vector<NamedContent> outputs);

// Returns an error if one of `others` has the same path as `output`.
absl::Status CheckApart(const NamedOutput& output, const std::vector<NamedOutput>& others);

// Returns an error if an output of `app` would overwrite one of its inputs, or a file in an input folder of
// traces. `edit`, `convert` and `kernels` rewrite their input, so their -o may do that.
absl::Status CheckOverInputs(const CLI::App& app);

}  // namespace chakra::cli
