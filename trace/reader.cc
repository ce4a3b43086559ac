#include "trace/reader.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/archive.h"
#include "trace/byte_source.h"
#include "trace/convert/json.h"
#include "trace/decode.h"
#include "trace/groups.h"
#include "trace/inputs.h"

namespace chakra {
namespace {

constexpr size_t kTarHead = 512;
constexpr uint64_t kMaxGroupFile = uint64_t{64} << 20;

// JSON text, rather than a first frame whose length happens to be 0x7b or 0x5b.
bool LooksLikeJson(absl::string_view s) {
  if (absl::StartsWith(s, "\xef\xbb\xbf")) s.remove_prefix(3);
  const size_t first = s.find_first_not_of(" \t\r\n");
  if (first == s.npos || (s[first] != '{' && s[first] != '[')) return false;
  s = s.substr(0, 64);
  return std::all_of(s.begin() + static_cast<ptrdiff_t>(first), s.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\r' || c == '\n';
  });
}

// The blocks that EtToText() writes. No frame begins so: its first tag would
// be of a wire type that there is not.
bool LooksLikeTextFormat(absl::string_view s) {
  s = absl::StripLeadingAsciiWhitespace(s.substr(0, 64));
  if (!absl::ConsumePrefix(&s, "metadata") && !absl::ConsumePrefix(&s, "node")) return false;
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(s), "{");
}

// One thread's tools: they keep their memory from file to file.
struct Worker {
  explicit Worker(GraphPool* pool) : decoder(pool) {}
  Decoder decoder;
  Buffer packed;
  Buffer plain;
};

struct Loaded {
  RankTrace trace;
  std::vector<GroupNode> group_nodes;
  InputFile input;
};

// Plain frames of a file's unpacked content: itself, or converted JSON or text.
absl::StatusOr<absl::string_view> Frames(absl::string_view plain, absl::string_view file, std::string* keep) {
  const bool json = LooksLikeJson(plain);
  if (!json && !LooksLikeTextFormat(plain)) return plain;
  absl::StatusOr<std::string> et = json ? EtFromJson(plain, file) : EtFromText(plain, file);
  if (!et.ok()) return et.status();
  *keep = *std::move(et);
  return absl::string_view(*keep);
}

absl::Status DecodePlain(absl::string_view plain, absl::string_view file, int rank,
                         const ReadOptions& options, Worker* worker, Loaded* out) {
  std::string converted;
  absl::StatusOr<absl::string_view> frames = Frames(plain, file, &converted);
  if (!frames.ok()) return frames.status();
  absl::StatusOr<RankTrace> trace = worker->decoder.Decode(*frames, file, rank, options);
  if (!trace.ok()) return trace.status();
  out->trace = *std::move(trace);
  out->group_nodes = worker->decoder.group_nodes();
  return absl::OkStatus();
}

absl::Status UnpackTo(absl::string_view content, absl::string_view file, Buffer* out) {
  MemorySource raw(content);
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenContent(&raw, file);
  if (!source.ok()) return source.status();
  return ReadAll(source->get(), file, out);
}

// `content` may be compressed.
absl::Status DecodeContent(absl::string_view content, absl::string_view file, int rank,
                           const ReadOptions& options, Worker* worker, Loaded* out) {
  if (!LooksCompressed(content)) return DecodePlain(content, file, rank, options, worker, out);
  if (absl::Status s = UnpackTo(content, file, &worker->plain); !s.ok()) return s;
  return DecodePlain(worker->plain.view(), file, rank, options, worker, out);
}

absl::Status LoadFile(const TraceFile& file, const ReadOptions& options, Worker* worker, Loaded* out) {
  absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(file.path);
  if (!disk.ok()) return disk.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(disk->get(), file.path);
  if (!content.ok()) return content.status();
  if (absl::Status s = ReadAll(content->get(), file.path, &worker->plain); !s.ok()) return s;
  if (LooksLikeTar(worker->plain.view().substr(0, kTarHead))) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path, ": a tar archive beside other inputs, expected it alone"));
  }
  out->input.path = file.path;
  out->input.role = "trace";
  if (absl::Status s = (*disk)->Finish(&out->input.sha256, &out->input.bytes); !s.ok()) return s;
  return DecodePlain(worker->plain.view(), file.path, file.rank, options, worker, out);
}

int ThreadCount(const ReadOptions& options, size_t tasks) {
  return static_cast<int>(
      std::max<size_t>(1, std::min<size_t>({static_cast<size_t>(std::max(1, options.threads)), tasks, 256})));
}

