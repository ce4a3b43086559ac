#include "trace/import/registry.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "trace/generate/importer.h"
#include "trace/import/astra_text/importer.h"
#include "trace/import/collective_logs/importer.h"
#include "trace/import/goal/importer.h"
#include "trace/import/hlo/importer.h"
#include "trace/import/json/json.h"
#include "trace/import/liballprof/liballprof.h"
#include "trace/import/nsys/importer.h"
#include "trace/import/pytorch/importer.h"
#include "trace/import/rocprof/importer.h"
#include "trace/import/shared/importer.h"
#include "trace/import/text/text.h"
#include "trace/import/xplane/importer.h"
#include "trace/io/archive.h"
#include "trace/io/byte_source.h"
#include "trace/io/compressed_file.h"
#include "trace/io/file.h"

namespace chakra {
namespace {

constexpr const Importer* kImporters[] = {
    &collective_logs::kImporter,  // before pytorch, which accepts every list of Chrome trace events
    &pytorch::kImporter,
    &rocprof::kImporter,
    &xplane::kImporter,
    &hlo::kImporter,
    &goal::kImporter,
    &liballprof::kImporter,
    &astra_text::kImporter,
    &generate::kImporter,
    &shared::kImporter,
    &kJsonImporter,
    &kTextImporter,
    &nsys::kImporter,  // after the other formats whose files are SQLite
    &kEtImporter,      // the last: it accepts every file that no other format claims
};

bool NamedNative(absl::string_view name) {
  return std::any_of(std::begin(kImporters), std::end(kImporters),
                     [&](const Importer* i) { return i->native && NamedAs(*i, name); });
}

const Importer* SniffRun(const std::string& path) {
  const std::string head = ReadHead(path, Importer::kSniffed).value_or("");
  for (const Importer* i : kImporters) {
    if (i->run != nullptr && i->Takes(path, head)) return i;
  }
  return nullptr;
}

// Whether the name is one of a format that reads the files of a run together.
bool NamedForRuns(absl::string_view name) {
  return std::any_of(std::begin(kImporters), std::end(kImporters),
                     [&](const Importer* i) { return i->run != nullptr && NamedAs(*i, name); });
}

// The format that cannot read a file of this name but explains what to do with it; null: none.
const Importer* Explaining(absl::string_view name) {
  for (const Importer* i : kImporters) {
    if (Explains(*i, name)) return i;
  }
  return nullptr;
}

// The format of the run in a tar archive. Null if there is none, or if the archive has native traces: as in a
// folder, these are read instead.
const Importer* SniffArchive(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<FileSource>> disk = FileSource::Open(path);
  if (!disk.ok()) return nullptr;
  const absl::StatusOr<std::unique_ptr<ByteSource>> tar = OpenContent(disk->get(), path);
  if (!tar.ok()) return nullptr;
  TarReader reader(tar->get(), path);
  const Importer* found = nullptr;
  Buffer member;
  for (;;) {
    const absl::StatusOr<bool> more = reader.Next();
    if (!more.ok() || !*more) return found;  // the reader of the archive will report its error
    if (NamedNative(reader.name())) return nullptr;
    if (found != nullptr || !NamedForRuns(reader.name())) continue;
    if (!reader.ReadMember(&member).ok()) return nullptr;
    const std::string head = HeadOf(member.view(), reader.name(), Importer::kSniffed);
    for (const Importer* i : kImporters) {
      if (found == nullptr && i->run != nullptr && i->sniff(head)) found = i;
    }
  }
}

// The formats whose files make a run together.
std::vector<const Importer*> RunImporters() {
  std::vector<const Importer*> out;
  std::copy_if(std::begin(kImporters), std::end(kImporters), std::back_inserter(out),
               [](const Importer* i) { return i->run != nullptr; });
  return out;
}

// "an HLO module", "a PyTorch capture": the article of a word that is spelled goes by its first letter.
std::string WithArticle(absl::string_view title) {
  const bool spelled = title.size() > 1 && absl::ascii_isupper(static_cast<unsigned char>(title[1]));
  const absl::string_view vowels = spelled ? "AEFHILMNORSX" : "AEIOaeio";
  return absl::StrCat(absl::StrContains(vowels, title[0]) ? "an " : "a ", title);
}

}  // namespace

absl::Span<const Importer* const> Importers() { return kImporters; }

bool NamedAs(const Importer& importer, absl::string_view name) {
  name = WithoutCompression(name);
  return std::any_of(importer.endings.begin(), importer.endings.end(),
                     [&](absl::string_view ending) { return absl::EndsWith(name, ending); }) ||
         (importer.named != nullptr && importer.named(name));
}

bool Explains(const Importer& importer, absl::string_view name) {
  return std::any_of(importer.explained.begin(), importer.explained.end(),
                     [&](absl::string_view ending) { return absl::EndsWith(name, ending); });
}

const Importer& ImporterOf(absl::string_view content) {
  for (const Importer* i : kImporters) {
    if (i->frames != nullptr && i->sniff(content)) return *i;
  }
  return kEtImporter;
}

const Importer* ImporterOfRun(const std::vector<std::string>& inputs, const ReadOptions& options) {
  namespace fs = std::filesystem;
  if (options.capture.named()) {
    for (const std::string& path : {options.capture.host, options.capture.device}) {
      if (const Importer* i = path.empty() ? nullptr : SniffRun(path)) return i;
    }
    return &pytorch::kImporter;  // its error says what was expected of the files
  }
  if (!inputs.empty() && generate::IsWorkloadInput(inputs[0])) return &generate::kImporter;
  for (const Importer* i : kImporters) {
    if (i->leads != nullptr && std::any_of(inputs.begin(), inputs.end(), i->leads)) return i;
  }
  std::vector<std::string> files, archives;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      if (!ListFiles(input, &files).ok()) return nullptr;
    } else if (fs::is_regular_file(input, error) && !NamedNative(input)) {
      files.push_back(input);
      if (!NamedForRuns(input) && LooksLikeTar(ReadHead(input, kTarHead).value_or("")))
        archives.push_back(input);
    }
  }
  if (std::any_of(files.begin(), files.end(), NamedNative)) return nullptr;
  // A folder of JAX holds the profile, and a shortened copy of it as Chrome trace JSON, which looks like
  // PyTorch's: try the profile first.
  std::stable_partition(files.begin(), files.end(),
                        [](const std::string& path) { return absl::EndsWith(path, ".xplane.pb"); });
  for (const std::string& path : files) {
    if (const Importer* i = NamedForRuns(path) ? SniffRun(path) : nullptr) return i;
  }
  for (const std::string& path : archives) {
    if (const Importer* i = SniffArchive(path)) return i;
  }
  for (const std::string& path : files) {
    if (const Importer* i = Explaining(path)) return i;
  }
  return nullptr;
}

