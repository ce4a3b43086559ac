#include "test/validation/program.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::validation {

Program::Program(std::string name, std::string input, std::vector<std::string> more, bool checks)
    : name_(std::move(name)), input_name_(std::move(input)), more_(std::move(more)), checks_(checks) {}

int Program::Usage() const {
  std::string text = absl::StrCat("usage: ", name_, " ", input_name_);
  for (const std::string& option : more_) absl::StrAppend(&text, " [", option, "]");
  absl::StrAppend(&text, " [--out FOLDER] [--compare FOLDER]", checks_ ? " [--check]" : "");
  std::fprintf(stderr, "%s\n", text.c_str());
  return 2;
}

int Program::Parse(int argc, char** argv, bool wants_work) {
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto more = std::find_if(more_.begin(), more_.end(), [&](const std::string& option) {
      return a == option.substr(0, option.find(' '));
    });
    const bool flag = more != more_.end() && *more == a;
    if (a == "--check" && checks_) {
      check_ = true;
    } else if ((a == "--out" || a == "--compare") && i + 1 < argc) {
      (a == "--out" ? out_ : compare_) = argv[++i];
    } else if (more != more_.end() && (flag || i + 1 < argc)) {
      options_[a] = flag ? a : argv[++i];
    } else if (input_.empty() && !a.empty() && a[0] != '-') {
      input_ = a;
    } else {
      return Usage();
    }
  }
  if (input_.empty() || (wants_work && !check_ && out_.empty() && compare_.empty())) return Usage();
  if (std::filesystem::exists(input_)) return kGoOn;
  std::fprintf(stderr, "%s: SKIPPED: %s is absent\n", name_.c_str(), input_.c_str());
  return 77;
}

const std::string& Program::Option(const std::string& name) const {
  static const std::string* const kNothing = new std::string;
  const auto found = options_.find(name);
  return found == options_.end() ? *kNothing : found->second;
}

int Program::Fail(const std::string& what) const {
  std::fprintf(stderr, "%s: %s\n", name_.c_str(), what.c_str());
  return 1;
}

std::string Program::Again() const {
  std::string command = absl::StrCat("build/test/", name_, " ", input_);
  for (const auto& [name, value] : options_)
    absl::StrAppend(&command, " ", name, name == value ? "" : absl::StrCat(" ", value));
  return absl::StrCat(command, " --out ", compare_);
}

int Program::Keep(const Files& files) const {
  int status = 0;
  std::error_code error;
  if (!out_.empty()) std::filesystem::create_directories(out_, error);
  for (const auto& [name, content] : files) {
    if (!out_.empty()) {
      if (const absl::Status s = WriteFile(absl::StrCat(out_, "/", name), content); !s.ok()) return Fail(s);
    }
    if (compare_.empty()) continue;
    const std::string path = absl::StrCat(compare_, "/", name);
    const absl::StatusOr<std::string> kept = ReadFile(path);
    if (kept.ok() && *kept == content) continue;
    status = Fail(absl::StrCat(path, kept.ok() ? " is not what the code gives now" : " cannot be read",
                               "; to write it anew: ", Again()));
  }
  return status;
}

int Program::Check(const std::vector<Finding>& findings) const {
  if (!check_) return 0;
  size_t failed = 0;
  for (const Finding& f : findings) {
    std::printf("%s  %s\n", f.ok ? "ok  " : "FAIL", f.text.c_str());
    failed += !f.ok;
  }
  return failed == 0 ? 0 : Fail(absl::StrCat(failed, " of ", findings.size(), " figures do not hold"));
}

}  // namespace chakra::validation
