#include "replay/cli/output.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"

namespace chakra::cli {
namespace {

bool SameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto full = [&](const std::string& path) {
    return path == "-" ? std::filesystem::path(path)
                       : std::filesystem::absolute(path, error).lexically_normal();
  };
  return full(a) == full(b);
}

}  // namespace

absl::Status Output::Open() {
  if (!asked() || path == "-") return absl::OkStatus();
  if (absl::Status s = CheckOutputPath(path); !s.ok()) return s;
  return file.Open(path);
}

absl::Status Output::Append(absl::string_view bytes) {
  return path == "-" ? WriteOutput(path, bytes) : file.Append(bytes);
}

absl::Status Output::Finish() { return path == "-" ? absl::OkStatus() : file.Finish(); }

absl::Status CheckApart(const NamedOutput& output, const std::vector<NamedOutput>& others) {
  for (const NamedOutput& other : others) {
    if (!SameFile(other.path, output.path)) continue;
    return absl::InvalidArgumentError(absl::StrCat(output.what, " and ", other.what, " both go to ",
                                                   output.path == "-" ? "standard output" : output.path,
                                                   "; expected different files"));
  }
  return absl::OkStatus();
}

}  // namespace chakra::cli
