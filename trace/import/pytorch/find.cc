#include "trace/import/pytorch/find.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/import/pytorch/host_trace.h"
#include "trace/import/pytorch/kineto.h"
#include "trace/io/byte_source.h"

namespace chakra::pytorch {
namespace {

namespace fs = std::filesystem;
constexpr size_t kHead = 64 << 10;
constexpr int kDepth = 3;

enum class Kind { kOther, kHost, kDevice, kTrace };

bool NamedJson(absl::string_view name) {
  (void)(absl::ConsumeSuffix(&name, ".gz") || absl::ConsumeSuffix(&name, ".zst"));
  return absl::EndsWith(name, ".json");
}
bool NamedEt(absl::string_view name) {
  (void)(absl::ConsumeSuffix(&name, ".gz") || absl::ConsumeSuffix(&name, ".zst"));
  return absl::EndsWith(name, ".et");
}

absl::StatusOr<std::string> Head(const std::string& path) {
  absl::StatusOr<std::unique_ptr<FileSource>> file = FileSource::Open(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(file->get(), path);
  if (!content.ok()) return content.status();
  std::string head(kHead, '\0');
  size_t got = 0;
  while (got < head.size()) {
    absl::StatusOr<size_t> n = (*content)->Read(head.data() + got, head.size() - got);
    if (!n.ok()) break;  // said when the file is read whole
    if (*n == 0) break;
    got += *n;
  }
  head.resize(got);
  return head;
}

absl::StatusOr<Kind> KindOf(const std::string& path) {
  absl::StatusOr<std::string> head = Head(path);
  if (!head.ok()) return head.status();
  if (LooksLikeKineto(*head)) return Kind::kDevice;
  return LooksLikeHostTrace(*head) ? Kind::kHost : Kind::kOther;
}

// The number after the last "rank" or "worker", else the one that ends the name.
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

absl::Status List(const fs::path& path, int depth, std::vector<std::string>* files) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  if (error) return absl::PermissionDeniedError(absl::StrCat(path.string(), ": ", error.message()));
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    if (fs::is_directory(entry, error)) {
      if (depth < kDepth) {
        if (absl::Status s = List(entry, depth + 1, files); !s.ok()) return s;
      }
    } else if (!absl::StartsWith(entry.filename().string(), "._")) {
      files->push_back(entry.string());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<CaptureFile>> FindCaptureFiles(const std::vector<std::string>& inputs,
                                                          std::vector<std::string>* others) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      std::vector<std::string> listed;
      if (absl::Status s = List(input, 0, &listed); !s.ok()) return s;
      for (std::string& f : listed) (NamedJson(f) ? files : *others).push_back(std::move(f));
    } else {
      files.push_back(input);
    }
  }
  std::vector<CaptureFile> found;
  for (const std::string& path : files) {
    const absl::StatusOr<Kind> kind = KindOf(path);
    if (!kind.ok()) return kind.status();
    if (*kind != Kind::kHost && *kind != Kind::kDevice) {
      others->push_back(path);
      continue;
    }
    CaptureFile file;
    file.path = path;
    file.host = *kind == Kind::kHost;
    RankFromName(path, &file);
    found.push_back(std::move(file));
  }
  return found;
}

bool LooksLikeCapture(const std::vector<std::string>& inputs) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!fs::is_directory(input, error)) {
      if (fs::is_regular_file(input, error) && NamedJson(input)) files.push_back(input);
      continue;
    }
    if (!List(input, 0, &files).ok()) return false;
  }
  if (std::any_of(files.begin(), files.end(), NamedEt)) return false;
  for (const std::string& path : files) {
    if (!NamedJson(path)) continue;
    const absl::StatusOr<Kind> kind = KindOf(path);
    if (kind.ok() && (*kind == Kind::kHost || *kind == Kind::kDevice)) return true;
  }
  return false;
}

}  // namespace chakra::pytorch
