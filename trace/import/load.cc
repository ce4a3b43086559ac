#include "trace/import/load.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/read_options.h"
#include "trace/import/registry.h"
#include "trace/io/archive.h"

namespace chakra {
namespace {

// `status` with "FILE: rank N" at the beginning of its message.
absl::Status WithRank(const absl::Status& status, absl::string_view file, int rank) {
  absl::string_view what = status.message();
  const std::string subject = absl::StrCat(file, ": ");
  if (status.ok() || absl::StartsWith(what, absl::StrCat(subject, "rank "))) return status;
  absl::ConsumePrefix(&what, subject);
  return absl::Status(status.code(), absl::StrCat(subject, "rank ", rank, ": ", what));
}

absl::Status DecodePlain(absl::string_view plain, absl::string_view file, int rank,
                         const ReadOptions& options, Worker* worker, Loaded* out) {
  std::string converted;
  ASSIGN_OR_RETURN(absl::string_view frames, ImporterOf(plain).frames(plain, file, &converted));
  return DecodeFrames(frames, file, rank, options, worker, out);
}

absl::Status UnpackTo(absl::string_view content, absl::string_view file, Buffer* out) {
  MemorySource raw(content);
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenContent(&raw, file));
  return ReadAll(source.get(), file, out);
}

absl::Status LoadFile(const TraceFile& file, const ReadOptions& options, Worker* worker, Loaded* out) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(file.path));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(disk.get(), file.path));
  RETURN_IF_ERROR(ReadAll(content.get(), file.path, &worker->plain));
  if (LooksLikeTar(worker->plain.view().substr(0, kTarHead))) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path, ": a tar archive together with other inputs, expected only the archive"));
  }
  out->input.path = file.path;
  out->input.role = "trace";
  RETURN_IF_ERROR(disk->Finish(&out->input.sha256, &out->input.bytes));
  return DecodePlain(worker->plain.view(), file.path, file.rank, options, worker, out);
}

// Decodes members on other threads while this thread reads the archive. With one thread, Add() decodes at
// once.
class MemberPool {
 public:
  MemberPool(const ReadOptions& options, GraphPool* pool) : options_(options), pool_(pool), own_(pool) {
    const int helpers = ThreadCount(options.threads, 256) - 1;
    StartThreads(
        helpers, [this](int) { Run(); }, &threads_);
  }
  ~MemberPool() { Join(); }

  // Takes the content of `buffer` and leaves a buffer that can be filled again.
  void Add(const std::string& file, int rank, Buffer* buffer) {
    Task task{&loaded_.emplace_back(), &status_.emplace_back(), file, rank, Buffer()};
    if (threads_.empty()) {
      Do(task, buffer->view(), &own_);
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.size() < threads_.size(); });
    task.content.swap(*buffer);
    if (!free_.empty()) {
      buffer->swap(free_.back());
      free_.pop_back();
    }
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }

  bool failed() const { return failed_; }

  // Waits for all members. Returns the first error in the order of the members.
  absl::Status Finish() {
    Join();
    for (const absl::Status& s : status_) {
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

  std::deque<Loaded>& loaded() { return loaded_; }

 private:
  struct Task {
    Loaded* loaded;
    absl::Status* status;
    std::string file;
    int rank;
    Buffer content;
  };

  void Join() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

  void Do(const Task& task, absl::string_view content, Worker* worker) {
    *task.status = DecodeContent(content, task.file, task.rank, options_, worker, task.loaded);
    if (!task.status->ok()) failed_ = true;
  }

  void Run() {
    Worker worker(pool_);
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return done_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      changed_.notify_all();
      lock.unlock();
      Do(task, task.content.view(), &worker);
      lock.lock();
      free_.push_back(std::move(task.content));
    }
  }

  const ReadOptions& options_;
  GraphPool* pool_;
  Worker own_;
  std::deque<Loaded> loaded_;  // pointers to its elements stay valid
  std::deque<absl::Status> status_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::vector<Buffer> free_;
  std::atomic<bool> failed_ = false;
  bool done_ = false;
};

// Passes the traces of an archive to `members`, and files that may list groups to `candidates`.
absl::Status ReadMembers(const std::string& path, ByteSource* tar, MemberPool* members,
                         std::vector<TraceFile>* files, std::vector<GroupCandidate>* candidates) {
  TarReader reader(tar, path);
  Buffer buffer;
  while (!members->failed()) {
    ASSIGN_OR_RETURN(bool more, reader.Next());
    if (!more) break;
    const TraceName name = ParseTraceName(reader.name());
    const bool groups = NamedAsGroups(reader.name());
    if (groups ? reader.size() > kMaxGroupFile : !name.is_trace) continue;
    RETURN_IF_ERROR(reader.CheckWhole());
    RETURN_IF_ERROR(reader.ReadMember(&buffer));
    const std::string member = absl::StrCat(path, "!", reader.name());
    if (groups) {
      candidates->push_back({member, std::string(buffer.view())});
      continue;
    }
    files->push_back({member, name.prefix, name.rank});
    members->Add(member, std::max(name.rank, 0), &buffer);
  }
  return absl::OkStatus();
}

