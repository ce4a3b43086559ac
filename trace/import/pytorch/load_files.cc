#include "trace/import/pytorch/load_files.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/importer.h"
#include "trace/import/host/host_trace.h"
#include "trace/import/kineto/kineto.h"
#include "trace/io/archive.h"
#include "trace/io/byte_source.h"
#include "trace/io/file.h"
#include "trace/io/json_mend.h"

namespace chakra::pytorch {
namespace {

constexpr size_t kMostMended = size_t{2} << 30;  // maximum bytes of a text that is mended in memory

// The list for the repairs of a file. If the file holds several ranks, the list of the first rank.
std::vector<Repair>* RepairsIn(LoadedFile* file) {
  if (file->host != nullptr) return &file->host->repairs;
  return file->parts.empty() ? &file->device->repairs : &file->parts[0].device->repairs;
}
int RankIn(const LoadedFile& file) {
  if (file.host != nullptr) return file.host->rank;
  return file.parts.empty() ? file.device->rank : kNoRank;
}

void AddFaults(const std::vector<JsonFault>& faults, absl::string_view file, int rank,
               std::vector<Repair>* repairs) {
  for (const JsonFault& f : faults)
    repairs->push_back({std::string(f.kind), std::string(file), rank, f.count, 0, f.detail});
}

// Reads a trace from `source`, plain text. `faults`: the faults of the text that were mended.
absl::Status ReadTrace(const CaptureFile& file, ByteSource* source, const std::vector<JsonFault>& faults,
                       LoadedFile* out) {
  if (file.host) {
    Buffer text;
    RETURN_IF_ERROR(ReadAll(source, file.path, &text));
    ASSIGN_OR_RETURN(HostTrace host, ReadHostTrace(text.view(), file.path));
    out->host = std::make_unique<HostTrace>(std::move(host));
  } else {
    ASSIGN_OR_RETURN(DeviceTrace device, ReadKineto(source, file.path, &out->parts));
    out->device = std::make_unique<DeviceTrace>(std::move(device));
  }
  AddFaults(faults, file.path, RankIn(*out), RepairsIn(out));
  return absl::OkStatus();
}

// Reads the whole text of `source`. False: it cannot be read, or is too long to be mended.
bool ReadToMend(ByteSource* source, Buffer* out) {
  for (size_t room = size_t{1} << 20;; room *= 2) {
    if (!out->Reserve(std::min(room, kMostMended + 1))) return false;
    while (out->size() < out->capacity()) {
      const absl::StatusOr<size_t> got =
          source->Read(out->data() + out->size(), out->capacity() - out->size());
      if (!got.ok()) return false;
      if (*got == 0) return true;
      out->set_size(out->size() + *got);
      if (out->size() > kMostMended) return false;
    }
  }
}

// Mends a text that is not JSON, and reads the trace in it. `failed`: the error of the original text; it is
// returned if the text needs no mending or is not readable after it.
absl::Status ReadMended(const CaptureFile& file, ByteSource* raw, absl::Status failed, LoadedFile* out) {
  StreamCut cut;
  absl::StatusOr<std::unique_ptr<ByteSource>> content = OpenContent(raw, file.path, &cut);
  if (!content.ok()) return failed;
  Buffer text;
  if (!ReadToMend(content->get(), &text)) return failed;
  const absl::StatusOr<MendedJson> mended = MendJson(text.view(), file.path);
  if (!mended.ok())
    return absl::InvalidArgumentError(absl::StrCat(failed.message(), " (", mended.status().message(), ")"));
  if (mended->faults.empty()) return failed;
  MemorySource source(mended->text);
  *out = LoadedFile();
  return ReadTrace(file, &source, mended->faults, out).ok() ? absl::OkStatus() : failed;
}

// Whether only a first part of the file, up to its last whole event or node, was read.
bool CutShort(LoadedFile* file) {
  const std::vector<Repair>& repairs = *RepairsIn(file);
  return std::any_of(repairs.begin(), repairs.end(), [](const Repair& r) {
    return r.kind == "truncated_kineto" || r.kind == "truncated_host_trace";
  });
}

size_t Rows(const LoadedFile& file) {
  size_t rows = file.host != nullptr ? file.host->nodes.size() : file.device->events.size();
  for (const RankPart& part : file.parts) rows += part.device->events.size();
  return rows;
}

// Reads a trace from the content `raw`. `again` opens the same content once more.
absl::Status LoadContent(const CaptureFile& file, ByteSource* raw,
                         const std::function<absl::StatusOr<std::unique_ptr<ByteSource>>()>& again,
                         LoadedFile* out) {
  StreamCut cut;
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> content, OpenContent(raw, file.path, &cut));
  absl::Status status = ReadTrace(file, content.get(), {}, out);
  if (absl::IsInvalidArgument(status)) {
    ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> anew, again());
    status = ReadMended(file, anew.get(), std::move(status), out);
  }
  if (!status.ok()) return status;
  if (!cut.cut && CutShort(out)) {  // a superfluous quote looks like a file without its end
    absl::StatusOr<std::unique_ptr<ByteSource>> anew = again();
    LoadedFile mended;
    if (anew.ok() && ReadMended(file, anew->get(), absl::InvalidArgumentError("cut"), &mended).ok() &&
        Rows(mended) > Rows(*out))
      *out = std::move(mended);
  }
  if (cut.cut) {
    RepairsIn(out)->push_back({"truncated_stream", file.path, RankIn(*out), 1, 0,
                               absl::StrCat("the file ends inside the compressed stream, at compressed byte ",
                                            cut.byte, "; the complete part before it was read")});
  }
  return absl::OkStatus();
}

