#include "trace/import/recorded/files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/status_macros.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra {

absl::StatusOr<std::vector<std::string>> FindRecordedFiles(const std::vector<std::string>& inputs,
                                                           const Importer& importer,
                                                           std::vector<std::string>* others) {
  const auto named = [&](const std::string& path) {
    const absl::string_view name = WithoutCompression(path);
    return std::any_of(importer.endings.begin(), importer.endings.end(),
                       [&](absl::string_view ending) { return absl::EndsWith(name, ending); });
  };
  std::vector<std::string> found;
  for (const std::string& input : inputs) {
    std::error_code error;
    std::vector<std::string> files = {input};
    const bool folder = std::filesystem::is_directory(input, error);
    if (folder) {
      files.clear();
      RETURN_IF_ERROR(ListFiles(input, &files));
    }
    for (std::string& path : files) {
      ASSIGN_OR_RETURN(const auto head, folder && !named(path) ? absl::StatusOr<std::string>("")
                                                               : ReadHead(path, Importer::kSniffed));
      if (importer.Takes(path, head)) {
        found.push_back(std::move(path));
      } else if (folder) {
        others->push_back(std::move(path));
      } else {
        return absl::InvalidArgumentError(absl::StrCat(path, ": no ", importer.title, ", expected ",
                                                       importer.help, ", like the other files"));
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (!found.empty()) return found;
  return absl::NotFoundError(
      absl::StrCat(absl::StrJoin(inputs, ", "), ": no ", importer.title, ", expected ", importer.help));
}

absl::Status ReadRecordedFile(const std::string& path, Buffer* content, InputFile* input) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> plain, OpenContent(disk.get(), path));
  RETURN_IF_ERROR(ReadAll(plain.get(), path, content));
  input->path = path;
  input->role = "device trace";
  return disk->Finish(&input->sha256, &input->bytes);
}

}  // namespace chakra
