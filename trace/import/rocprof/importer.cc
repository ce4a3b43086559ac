#include "trace/import/rocprof/importer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/parallel.h"
#include "trace/import/recorded/files.h"
#include "trace/import/rocprof/json_file.h"
#include "trace/import/rocprof/ranks.h"
#include "trace/import/rocprof/rocpd.h"

namespace chakra::rocprof {
namespace {

constexpr absl::string_view kEndings[] = {".json", ".db", ".sqlite"};

bool Sniff(absl::string_view head) { return LooksLikeJson(head) || LooksLikeRocpd(head); }

// Another program's SQLite may have a "schema_version", too.
bool Confirm(const std::string& path, absl::string_view head) {
  if (!LooksLikeSqlite(head) || NamesRocpd(head)) return true;
  const auto database = SqliteReader::Open(path, kRocpd);
  return !database.ok() || HasRocpdTables(**database);  // what is damaged, its reader says
}

// One file, of either format.
absl::Status ReadOne(const std::string& path, std::vector<Recording>* out, InputFile* input) {
  absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(path);
  if (!disk.ok()) return disk.status();
  char head[16] = {};
  const absl::StatusOr<size_t> size = ReadFully(disk->get(), head, sizeof(head));
  if (!size.ok()) return size.status();
  if (LooksLikeSqlite({head, *size})) {  // is read page by page, however large
    const auto database = SqliteReader::Open(path, kRocpd);
    if (!database.ok()) return database.status();
    input->path = path;
    input->role = "device trace";
    if (absl::Status s = ReadRocpd(**database, path, out); !s.ok()) return s;
    return (*disk)->Finish(&input->sha256, &input->bytes);
  }
  Buffer content;
  if (absl::Status s = ReadRecordedFile(path, &content, input); !s.ok()) return s;
  if (!LooksLikeSqlite(content.view())) return ReadJson(&content, path, out);
  const auto database = SqliteReader::OfBytes(content.view(), path, kRocpd);
  if (!database.ok()) return database.status();
  return ReadRocpd(**database, path, out);
}

absl::StatusOr<pytorch::RecordedRanks> ReadRanks(const std::vector<std::string>& inputs,
                                                 const ReadOptions& options) {
  std::vector<std::string> others;
  const std::string& named = options.capture.device;
  const auto files =
      FindRecordedFiles(named.empty() ? inputs : std::vector<std::string>{named}, kImporter, &others);
  if (!files.ok()) return files.status();
  std::vector<std::vector<Recording>> read(files->size());
  std::vector<InputFile> sources(files->size());
  absl::Status status = ForEach(files->size(), options.threads, [&] {
    return [&](size_t i) { return ReadOne((*files)[i], &read[i], &sources[i]); };
  });
  if (!status.ok()) return status;
  std::vector<Recording> recordings;
  for (std::vector<Recording>& of_file : read) {
    for (Recording& r : of_file) recordings.push_back(std::move(r));
  }
  auto ranks = RanksOf(std::move(recordings));
  if (!ranks.ok()) return ranks.status();
  ranks->inputs = std::move(sources);
  ranks->files_left_out = std::move(others);
  return ranks;
}

absl::StatusOr<TraceSet> Read(const std::vector<std::string>& inputs, const ReadOptions& options) {
  auto ranks = ReadRanks(inputs, options);
  if (!ranks.ok()) return ranks.status();
  return pytorch::RecordedTraces(*std::move(ranks), options);
}

}  // namespace

absl::StatusOr<pytorch::Capture> ReadRecordings(const std::vector<std::string>& inputs,
                                                const ReadOptions& options) {
  auto ranks = ReadRanks(inputs, options);
  if (!ranks.ok()) return ranks.status();
  return pytorch::JoinRecorded(*std::move(ranks), options);
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
