#include "trace/import/collective_logs/importer.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "simdjson.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/import/collective_logs/build.h"
#include "trace/import/collective_logs/flight_recorder.h"
#include "trace/import/collective_logs/inspector.h"
#include "trace/import/collective_logs/nccl_debug.h"
#include "trace/import/collective_logs/profiler_plugin.h"
#include "trace/io/archive.h"
#include "trace/io/byte_source.h"
#include "trace/io/file.h"
#include "trace/io/json_mend.h"
#include "trace/io/sniff.h"

namespace chakra::collective_logs {
namespace {

constexpr absl::string_view kEndings[] = {".log", ".json", ".jsonl", ".pickle", ".pkl", ".txt", ".out"};
constexpr absl::string_view kRecorders[] = {"nccl_inspector", "nccl_profiler", "flight_recorder",
                                            "nccl_debug"};

// Returns the index in kRecorders of the recorder; -1: none.
int RecorderOf(absl::string_view head) {
  if (LooksLikeInspector(head)) return 0;
  if (LooksLikeProfilerPlugin(head)) return 1;
  if (LooksLikeNcclDebug(head)) return 3;
  return LooksLikeFlightRecorder(head) ? 2 : -1;
}

absl::Status ReadText(int recorder, absl::string_view content, absl::string_view file,
                      std::vector<RankLog>* out) {
  if (recorder == 0) return ReadInspector(content, file, out);
  if (recorder == 3) return ReadNcclDebug(content, file, out);
  absl::StatusOr<RankLog> log =
      recorder == 1 ? ReadProfilerPlugin(content, file) : ReadFlightRecorder(content, file);
  if (log.ok()) out->push_back(*std::move(log));
  return log.status();
}

// If the text is not valid JSON, mends it and reads it again. simdjson::SIMDJSON_PADDING bytes can be read
// behind `content`.
absl::Status ReadAs(int recorder, absl::string_view content, absl::string_view file,
                    std::vector<RankLog>* out) {
  const size_t before = out->size();
  absl::Status status = ReadText(recorder, content, file, out);
  if (!absl::IsInvalidArgument(status) || !LooksLikeJson(content)) return status;
  absl::StatusOr<MendedJson> mended = MendJson(content, file);
  if (!mended.ok())
    return absl::InvalidArgumentError(absl::StrCat(status.message(), " (", mended.status().message(), ")"));
  if (mended->faults.empty()) return status;
  std::vector<RankLog> logs;
  const size_t size = mended->text.size();
  mended->text.append(simdjson::SIMDJSON_PADDING, '\0');
  if (!ReadText(recorder, absl::string_view(mended->text).substr(0, size), file, &logs).ok()) return status;
  out->resize(before);
  for (RankLog& log : logs) out->push_back(std::move(log));
  if (out->size() == before) return absl::OkStatus();
  for (const JsonFault& fault : mended->faults) (*out)[before].Note(fault.kind, fault.count, 0, fault.detail);
  return absl::OkStatus();
}

// A file, while it is read.
struct LogFile {
  std::string path;
  Buffer content;  // of a member of an archive
  bool member = false;
  int recorder = -1;
  std::vector<RankLog> logs;
  InputFile input;
};

// `plain` is the worker's memory for content; `pool` has the facts that calls of several files share.
absl::Status Parse(LogFile* file, Buffer* plain, FactsPool* pool) {
  std::unique_ptr<FileSource> disk;
  MemorySource memory(file->content.view());
  ByteSource* raw = &memory;
  if (!file->member) {
    ASSIGN_OR_RETURN(disk, FileSource::Open(file->path));
    raw = disk.get();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(raw, file->path));
  RETURN_IF_ERROR(ReadAll(content.get(), file->path, plain));
  if (!plain->Reserve(plain->size() + simdjson::SIMDJSON_PADDING))
    return absl::ResourceExhaustedError(absl::StrCat(file->path, ": does not fit in memory"));
  RETURN_IF_ERROR(ReadAs(file->recorder, plain->view(), file->path, &file->logs));
  for (RankLog& log : file->logs) log.calls.Share(pool);
  if (disk == nullptr) return absl::OkStatus();
  file->input.path = file->path;
  file->input.role = "trace";
  return disk->Finish(&file->input.sha256, &file->input.bytes);
}

absl::Status AddMembers(const std::string& path, std::vector<LogFile>* files, InputFile* archive) {
  const auto add = [&](TarReader* reader) {
    RETURN_IF_ERROR(reader->CheckWhole());
    LogFile file;
    file.path = absl::StrCat(path, "!", reader->name());
    file.member = true;
    RETURN_IF_ERROR(reader->ReadMember(&file.content));
    file.recorder = RecorderOf(HeadOf(file.content.view(), file.path, Importer::kSniffed));
    if (file.recorder >= 0) files->push_back(std::move(file));
    return absl::OkStatus();
  };
  archive->path = path;
  archive->role = "trace";
  return ForEachMember(path, add, &archive->sha256, &archive->bytes);
}

// What the first bytes of a file show.
struct Sniffed {
  absl::Status status;
  int recorder = -1;
  bool tar = false;
};

std::vector<Sniffed> SniffAll(const std::vector<std::string>& paths, int threads) {
  std::vector<Sniffed> all(paths.size());
  (void)ForEach(paths.size(), threads, [&] {
    return [&](size_t i) {
      const absl::StatusOr<std::string> head = ReadHead(paths[i], Importer::kSniffed);
      all[i].status = head.status();
      if (!head.ok()) return absl::OkStatus();
      all[i].recorder = RecorderOf(*head);
      all[i].tar = all[i].recorder < 0 && LooksLikeTar(absl::string_view(*head).substr(0, kTarHead));
      return absl::OkStatus();
    };
  });
  return all;
}

absl::Status FindFiles(const std::vector<std::string>& inputs, int threads, std::vector<LogFile>* files,
                       std::vector<InputFile>* archives) {
  for (const std::string& input : inputs) {
    std::error_code error;
    std::vector<std::string> paths;
    const bool folder = std::filesystem::is_directory(input, error);
    if (!folder) {
      paths.push_back(input);
    } else {
      RETURN_IF_ERROR(ListFiles(input, &paths));
    }
    const std::vector<Sniffed> sniffed = SniffAll(paths, threads);
    RETURN_IF_ERROR(CheckStop());
    for (size_t i = 0; i < paths.size(); ++i) {
      const std::string& path = paths[i];
      if (!sniffed[i].status.ok() && !folder) return sniffed[i].status;
      if (!sniffed[i].status.ok()) continue;
      LogFile file;
      file.path = path;
      file.recorder = sniffed[i].recorder;
      if (file.recorder >= 0) {
        files->push_back(std::move(file));
      } else if (sniffed[i].tar) {
        RETURN_IF_ERROR(AddMembers(path, files, &archives->emplace_back()));
      } else if (!folder) {
        return absl::InvalidArgumentError(absl::StrCat(path,
                                                       ": not a log of collective calls; expected NCCL's "
                                                       "Inspector, the example of its profiler plugins, its "
                                                       "NCCL_DEBUG=INFO, or PyTorch's Flight Recorder"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RefuseNotes(const JoinedLogs& joined) {
  for (const JoinedRank& rank : joined.ranks) {
    for (const Repair& r : rank.log.repairs) {
      return absl::InvalidArgumentError(absl::StrCat(r.file, ": rank ", rank.log.rank, ": ", r.kind, ", ",
                                                     r.count, " times: ", r.detail,
                                                     " (an error because strict)"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSelection(const ReadOptions& options) {
  if (!options.capture.steps.empty() && options.capture.steps != "all")
    return absl::InvalidArgumentError(absl::StrCat(
        "steps \"", options.capture.steps, "\": steps of collective logs cannot be selected; expected all"));
  if (!options.capture.step_range.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        "--step-range \"", options.capture.step_range,
        "\": collective logs have no ranges; --step-range is for captures and exports of Nsight Systems"));
  if (options.groups_file.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(options.groups_file, ": collective logs name their own groups; expected no groups file"));
}

absl::StatusOr<TraceSet> ReadRun(const std::vector<std::string>& inputs, const ReadOptions& options) {
  RETURN_IF_ERROR(CheckSelection(options));
  TraceSet set;
  std::string format;
  ASSIGN_OR_RETURN(JoinedLogs joined, ReadLogs(inputs, options, &set.inputs, &format));
  if (options.strict) {
    RETURN_IF_ERROR(RefuseNotes(joined));
  }
  GraphPool pool;
  std::vector<Loaded> loaded(joined.ranks.size());
  const auto load = [&](size_t i, Worker* worker, RankBuilder* builder) {
    JoinedRank& rank = joined.ranks[i];
    RETURN_IF_ERROR(builder->Build(joined, i, format, WantsFrames(options)));
    rank.log.calls = {};  // frees memory for the columns
    RETURN_IF_ERROR(FinishColumns(builder->draft(), Keep::kNarrowTimes, rank.log.file, static_cast<int>(i),
                                  options, worker, &loaded[i]));
    const auto own = [&](RankTrace* trace) {
      if (rank.log.rank != trace->rank) trace->recorded_rank = rank.log.rank;
      for (Repair r : rank.log.repairs) {
        r.rank = trace->rank;
        trace->repairs.push_back(std::move(r));
      }
    };
    own(&loaded[i].trace);
    for (Loaded& made : loaded[i].became) own(&made.trace);
    return absl::OkStatus();
  };
  absl::Status status = ForEach(loaded.size(), options.threads, [&] {
    return [&load, worker = std::make_unique<Worker>(&pool), builder = std::make_unique<RankBuilder>()](
               size_t i) { return load(i, worker.get(), builder.get()); };
  });
  if (status.ok()) status = Flatten(&loaded);
  if (!status.ok()) return status;
  for (Loaded& l : loaded) set.ranks.push_back(std::move(l.trace));
  for (size_t g = 0; g < joined.members.size(); ++g)
    set.groups.emplace(joined.group_names[g], joined.members[g]);
  set.group_source = "the logs";
  set.warnings = joined.warnings;
  return set;
}

}  // namespace

bool LooksLikeCallLog(absl::string_view head) { return RecorderOf(head) >= 0; }

absl::Status ReadLog(absl::string_view content, absl::string_view file, std::vector<RankLog>* out) {
  const int recorder = RecorderOf(content.substr(0, Importer::kSniffed));
  if (recorder < 0) return absl::InvalidArgumentError(absl::StrCat(file, ": not a log of collective calls"));
  const std::string padded = absl::StrCat(content, std::string(simdjson::SIMDJSON_PADDING, '\0'));
  return ReadAs(recorder, absl::string_view(padded).substr(0, content.size()), file, out);
}

absl::StatusOr<JoinedLogs> ReadLogs(const std::vector<std::string>& inputs, const ReadOptions& options,
                                    std::vector<InputFile>* inputs_read, std::string* format) {
  std::vector<LogFile> files;
  std::vector<InputFile> archives;
  RETURN_IF_ERROR(FindFiles(inputs, options.threads, &files, &archives));
  if (files.empty()) {
    return absl::NotFoundError(absl::StrCat(absl::StrJoin(inputs, ", "), ": not a log of collective calls"));
  }
  for (const LogFile& f : files) {
    if (f.recorder == files[0].recorder) continue;
    return absl::InvalidArgumentError(absl::StrCat(files[0].path, " is from ", kRecorders[files[0].recorder],
                                                   ", ", f.path, " from ", kRecorders[f.recorder],
                                                   "; expected the logs of one recorder"));
  }
  *format = std::string(kRecorders[files[0].recorder]);
  FactsPool pool;
  RETURN_IF_ERROR(ForEach(files.size(), options.threads, [&] {
    return [&, plain = std::make_unique<Buffer>()](size_t i) { return Parse(&files[i], plain.get(), &pool); };
  }));
  std::vector<RankLog> logs;
  for (LogFile& f : files) {
    for (RankLog& l : f.logs) logs.push_back(std::move(l));
    if (inputs_read != nullptr && !f.member) inputs_read->push_back(std::move(f.input));
  }
  if (inputs_read != nullptr) inputs_read->insert(inputs_read->end(), archives.begin(), archives.end());
  return JoinRanks(std::move(logs), options.capture.ranks, options.threads);
}

const Importer kImporter = {
    .name = "collective_logs",
    .title = "collective log",
    .help = "NCCL's Inspector, profiler example or NCCL_DEBUG=INFO, PyTorch's Flight Recorder",
    .endings = kEndings,
    .named = NamedAsFlightRecorder,
    .sniff = LooksLikeCallLog,
    .run = ReadRun,
};

}  // namespace chakra::collective_logs