const Importer* ConsumeEnding(absl::string_view* name) {
  const absl::string_view plain = WithoutCompression(*name);
  for (const Importer* i : kImporters) {
    if (i->frames == nullptr) continue;
    for (const absl::string_view ending : i->endings) {
      if (!absl::EndsWith(plain, ending)) continue;
      *name = absl::StripSuffix(plain, ending);
      return i;
    }
  }
  return nullptr;
}

std::string NamesOfTraces() {
  std::vector<std::string> names;
  for (const Importer* i : kImporters) {
    if (i->native) names.push_back(absl::StrCat("PREFIX.N", i->endings[0], "[.zst|.gz]"));
  }
  return absl::StrJoin(names, " or ");
}

std::string ExpectedInFolders() {
  std::vector<absl::string_view> others;
  for (const Importer* i : kImporters) {
    if (i->frames != nullptr && !i->native) others.insert(others.end(), i->endings.begin(), i->endings.end());
  }
  std::string out = absl::StrCat("traces named ", NamesOfTraces(), " (or ", absl::StrJoin(others, ", "), ")");
  for (const Importer* i : RunImporters())
    absl::StrAppend(&out, ", or ", WithArticle(i->title), " (", i->help, ")");
  return out;
}

std::string KindsOfRuns() {
  std::vector<std::string> kinds;
  for (const Importer* i : kImporters) {
    if (i->run != nullptr && i->recorded) kinds.push_back(absl::StrCat(i->title, "s"));
  }
  const std::string last = kinds.back();
  kinds.pop_back();
  return kinds.empty() ? last : absl::StrCat(absl::StrJoin(kinds, ", "), " and ", last);
}

std::string InputsHelp() {
  const auto title = [](std::string* out, const Importer* i) { absl::StrAppend(out, i->title); };
  return absl::StrCat(
      "Traces: files, folders, prefixes or tar archives. dir/workload is a prefix. Each is one of: Chakra "
      "trace, ",
      absl::StrJoin(RunImporters(), ", ", title), ".");
}

}  // namespace chakra