absl::Status ReadArchive(const std::string& path, ByteSource* tar, const ReadOptions& options,
                         GraphPool* pool, std::vector<Loaded>* out, std::vector<GroupCandidate>* candidates) {
  std::vector<TraceFile> files;
  MemberPool members(options, pool);
  absl::Status read = ReadMembers(path, tar, &members, &files, candidates);
  RETURN_IF_ERROR(members.Finish());
  if (!read.ok()) return read;
  for (const TraceFile& f : files) {
    if (f.prefix == files[0].prefix) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": traces of several runs, expected one: ", files[0].prefix, ", ", f.prefix));
  }
  if (files.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected members named ", NamesOfTraces(), ", the archive has none"));
  }
  RETURN_IF_ERROR(CheckRanks(&files));
  for (Loaded& l : members.loaded()) out->push_back(std::move(l));
  std::sort(out->begin(), out->end(),
            [](const Loaded& a, const Loaded& b) { return a.trace.rank < b.trace.rank; });
  return absl::OkStatus();
}

// If the only trace has a rank other than 0 in its name, makes it rank 0 and reports that in `note`.
absl::Status RenumberIsolated(TraceFile* file, const ReadOptions& options, std::optional<Repair>* note) {
  if (file->rank <= 0) {
    file->rank = 0;
    return absl::OkStatus();
  }
  const std::string what =
      absl::StrCat("the only trace is rank ", file->rank, " by its name; it is used as rank 0");
  if (options.strict) {
    return absl::InvalidArgumentError(absl::StrCat(file->path, ": ", what, " (an error because strict)"));
  }
  *note = Repair{"rank_renumbered", file->path, 0, 1, 0, what};
  file->rank = 0;
  return absl::OkStatus();
}

// `content` is the unpacked content of `disk`.
absl::Status LoadIsolated(TraceFile file, FileSource* disk, ByteSource* content, const ReadOptions& options,
                          GraphPool* pool, std::vector<Loaded>* out) {
  const int recorded_rank = file.rank;
  std::optional<Repair> note;
  RETURN_IF_ERROR(RenumberIsolated(&file, options, &note));
  Worker worker(pool);
  RETURN_IF_ERROR(ReadAll(content, file.path, &worker.plain));
  Loaded& one = out->emplace_back();
  one.input.path = file.path;
  one.input.role = "trace";
  RETURN_IF_ERROR(disk->Finish(&one.input.sha256, &one.input.bytes));
  RETURN_IF_ERROR(DecodePlain(worker.plain.view(), file.path, file.rank, options, &worker, &one));
  if (note.has_value()) {
    const auto tell = [&](RankTrace* trace) {
      trace->recorded_rank = recorded_rank;
      trace->repairs.push_back(*note);
    };
    tell(&one.trace);
    for (Loaded& made : one.became) tell(&made.trace);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DecodeContent(absl::string_view content, absl::string_view file, int rank,
                           const ReadOptions& options, Worker* worker, Loaded* out) {
  absl::Status s;
  if (LooksCompressed(content)) {
    s = UnpackTo(content, file, &worker->plain);
    content = worker->plain.view();
  }
  if (s.ok()) s = DecodePlain(content, file, rank, options, worker, out);
  return WithRank(s, file, rank);
}

absl::Status LoadFiles(const std::vector<TraceFile>& files, const ReadOptions& options, GraphPool* pool,
                       std::vector<Loaded>* out) {
  out->resize(files.size());
  return ForEach(files.size(), options.threads, [&] {
    return [&, worker = std::make_unique<Worker>(pool)](size_t i) {
      return WithRank(LoadFile(files[i], options, worker.get(), &(*out)[i]), files[i].path, files[i].rank);
    };
  });
}

absl::Status LoadSingle(const TraceFile& file, const ReadOptions& options, GraphPool* pool,
                        std::vector<Loaded>* out, std::vector<GroupCandidate>* candidates,
                        InputFile* archive) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(file.path));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(disk.get(), file.path));
  std::string head(kTarHead, '\0');
  absl::StatusOr<size_t> got = ReadFully(content.get(), head.data(), head.size());
  if (!got.ok()) {  // the content does not show whether this is an archive: the name decides
    return ParseTraceName(file.path).is_trace ? WithRank(got.status(), file.path, 0) : got.status();
  }
  head.resize(*got);
  const bool tar = LooksLikeTar(head);
  const std::unique_ptr<ByteSource> all = PutBack(std::move(head), content.get());
  if (!tar) return WithRank(LoadIsolated(file, disk.get(), all.get(), options, pool, out), file.path, 0);
  RETURN_IF_ERROR(ReadArchive(file.path, all.get(), options, pool, out, candidates));
  archive->path = file.path;
  archive->role = "trace";
  return disk->Finish(&archive->sha256, &archive->bytes);
}

}  // namespace chakra
