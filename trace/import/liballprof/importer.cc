#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/import/liballprof/liballprof.h"
#include "trace/io/byte_source.h"
#include "trace/io/file.h"

namespace chakra::liballprof {
namespace {

constexpr absl::string_view kEndings[] = {".txt"};

struct RankFile {
  std::string path;
  int rank = -1;
};

// Returns the last number in the name: 7 of pmpi-trace-rank-7.txt.
int RankIn(absl::string_view path) {
  const absl::string_view name = path.substr(path.rfind('/') + 1);
  size_t end = name.size();
  const auto digit = [&](size_t i) { return absl::ascii_isdigit(static_cast<unsigned char>(name[i])); };
  while (end > 0 && !digit(end - 1)) --end;
  size_t begin = end;
  while (begin > 0 && digit(begin - 1)) --begin;
  int rank = -1;
  return absl::SimpleAtoi(name.substr(begin, end - begin), &rank) ? rank : -1;
}

absl::StatusOr<std::vector<RankFile>> FindRankFiles(const std::vector<std::string>& inputs) {
  std::vector<RankFile> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    std::vector<std::string> paths;
    if (!std::filesystem::is_directory(input, error)) {
      paths.push_back(input);
    } else {
      RETURN_IF_ERROR(ListFiles(input, &paths));
    }
    for (const std::string& path : paths) {
      const absl::StatusOr<std::string> head = ReadHead(path, Importer::kSniffed);
      if (head.ok() && LooksLikeLiballprof(*head)) files.push_back({path, RankIn(path)});
    }
  }
  std::sort(files.begin(), files.end(), [](const RankFile& a, const RankFile& b) { return a.rank < b.rank; });
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].rank == static_cast<int>(i)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        files[i].path, ": expected the trace of rank ", i,
        " here: each rank has one file, whose name has the rank as its last number, pmpi-trace-rank-", i,
        ".txt"));
  }
  return files;
}

absl::StatusOr<TraceSet> ReadMpi(const std::vector<std::string>& inputs, const ReadOptions& options) {
  if (!options.groups_file.empty() || !options.capture.steps.empty() || !options.capture.ranks.empty() ||
      !options.capture.step_range.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        inputs[0], ": a trace of liballprof has no process groups, and no steps or ranks to select"));
  }
  ASSIGN_OR_RETURN(const std::vector<RankFile> files, FindRankFiles(inputs));
  TraceSet set;
  set.inputs.resize(files.size());
  GraphPool pool;
  const auto load = [&](size_t i, Worker* worker, Loaded* out) {
    const std::string& path = files[i].path;
    ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(path));
    ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(disk.get(), path));
    Buffer plain;
    RETURN_IF_ERROR(ReadAll(content.get(), path, &plain));
    ASSIGN_OR_RETURN(const std::string frames,
                     RankFrames(plain.view(), path, static_cast<int>(files.size())));
    set.inputs[i].path = path;
    set.inputs[i].role = "trace";
    RETURN_IF_ERROR(disk->Finish(&set.inputs[i].sha256, &set.inputs[i].bytes));
    return DecodeFrames(frames, path, static_cast<int>(i), options, worker, out);
  };
  ASSIGN_OR_RETURN(set.ranks, LoadRanks(files.size(), options, &pool, load));
  return set;
}

}  // namespace

const Importer kImporter = {
    .name = "liballprof",
    .title = "liballprof trace",
    .help = "MPI calls, pmpi-trace-rank-N.txt",
    .endings = kEndings,
    .sniff = LooksLikeLiballprof,
    .run = ReadMpi,
    .recorded = false,
};

}  // namespace chakra::liballprof
