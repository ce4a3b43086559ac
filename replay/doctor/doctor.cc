#include "replay/doctor/doctor.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/doctor/file_kinds.h"
#include "replay/doctor/runs.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/import/registry.h"
#include "trace/io/archive.h"
#include "trace/io/file.h"

namespace chakra::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 100000;
constexpr absl::string_view kUnseen[] = {".git", ".venv", "__pycache__", "node_modules"};

// Collects the files at and below paths, sorted, and counts the files beyond kMostFiles.
class Walk {
 public:
  explicit Walk(proto::Diagnosis* diagnosis) : diagnosis_(diagnosis) {}

  absl::Status Add(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) {
      return error && error != std::errc::no_such_file_or_directory
                 ? absl::PermissionDeniedError(
                       absl::StrCat(path, ": cannot be read: ", absl::AsciiStrToLower(error.message())))
                 : absl::NotFoundError(absl::StrCat(path, ": no such file or folder"));
    }
    if (fs::is_directory(path, error)) return AddFolder(path);
    files_.push_back(path);
    return absl::OkStatus();
  }

  std::vector<std::string> Take() {
    std::sort(files_.begin(), files_.end());
    if (passed_over_ > 0) {
      diagnosis_->add_note(absl::StrCat(FormatCount(passed_over_), " more files were not read: the limit is ",
                                        FormatCount(kMostFiles), " files; name a folder inside"));
    }
    return std::move(files_);
  }

 private:
  absl::Status AddFolder(const std::string& folder) {
    std::error_code error;
    fs::directory_iterator it(folder, error);
    if (error) {
      return absl::PermissionDeniedError(
          absl::StrCat(folder, ": cannot list this folder: ", absl::AsciiStrToLower(error.message())));
    }
    for (const fs::directory_iterator end; it != end; it.increment(error)) {
      if (error) break;
      const std::string name = it->path().filename().string(), path = (fs::path(folder) / name).string();
      if (it->is_directory(error) && !it->is_symlink(error)) {
        AddInner(path, name);
      } else if (it->is_regular_file(error) && !absl::StartsWith(name, "._")) {
        if (files_.size() < kMostFiles) {
          files_.push_back(path);
        } else {
          ++passed_over_;
        }
      }
    }
    return absl::OkStatus();
  }

  void AddInner(const std::string& path, absl::string_view name) {
    if (std::find(std::begin(kUnseen), std::end(kUnseen), name) != std::end(kUnseen)) {
      diagnosis_->add_note(absl::StrCat(path, ": not searched"));
    } else if (const absl::Status s = AddFolder(path); !s.ok()) {
      diagnosis_->add_note(std::string(s.message()));
    }
  }

  proto::Diagnosis* diagnosis_;
  std::vector<std::string> files_;
  uint64_t passed_over_ = 0;
};

// Splits files into candidates for traces and other files.
class Sorter {
 public:
  explicit Sorter(proto::Diagnosis* diagnosis) : diagnosis_(diagnosis) {}

  void Sort(const std::string& path) {
    const absl::StatusOr<std::string> head = ReadHead(path, Importer::kSniffed);
    std::error_code error;
    const uint64_t bytes = fs::file_size(path, error);
    if (std::optional<FileKind> kind = head.ok() ? ForeignKind(path, *head) : std::nullopt) {
      Add(path, *std::move(kind));
    } else if (std::optional<FileKind> of_training = head.ok() ? FrameworkKind(path, *head) : std::nullopt) {
      Add(path, *std::move(of_training));
    } else if (const Importer* importer = Format(path, head.value_or(""), /*whole_runs=*/true)) {
      candidates_.push_back({path, importer, bytes});
    } else if (!head.ok()) {
      Add(path, {absl::StrCat("a file that cannot be read: ", head.status().message()), "", ""});
    } else if (LooksLikeTar(*head)) {
      candidates_.push_back({path, nullptr, bytes});
    } else if (std::optional<FileKind> of_ours = ConfiguredKind(path)) {
      Add(path, *std::move(of_ours));
    } else if (const Importer* alone = Format(path, *head, /*whole_runs=*/false)) {
      candidates_.push_back({path, alone, bytes});
    } else {
      Add(path, {"unknown to this program", "", ""});
    }
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }

 private:
  // The format of a file: among formats of whole runs and Chakra's own, which are certain, or among the
  // others.
  static const Importer* Format(const std::string& path, absl::string_view head, bool whole_runs) {
    for (const Importer* i : Importers()) {
      if ((i->run != nullptr || i->native) != whole_runs) continue;
      if (Explains(*i, path)) return i;
      if (NamedAs(*i, path) && (i->native || i->Takes(path, head))) return i;
    }
    return nullptr;
  }

  void Add(const std::string& path, FileKind kind) {
    proto::FoundFile* file = diagnosis_->add_file();
    file->set_path(path);
    file->set_what(std::move(kind.what));
    file->set_remedy(std::move(kind.remedy));
    file->set_next(std::move(kind.next));
  }

  proto::Diagnosis* diagnosis_;
  std::vector<Candidate> candidates_;
};

}  // namespace

absl::StatusOr<proto::Diagnosis> Diagnose(const std::vector<std::string>& paths,
                                          const DoctorOptions& options) {
  proto::Diagnosis diagnosis;
  FoundRuns found;
  for (std::string path : paths) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    Walk walk(&diagnosis);
    RETURN_IF_ERROR(walk.Add(path));
    Sorter sorter(&diagnosis);
    const std::vector<std::string> files = walk.Take();
    diagnosis.set_files(diagnosis.files() + files.size());
    for (const std::string& file : files) sorter.Sort(file);
    FindRuns(path, sorter.candidates(), {options.most_bytes, options.threads}, &found);
  }
  for (proto::FoundRun& run : found.runs) *diagnosis.add_run() = std::move(run);
  // Files that were read together with traces, such as groups, are not listed as other files.
  auto* files = diagnosis.mutable_file();
  files->erase(std::remove_if(files->begin(), files->end(),
                              [&](const proto::FoundFile& f) { return found.used.count(f.path()) > 0; }),
               files->end());
  for (proto::FoundFile& other : found.others) *diagnosis.add_file() = std::move(other);
  std::sort(files->begin(), files->end(),
            [](const proto::FoundFile& a, const proto::FoundFile& b) { return a.path() < b.path(); });
  return diagnosis;
}

}  // namespace chakra::doctor
