#include "trace/import/pytorch/find.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "trace/et/importer.h"
#include "trace/import/pytorch/host/host_trace.h"
#include "trace/import/pytorch/kineto/kineto.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::pytorch {
namespace {

namespace fs = std::filesystem;
constexpr size_t kHead = Importer::kSniffed;

}  // namespace

bool NamedAsCapture(absl::string_view name) { return absl::EndsWith(WithoutCompression(name), ".json"); }

bool SniffCapture(absl::string_view head, const std::string& path, const std::string& name,
                  CaptureFile* out) {
  const bool device = LooksLikeKineto(head);
  if (!device && !LooksLikeHostTrace(head)) return false;
  *out = CaptureFile();
  out->path = path;
  out->host = !device;
  NamedRank named = RankFromName(fs::path(name).filename().string());
  out->rank = named.rank;
  out->sure = named.sure;
  out->places = std::move(named.places);
  return true;
}

absl::StatusOr<std::vector<CaptureFile>> FindCaptureFiles(const std::vector<std::string>& inputs,
                                                          std::vector<std::string>* others) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      std::vector<std::string> listed;
      if (absl::Status s = ListFiles(input, &listed); !s.ok()) return s;
      for (std::string& f : listed) (NamedAsCapture(f) ? files : *others).push_back(std::move(f));
    } else {
      files.push_back(input);
    }
  }
  std::vector<CaptureFile> found;
  for (const std::string& path : files) {
    const absl::StatusOr<std::string> head = ReadHead(path, kHead);
    if (!head.ok()) return head.status();
    CaptureFile file;
    if (SniffCapture(*head, path, path, &file)) {
      found.push_back(std::move(file));
    } else {
      others->push_back(path);
    }
  }
  return found;
}

}  // namespace chakra::pytorch
