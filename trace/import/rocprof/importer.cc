#include "trace/import/rocprof/importer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/import/recorded/files.h"
#include "trace/import/rocprof/json_file.h"
#include "trace/import/rocprof/ranks.h"
#include "trace/import/rocprof/rocpd.h"

namespace chakra::rocprof {
namespace {

constexpr absl::string_view kEndings[] = {".json", ".db", ".sqlite"};

bool Sniff(absl::string_view head) { return LooksLikeJson(head) || LooksLikeRocpd(head); }

// SQLite files of other programs may have a "schema_version" too.
bool Confirm(const std::string& path, absl::string_view head) {
  if (!LooksLikeSqlite(head) || NamesRocpd(head)) return true;
  const auto database = SqliteReader::Open(path, kRocpd);
  return !database.ok() || HasRocpdTables(**database);  // its reader reports what is damaged
}

// Reads one file, JSON or rocpd.
absl::Status ReadOne(const std::string& path, std::vector<Recording>* out, InputFile* input) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(path));
  char head[16] = {};
  ASSIGN_OR_RETURN(const size_t size, ReadFully(disk.get(), head, sizeof(head)));
  if (LooksLikeSqlite({head, size})) {  // a database is read page by page, so that its size does not matter
    ASSIGN_OR_RETURN(const auto database, SqliteReader::Open(path, kRocpd));
    input->path = path;
    input->role = "device trace";
    RETURN_IF_ERROR(ReadRocpd(*database, path, out));
    return disk->Finish(&input->sha256, &input->bytes);
  }
  Buffer content;
  RETURN_IF_ERROR(ReadRecordedFile(path, &content, input));
  if (!LooksLikeSqlite(content.view())) return ReadJson(&content, path, out);
  ASSIGN_OR_RETURN(const auto database, SqliteReader::OfBytes(content.view(), path, kRocpd));
  return ReadRocpd(*database, path, out);
}

absl::StatusOr<pytorch::RecordedRanks> ReadRanks(const std::vector<std::string>& inputs,
                                                 const ReadOptions& options) {
  std::vector<std::string> others;
  const std::string& named = options.capture.device;
  ASSIGN_OR_RETURN(
      const auto files,
      FindRecordedFiles(named.empty() ? inputs : std::vector<std::string>{named}, kImporter, &others));
  std::vector<std::vector<Recording>> read(files.size());
  std::vector<InputFile> sources(files.size());
  RETURN_IF_ERROR(ForEach(files.size(), options.threads, [&] {
    return [&](size_t i) { return ReadOne(files[i], &read[i], &sources[i]); };
  }));
  std::vector<Recording> recordings;
  for (std::vector<Recording>& of_file : read) {
    for (Recording& r : of_file) recordings.push_back(std::move(r));
  }
  ASSIGN_OR_RETURN(auto ranks, RanksOf(std::move(recordings)));
  ranks.inputs = std::move(sources);
  ranks.files_left_out = std::move(others);
  return ranks;
}

absl::StatusOr<TraceSet> Read(const std::vector<std::string>& inputs, const ReadOptions& options) {
  ASSIGN_OR_RETURN(auto ranks, ReadRanks(inputs, options));
  return pytorch::RecordedTraces(std::move(ranks), options);
}

}  // namespace

absl::StatusOr<pytorch::Capture> ReadRecordings(const std::vector<std::string>& inputs,
                                                const ReadOptions& options) {
  ASSIGN_OR_RETURN(auto ranks, ReadRanks(inputs, options));
  return pytorch::JoinRecorded(std::move(ranks), options);
}

const Importer kImporter = {
    .name = "rocprof",
    .title = "rocprofv3 recording",
    .help = "its JSON or rocpd database",
    .endings = kEndings,
    .sniff = Sniff,
    .confirm = Confirm,
    .run = Read,
};

}  // namespace chakra::rocprof
