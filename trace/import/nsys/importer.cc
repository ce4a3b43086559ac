#include "trace/import/nsys/importer.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/page_pool.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/import/nsys/advice.h"
#include "trace/import/nsys/export_file.h"
#include "trace/import/nsys/ranks.h"
#include "trace/io/archive.h"
#include "trace/io/byte_source.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {
namespace {

constexpr absl::string_view kEndings[] = {".sqlite", ".sqlite3", ".db"};
constexpr absl::string_view kReports[] = {".nsys-rep", ".qdrep", ".qdstrm"};

// Files of rocpd are SQLite too.
bool Sniff(absl::string_view head) { return LooksLikeSqlite(head) && !absl::StrContains(head, "rocpd_"); }

template <size_t n>
bool EndsIn(absl::string_view name, const absl::string_view (&endings)[n]) {
  return std::any_of(std::begin(endings), std::end(endings),
                     [&](absl::string_view ending) { return absl::EndsWith(name, ending); });
}

// An export: a file, or a member of an archive ("ARCHIVE!MEMBER") in memory.
struct Export {
  std::string path;
  std::unique_ptr<Buffer> content;  // null: a file
};

struct Found {
  std::vector<Export> exports;
  std::vector<std::string> reports, others;
  std::vector<InputFile> archives;
};

// Adds the exports in a tar archive. They stay in memory until they are read.
absl::Status FindMembers(const std::string& path, Found* found) {
  const auto add = [&](TarReader* reader) {
    const std::string name = absl::StrCat(path, "!", reader->name());
    if (!EndsIn(WithoutCompression(name), kEndings)) {
      (EndsIn(name, kReports) ? found->reports : found->others).push_back(name);
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(reader->CheckWhole());
    Buffer member;
    RETURN_IF_ERROR(reader->ReadMember(&member));
    MemorySource raw(member.view());
    ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> plain, OpenContent(&raw, name));
    Export one{name, std::make_unique<Buffer>()};
    RETURN_IF_ERROR(ReadAll(plain.get(), name, one.content.get()));
    if (Sniff(one.content->view().substr(0, Importer::kSniffed))) {
      found->exports.push_back(std::move(one));
    } else {
      found->others.push_back(name);
    }
    return absl::OkStatus();
  };
  InputFile& archive = found->archives.emplace_back();
  archive.path = path;
  archive.role = "device trace";
  return ForEachMember(path, add, &archive.sha256, &archive.bytes);
}

absl::Status Find(const std::vector<std::string>& inputs, Found* found) {
  for (const std::string& input : inputs) {
    std::error_code error;
    std::vector<std::string> files = {input};
    if (std::filesystem::is_directory(input, error)) {
      files.clear();
      RETURN_IF_ERROR(ListFiles(input, &files));
    }
    for (const std::string& file : files) {
      if (EndsIn(file, kReports)) {
        found->reports.push_back(file);
        continue;
      }
      ASSIGN_OR_RETURN(std::string head, ReadHead(file, Importer::kSniffed));
      if (Sniff(head)) {
        found->exports.push_back({file, nullptr});
      } else if (LooksLikeTar(head.substr(0, kTarHead))) {
        RETURN_IF_ERROR(FindMembers(file, found));
      } else {
        found->others.push_back(file);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status NotExported(const std::string& report) {
  const std::string to = report.substr(0, report.rfind('.'));
  if (absl::EndsWith(report, ".qdstrm")) {
    return absl::InvalidArgumentError(
        absl::StrCat(report,
                     ": a raw recording of nsys without a report; make the report with nsys's QdstrmImporter "
                     "(`QdstrmImporter -i ",
                     report,
                     "`), export it: `nsys export -t sqlite "
                     "--include-blobs=true -o ",
                     to, ".sqlite ", to, ".nsys-rep`, and give ", to, ".sqlite"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(report,
                   ": a report of Nsight Systems, whose format only nsys reads; export it: `nsys export -t "
                   "sqlite --include-blobs=true -o ",
                   to, ".sqlite ", report, "`, and give ", to, ".sqlite"));
}

struct Read {
  std::unique_ptr<ExportFile> file;
  InputFile input;  // path "": a member of an archive
};

absl::Status ReadRowsOf(const Export& from, const ReadWhat& what, Read* out) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteReader> db,
                   from.content == nullptr
                       ? SqliteReader::Open(from.path, kExports)
                       : SqliteReader::OfBytes(from.content->view(), from.path, kExports));
  ASSIGN_OR_RETURN(out->file, ReadExport(*db, what));
  return absl::OkStatus();
}

absl::Status ReadDigest(const Export& from, bool digest, Read* out) {
  if (from.content != nullptr) return absl::OkStatus();
  out->input.path = from.path;
  out->input.role = "device trace";
  if (!digest) {
    std::error_code error;
    out->input.bytes = std::filesystem::file_size(from.path, error);
    if (!error) return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<FileSource> disk, FileSource::Open(from.path));
  return disk->Finish(&out->input.sha256, &out->input.bytes);
}

absl::Status ReadOne(const Export& from, const ReadWhat& what, bool digest, Read* out) {
  return ForEach(2, what.threads, [&] {
    return
        [&](size_t task) { return task == 0 ? ReadRowsOf(from, what, out) : ReadDigest(from, digest, out); };
  });
}

absl::StatusOr<pytorch::RecordedRanks> ReadRanks(const std::vector<std::string>& inputs,
                                                 const ReadOptions& options) {
  KeepPages();  // an export has the ranks of one machine, which are linked one after the other
  Found found;
  std::vector<std::string> named = inputs;
  if (options.capture.named()) named = {options.capture.host, options.capture.device};
  std::erase(named, "");
  RETURN_IF_ERROR(Find(named, &found));
  if (found.exports.empty()) {
    if (!found.reports.empty()) return NotExported(found.reports[0]);
    return absl::NotFoundError(
        absl::StrCat(absl::StrJoin(named, ", "),
                     ": not an export of Nsight Systems, expected SQLite files of `nsys export -t "
                     "sqlite`"));
  }
  const int of_each = std::max(1, options.threads / static_cast<int>(found.exports.size()));
  const ReadWhat what = {options.capture.step_range, options.capture.steps, of_each};
  std::vector<Read> read(found.exports.size());
  RETURN_IF_ERROR(ForEach(read.size(), options.threads, [&] {
    return [&](size_t i) {
      const absl::Status one = ReadOne(found.exports[i], what, options.digests, &read[i]);
      found.exports[i].content = nullptr;
      return one;
    };
  }));
  pytorch::RecordedRanks runs;
  std::vector<std::unique_ptr<ExportFile>> files;
  for (Read& one : read) {
    files.push_back(std::move(one.file));
    if (!one.input.path.empty()) runs.inputs.push_back(std::move(one.input));
  }
  runs.inputs.insert(runs.inputs.end(), found.archives.begin(), found.archives.end());
  // A report is accepted if its export is among the inputs too.
  for (const std::string& report : found.reports) {
    const std::string stem = report.substr(0, report.rfind('.'));
    const bool exported = std::any_of(found.exports.begin(), found.exports.end(), [&](const Export& file) {
      return absl::StartsWith(file.path, absl::StrCat(stem, "."));
    });
    if (!exported) return NotExported(report);
  }
  runs.files_left_out = std::move(found.others);
  runs.warnings = Missing(files);
  std::vector<DeviceRank> drafts = DraftRanks(&files);
  NumberRanks(&drafts);
  ListGroups(&drafts);
  for (DeviceRank& draft : drafts) runs.Add(std::move(draft.trace), std::move(draft.fill));
  return runs;
}

absl::StatusOr<TraceSet> Run(const std::vector<std::string>& inputs, const ReadOptions& options) {
  ASSIGN_OR_RETURN(pytorch::RecordedRanks ranks, ReadRanks(inputs, options));
  return pytorch::RecordedTraces(std::move(ranks), options);
}

}  // namespace

absl::StatusOr<pytorch::Capture> ReadExports(const std::vector<std::string>& inputs,
                                             const ReadOptions& options) {
  ASSIGN_OR_RETURN(pytorch::RecordedRanks ranks, ReadRanks(inputs, options));
  return pytorch::JoinRecorded(std::move(ranks), options);
}

const Importer kImporter = {
    .name = "nsys",
    .title = "SQLite nsys export",
    .help = "of `nsys export -t sqlite`",
    .endings = kEndings,
    .sniff = Sniff,
    .run = Run,
    .explained = kReports,
};

}  // namespace chakra::nsys
