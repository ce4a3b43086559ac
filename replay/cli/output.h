// A file, or standard output, that an option names.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/io/compressed_file.h"

namespace chakra::cli {

// From Open() to Finish(). A file is there when Finish() is through, and not before. Errors name it.
struct Output {
  std::string path;  // "": not asked for; -: standard output
  CompressedFile file;

  bool asked() const { return !path.empty(); }
  absl::Status Open();
  absl::Status Append(absl::string_view bytes);
  absl::Status Finish();
};

// What goes to a path: an option, or words for it.
struct NamedOutput {
  std::string path, what;
};

// What goes to `path`, which is "" where it was not asked for.
struct NamedContent {
  std::string path;
  absl::string_view content;
};

// Writes all, standard output last: whoever reads it may close it, which ends the program. The first error.
absl::Status WriteOutputs(std::vector<NamedContent> outputs);

// An error when one of `others` goes where `output` does.
absl::Status CheckApart(const NamedOutput& output, const std::vector<NamedOutput>& others);

// An error when what `app` was told to write is a file that it was told to read, alone or in a folder of
// traces. `edit`, `convert` and `kernels`, which write what they read anew, may do so with -o.
absl::Status CheckOverInputs(const CLI::App& app);

}  // namespace chakra::cli