// A member of an archive, and what was read from it.
struct Member {
  std::string name;
  Buffer content;
  CaptureFile file;
  LoadedFile loaded;
  bool is_capture = false;
};

absl::Status LoadMember(const std::string& archive, Member* member) {
  const std::string path = absl::StrCat(archive, "!", member->name);
  const std::string head = HeadOf(member->content.view(), path, Importer::kSniffed);
  if (!SniffCapture(head, path, member->name, &member->file)) return absl::OkStatus();
  member->is_capture = true;
  const auto open = [&]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    return std::make_unique<MemorySource>(member->content.view());
  };
  MemorySource raw(member->content.view());
  return LoadContent(member->file, &raw, open, &member->loaded);
}

// Parses a batch of members, and moves them to `done`.
absl::Status LoadBatch(const std::string& archive, int threads, std::vector<Member>* batch,
                       std::vector<Member>* done) {
  absl::Status status = ForEach(batch->size(), threads,
                                [&] { return [&](size_t i) { return LoadMember(archive, &(*batch)[i]); }; });
  for (Member& member : *batch) {
    member.content = Buffer();
    done->push_back(std::move(member));
  }
  batch->clear();
  return status;
}

absl::Status ReadMembers(const std::string& path, ByteSource* tar, int threads, std::vector<Member>* done,
                         std::vector<std::string>* others) {
  TarReader reader(tar, path);
  std::vector<Member> batch;
  for (;;) {
    ASSIGN_OR_RETURN(bool more, reader.Next());
    if (!more) break;
    const std::string name = reader.name();
    // macOS writes such a file next to each file
    if (absl::StartsWith(name.substr(name.rfind('/') + 1), "._")) continue;
    if (!NamedAsCapture(name)) {
      others->push_back(absl::StrCat(path, "!", name));
      continue;
    }
    RETURN_IF_ERROR(reader.CheckWhole());
    Member& member = batch.emplace_back();
    member.name = name;
    RETURN_IF_ERROR(reader.ReadMember(&member.content));
    if (static_cast<int>(batch.size()) < std::max(1, threads)) continue;
    RETURN_IF_ERROR(LoadBatch(path, threads, &batch, done));
  }
  return LoadBatch(path, threads, &batch, done);
}

}  // namespace

absl::Status LoadFile(const CaptureFile& file, LoadedFile* out) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(file.path));
  const auto open = [&]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    return FileSource::Open(file.path);
  };
  RETURN_IF_ERROR(LoadContent(file, disk.get(), open, out));
  out->input.path = file.path;
  out->input.role = file.host ? "host trace" : "device trace";
  return disk->Finish(&out->input.sha256, &out->input.bytes);
}

bool IsArchive(const std::string& path) {
  const absl::StatusOr<std::string> head = ReadHead(path, kTarHead);
  return head.ok() && LooksLikeTar(*head);
}

absl::Status LoadArchive(const std::string& path, int threads, std::vector<CaptureFile>* files,
                         std::vector<LoadedFile>* loaded, std::vector<std::string>* others,
                         InputFile* input) {
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(path));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> tar, OpenContent(disk.get(), path));
  std::vector<Member> members;
  RETURN_IF_ERROR(ReadMembers(path, tar.get(), threads, &members, others));
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  for (Member& member : members) {
    if (!member.is_capture) {
      others->push_back(absl::StrCat(path, "!", member.name));
      continue;
    }
    files->push_back(std::move(member.file));
    loaded->push_back(std::move(member.loaded));
  }
  std::sort(others->begin(), others->end());
  input->path = path;
  input->role = "trace";
  return disk->Finish(&input->sha256, &input->bytes);
}

}  // namespace chakra::pytorch
