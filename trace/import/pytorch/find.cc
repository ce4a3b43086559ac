#include "trace/import/pytorch/find.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/et/importer.h"
#include "trace/import/pytorch/host_trace.h"
#include "trace/import/pytorch/kineto.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::pytorch {
namespace {

namespace fs = std::filesystem;
constexpr size_t kHead = Importer::kSniffed;

// The number after the last "rank" or "worker", else the number at the end of the name.
void RankFromName(const std::string& path, CaptureFile* out) {
  std::string name = absl::AsciiStrToLower(fs::path(path).filename().string());
  const auto number_at = [&](size_t at) {
    int rank = -1;
    size_t end = at;
    while (end < name.size() && absl::ascii_isdigit(static_cast<unsigned char>(name[end]))) ++end;
    return end > at && absl::SimpleAtoi(name.substr(at, end - at), &rank) ? rank : -1;
  };
  for (const absl::string_view word : {"rank", "worker"}) {
    size_t at = name.rfind(std::string(word));
    if (at == name.npos) continue;
    at += word.size();
    if (at < name.size() && absl::StrContains("-_.", name[at])) ++at;
    if (const int rank = number_at(at); rank >= 0) {
      out->rank = rank;
      out->sure = true;
      return;
    }
  }
  for (const absl::string_view end : {".gz", ".zst", ".json", ".pt.trace", ".trace"}) {
    if (absl::EndsWith(name, end)) name.resize(name.size() - end.size());
  }
  size_t at = name.size();
  while (at > 0 && absl::ascii_isdigit(static_cast<unsigned char>(name[at - 1]))) --at;
  if (at < name.size() && name.size() - at <= 6) out->rank = number_at(at);
}

}  // namespace

bool NamedAsCapture(absl::string_view name) { return absl::EndsWith(WithoutCompression(name), ".json"); }

bool SniffCapture(absl::string_view head, const std::string& path, const std::string& name,
                  CaptureFile* out) {
  const bool device = LooksLikeKineto(head);
  if (!device && !LooksLikeHostTrace(head)) return false;
  *out = CaptureFile();
  out->path = path;
  out->host = !device;
  RankFromName(name, out);
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