// The first error by position, whatever order the threads worked in.
absl::Status FirstError(const std::vector<absl::Status>& all) {
  for (const absl::Status& s : all) {
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadFiles(const std::vector<TraceFile>& files, const ReadOptions& options, GraphPool* pool,
                       std::vector<Loaded>* out) {
  out->resize(files.size());
  std::vector<absl::Status> status(files.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    Worker worker(pool);
    // Tasks are taken in order, so every one before a failed one runs to its end.
    while (!failed) {
      const size_t i = next++;
      if (i >= files.size()) return;
      status[i] = LoadFile(files[i], options, &worker, &(*out)[i]);
      if (!status[i].ok()) failed = true;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < ThreadCount(options, files.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return FirstError(status);
}

// Decodes members on other threads while the archive is read on this one. With
// one thread, Add() decodes at once.
class MemberPool {
 public:
  MemberPool(const ReadOptions& options, GraphPool* pool) : options_(options), pool_(pool), own_(pool) {
    const int helpers = ThreadCount(options, 256) - 1;
    for (int t = 0; t < helpers; ++t) threads_.emplace_back([this] { Run(); });
  }
  ~MemberPool() { Join(); }

  // Takes the content of `buffer` and leaves another to be filled.
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

  // Waits for all members; their first error by position.
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
  std::deque<Loaded> loaded_;  // addresses stay
  std::deque<absl::Status> status_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::vector<Buffer> free_;
  std::atomic<bool> failed_ = false;
  bool done_ = false;
};

// A file that may name groups, beside the traces or in their archive.
struct GroupCandidate {
  std::string path;
  std::string text;
};

// Hands the members of an archive to `members`, and the JSON to `candidates`.
absl::Status ReadMembers(const std::string& path, ByteSource* tar, MemberPool* members,
                         std::vector<TraceFile>* files, std::vector<GroupCandidate>* candidates) {
  TarReader reader(tar, path);
  Buffer buffer;
  while (!members->failed()) {
    absl::StatusOr<bool> more = reader.Next();
    if (!more.ok()) return more.status();
    if (!*more) break;
    const TraceName name = ParseTraceName(reader.name());
    const bool json = absl::EndsWith(reader.name(), ".json");
    if (json ? reader.size() > kMaxGroupFile : !name.is_trace) continue;
    if (absl::Status s = reader.ReadMember(&buffer); !s.ok()) return s;
    const std::string member = absl::StrCat(path, "!", reader.name());
    if (json) {
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
  const absl::Status read = ReadMembers(path, tar, &members, &files, candidates);
  if (absl::Status s = members.Finish(); !s.ok()) return s;
  if (!read.ok()) return read;
  for (const TraceFile& f : files) {
    if (f.prefix == files[0].prefix) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": traces of several runs, expected one: ", files[0].prefix, ", ", f.prefix));
  }
  if (files.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected members named PREFIX.N.et[.zst|.gz], the archive has none"));
  }
  if (absl::Status s = CheckRanks(&files); !s.ok()) return s;
  for (Loaded& l : members.loaded()) out->push_back(std::move(l));
  std::sort(out->begin(), out->end(),
            [](const Loaded& a, const Loaded& b) { return a.trace.rank < b.trace.rank; });
  return absl::OkStatus();
}

// A lone trace that its name calls rank N stands for rank 0.
absl::Status RenumberLone(TraceFile* file, const ReadOptions& options, std::optional<Repair>* note) {
  if (file->rank <= 0) {
    file->rank = 0;
    return absl::OkStatus();
  }
  const std::string what =
      absl::StrCat("the only trace is rank ", file->rank, " by its name; it is taken as rank 0");
  if (options.strict) {
    return absl::InvalidArgumentError(absl::StrCat(file->path, ": ", what, " (an error because strict)"));
  }
  *note = Repair{"rank_renumbered", file->path, 0, 1, 0, what};
  file->rank = 0;
  return absl::OkStatus();
}

// One input file: an archive of all ranks, or one rank.
absl::Status LoadSingle(TraceFile file, const ReadOptions& options, GraphPool* pool, std::vector<Loaded>* out,
                        std::vector<GroupCandidate>* candidates, InputFile* archive) {
  absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(file.path);
  if (!disk.ok()) return disk.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(disk->get(), file.path);
  if (!content.ok()) return content.status();
  std::string head(kTarHead, '\0');
  absl::StatusOr<size_t> got = ReadFully(content->get(), head.data(), head.size());
  if (!got.ok()) return got.status();
  head.resize(*got);
  const bool tar = LooksLikeTar(head);
  const std::unique_ptr<ByteSource> all = PutBack(std::move(head), content->get());
  std::optional<Repair> note;
  if (tar) {
    absl::Status s = ReadArchive(file.path, all.get(), options, pool, out, candidates);
    if (!s.ok()) return s;
    archive->path = file.path;
    archive->role = "trace";
    return (*disk)->Finish(&archive->sha256, &archive->bytes);
  }
  if (absl::Status s = RenumberLone(&file, options, &note); !s.ok()) return s;
  Worker worker(pool);
  if (absl::Status s = ReadAll(all.get(), file.path, &worker.plain); !s.ok()) return s;
  Loaded& one = out->emplace_back();
  one.input.path = file.path;
  one.input.role = "trace";
  if (absl::Status s = (*disk)->Finish(&one.input.sha256, &one.input.bytes); !s.ok()) return s;
  absl::Status s = DecodePlain(worker.plain.view(), file.path, file.rank, options, &worker, &one);
  if (s.ok() && note.has_value()) one.trace.repairs.push_back(*note);
  return s;
}

absl::StatusOr<std::string> ReadGroupText(const std::string& path, InputFile* input) {
  absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(path);
  if (!disk.ok()) return disk.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(disk->get(), path);
  if (!content.ok()) return content.status();
  Buffer text;
  if (absl::Status s = ReadAll(content->get(), path, &text); !s.ok()) return s;
  input->path = path;
  input->role = "groups";
  if (absl::Status s = (*disk)->Finish(&input->sha256, &input->bytes); !s.ok()) return s;
  return std::string(text.view());
}

absl::Status GroupsFromFile(const std::string& path, TraceSet* set) {
  InputFile input;
  absl::StatusOr<std::string> text = ReadGroupText(path, &input);
  if (!text.ok()) return text.status();
  absl::StatusOr<Groups> groups = ParseGroups(*text, path);
  if (!groups.ok()) return groups.status();
  set->groups = *std::move(groups);
  set->group_source = path;
  set->inputs.push_back(std::move(input));
  return absl::OkStatus();
}

absl::Status GroupsFromNodes(const std::vector<std::vector<GroupNode>>& nodes, bool strict, TraceSet* set) {
  for (size_t r = 0; r < nodes.size(); ++r) {
    RankTrace& trace = set->ranks[r];
    for (const GroupNode& node : nodes[r]) {
      const std::string subject = absl::StrCat(trace.file, ": rank ", r, ", node ", node.id);
      absl::StatusOr<Groups> groups = ParseGroupNode(node.text, subject);
      if (!groups.ok()) {  // PyTorch cuts long texts: what it says is lost, the trace is not
        if (strict) return groups.status();
        trace.repairs.push_back({"unreadable_group_node", trace.file, static_cast<int>(r), 1, node.id,
                                 std::string(groups.status().message())});
        continue;
      }
      if (absl::Status s = MergeGroups(*groups, subject, &set->groups); !s.ok()) return s;
    }
  }
  if (!set->groups.empty()) set->group_source = "process_group:init nodes";
  return absl::OkStatus();
}

// JSON files beside the traces of one run.
std::vector<GroupCandidate> FindCandidates(const std::string& prefix) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(prefix).parent_path();
  std::vector<GroupCandidate> found;
  for (const std::string& name : ListFolder(folder.empty() ? "." : folder.string())) {
    const fs::path path = folder / name;
    std::error_code error;
    if (!absl::EndsWith(name, ".json") || !fs::is_regular_file(path, error)) continue;
    if (fs::file_size(path, error) > kMaxGroupFile || error) continue;
    InputFile input;
    absl::StatusOr<std::string> text = ReadGroupText(path.string(), &input);
    if (text.ok()) found.push_back({path.string(), *std::move(text)});
  }
  return found;
}

bool NamesGroups(const TraceSet& set) {
  return std::any_of(set.ranks.begin(), set.ranks.end(),
                     [](const RankTrace& r) { return r.group_names.size() > 1; });
}

// Takes PREFIX.json, or the only candidate that looks like groups.
absl::Status GroupsFromCandidates(const std::string& prefix, const std::vector<GroupCandidate>& candidates,
                                  TraceSet* set) {
  std::vector<const GroupCandidate*> fit;
  for (const GroupCandidate& c : candidates) {
    if (!LooksLikeGroups(c.text)) continue;
    if (c.path == prefix + ".json") {
      fit = {&c};
      break;
    }
    fit.push_back(&c);
  }
  if (fit.empty() || (fit.size() > 1 && !NamesGroups(*set))) return absl::OkStatus();
  if (fit.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "several group files lie beside the traces, name one: ", fit[0]->path, ", ", fit[1]->path));
  }
  absl::StatusOr<Groups> groups = ParseGroups(fit[0]->text, fit[0]->path);
  if (!groups.ok()) return groups.status();
  set->groups = *std::move(groups);
  set->group_source = fit[0]->path;
  set->inputs.push_back({fit[0]->path, Sha256Hex(fit[0]->text), fit[0]->text.size(), "groups"});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TraceSet> ReadTraceSet(const std::vector<std::string>& inputs, const ReadOptions& options) {
  absl::StatusOr<std::vector<TraceFile>> files = ResolveInputs(inputs);
  if (!files.ok()) return files.status();
  GraphPool pool;
  std::vector<Loaded> loaded;
  std::vector<GroupCandidate> candidates;
  InputFile archive;
  absl::Status status = files->size() == 1 ? absl::OkStatus() : CheckRanks(&*files);
  if (!status.ok()) return status;
  status = files->size() == 1 ? LoadSingle(files->front(), options, &pool, &loaded, &candidates, &archive)
                              : LoadFiles(*files, options, &pool, &loaded);
  if (!status.ok()) return status;

  TraceSet set;
  std::string prefix = files->front().prefix;
  if (!archive.path.empty()) {
    prefix = ParseTraceName(loaded.front().trace.file).prefix;
    set.inputs.push_back(archive);
  }
  std::vector<std::vector<GroupNode>> nodes;
  for (Loaded& l : loaded) {
    set.ranks.push_back(std::move(l.trace));
    nodes.push_back(std::move(l.group_nodes));
    if (!l.input.path.empty()) set.inputs.push_back(std::move(l.input));
  }
  if (!options.groups_file.empty()) {
    status = GroupsFromFile(options.groups_file, &set);
  } else {
    status = GroupsFromNodes(nodes, options.strict, &set);
    if (status.ok() && set.groups.empty()) {
      if (archive.path.empty()) candidates = FindCandidates(prefix);
      status = GroupsFromCandidates(prefix, candidates, &set);
    }
  }
  if (!status.ok()) return status;
  ResolveGroupZero(set.groups, &set.ranks);
  return set;
}

absl::StatusOr<RankTrace> DecodeTrace(absl::string_view content, absl::string_view file, int rank,
                                      const ReadOptions& options) {
  GraphPool pool;
  Worker worker(&pool);
  Loaded loaded;
  if (absl::Status s = DecodeContent(content, file, rank, options, &worker, &loaded); !s.ok()) return s;
  return std::move(loaded.trace);
}

namespace {

// Unpacks the content of `file`, which may be "archive!member".
absl::Status ReadPlain(const std::string& file, Buffer* out) {
  std::error_code error;
  const size_t bang = std::filesystem::exists(file, error) ? std::string::npos : file.rfind('!');
  const std::string path = file.substr(0, bang);
  absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(path);
  if (!disk.ok()) return disk.status();
  absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(disk->get(), path);
  if (!content.ok()) return content.status();
  if (bang == std::string::npos) return ReadAll(content->get(), path, out);
  TarReader reader(content->get(), path);
  for (;;) {
    absl::StatusOr<bool> more = reader.Next();
    if (!more.ok()) return more.status();
    if (!*more) return absl::NotFoundError(file);
    if (reader.name() != file.substr(bang + 1)) continue;
    Buffer member;
    if (absl::Status s = reader.ReadMember(&member); !s.ok()) return s;
    return UnpackTo(member.view(), file, out);
  }
}

}  // namespace

int64_t LocateNode(const std::string& file, uint64_t id) {
  Buffer plain;
  if (!ReadPlain(file, &plain).ok() || LooksLikeJson(plain.view()) || LooksLikeTextFormat(plain.view())) {
    return -1;
  }
  return FindNodeFrame(plain.view(), id);
}

std::string DescribeNode(const RankTrace& trace, uint32_t row) {
  const Graph& g = *trace.graph;
  const int64_t at = LocateNode(trace.file, g.id[row]);
  return absl::StrCat("rank ", trace.rank, ", node ", g.id[row], " (\"", g.name_of(row), "\") of ",
                      trace.file, at < 0 ? "" : absl::StrCat(", byte ", at));
}

}  // namespace chakra
