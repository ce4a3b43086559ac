#include "trace/import/pytorch/find.h"

#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "trace/base/status_macros.h"
#include "trace/et/importer.h"
#include "trace/import/host/host_trace.h"
#include "trace/import/kineto/kineto.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra::pytorch {
namespace {

namespace fs = std::filesystem;
constexpr size_t kHead = Importer::kSniffed;
constexpr int64_t kMostRanks = int64_t{1} << 22;
constexpr size_t kMostInfo = size_t{4} << 20;  // maximum bytes of a file that describes a profiler

bool NamedAsProfilerInfo(absl::string_view name) {
  return absl::StartsWith(name, "profiler_info") && absl::EndsWith(name, ".json");
}

// The rank of a trace of torch_npu, which writes profiler_info_3.json, with "rank_id", next to the trace or
// next to its folder. -1: there is no such file, or there are several. `told_by`: the file.
int RankBeside(const std::string& path, std::string* told_by) {
  const fs::path folder = fs::path(path).parent_path();
  for (const fs::path& near : {folder, folder.parent_path()}) {
    std::vector<std::string> names = ListFolder(near.empty() ? "." : near.string());
    std::erase_if(names, [](const std::string& name) { return !NamedAsProfilerInfo(name); });
    if (names.empty()) continue;
    if (names.size() > 1) return -1;
    const std::string file = (near / names[0]).string();
    const absl::StatusOr<std::string> text = ReadFile(file, kMostInfo);
    simdjson::dom::parser parser;
    simdjson::dom::element info;
    int64_t rank = -1;
    if (!text.ok() || parser.parse(text->data(), text->size()).get(info) != simdjson::SUCCESS ||
        info["rank_id"].get(rank) != simdjson::SUCCESS || rank < 0 || rank > kMostRanks)
      return -1;
    *told_by = file;
    return static_cast<int>(rank);
  }
  return -1;
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
      RETURN_IF_ERROR(ListFiles(input, &listed));
      for (std::string& f : listed) (NamedAsCapture(f) ? files : *others).push_back(std::move(f));
    } else {
      files.push_back(input);
    }
  }
  std::vector<CaptureFile> found;
  std::set<std::string> told;  // files that give the rank of another file
  for (const std::string& path : files) {
    ASSIGN_OR_RETURN(const std::string head, ReadHead(path, kHead));
    CaptureFile file;
    if (SniffCapture(head, path, path, &file)) {
      std::string told_by;
      if (const int rank = file.host || file.sure ? -1 : RankBeside(path, &told_by); rank >= 0) {
        file.rank = rank;
        file.sure = true;
        std::erase(*others, told_by);
        told.insert(told_by);
      }
      found.push_back(std::move(file));
    } else if (!told.contains(path)) {
      others->push_back(path);
    }
  }
  return found;
}

}  // namespace chakra::pytorch
