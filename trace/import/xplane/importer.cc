#include "trace/import/xplane/importer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/import/recorded/files.h"
#include "trace/import/xplane/ranks.h"
#include "trace/import/xplane/trace_view.h"
#include "trace/import/xplane/xspace.h"
#include "trace/io/compressed_file.h"

namespace chakra::xplane {
namespace {

constexpr absl::string_view kEndings[] = {".xplane.pb", ".pb", ".trace.json"};

bool Sniff(absl::string_view head) { return LooksLikeXSpace(head) || LooksLikeTraceView(head); }

bool IsView(absl::string_view path) { return absl::EndsWith(WithoutCompression(path), ".json"); }

// A view is read only if no profile is among the inputs.
void LeaveOutViews(std::vector<std::string>* paths, std::vector<std::string>* others) {
  if (std::all_of(paths->begin(), paths->end(), IsView)) return;
  const auto kept =
      std::stable_partition(paths->begin(), paths->end(), [](const std::string& p) { return !IsView(p); });
  others->insert(others->end(), kept, paths->end());
  paths->erase(kept, paths->end());
}

// Replaces the content of a view by the profile that it shows.
absl::Status TakeView(ProfileFile* file) {
  if (!LooksLikeTraceView(file->content.view().substr(0, Importer::kSniffed))) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string space, XSpaceOfTraceView(file->content.view(), file->path));
  if (!file->content.Reserve(space.size()))
    return absl::ResourceExhaustedError(absl::StrCat(file->path, ": does not fit in memory"));
  std::copy(space.begin(), space.end(), file->content.data());
  file->content.set_size(space.size());
  return absl::OkStatus();
}

absl::StatusOr<pytorch::RecordedRanks> ReadRanks(const std::vector<std::string>& inputs,
                                                 const ReadOptions& options) {
  std::vector<std::string> others;
  const std::string& named = options.capture.device;
  ASSIGN_OR_RETURN(auto paths, FindRecordedFiles(named.empty() ? inputs : std::vector<std::string>{named},
                                                 kImporter, &others));
  LeaveOutViews(&paths, &others);
  std::vector<ProfileFile> files(paths.size());
  std::vector<InputFile> sources(paths.size());
  RETURN_IF_ERROR(ForEach(files.size(), options.threads, [&] {
    return [&](size_t i) {
      files[i].path = paths[i];
      absl::Status read = ReadRecordedFile(files[i].path, &files[i].content, &sources[i]);
      if (read.ok()) read = TakeView(&files[i]);
      return read;
    };
  }));
  ASSIGN_OR_RETURN(auto ranks, RanksOf(files));
  if (std::any_of(paths.begin(), paths.end(), IsView)) {
    ranks.warnings.push_back(
        "views of JAX profiles (*.trace.json.gz) have neither the compiled programs nor, of long profiles, "
        "all events: sizes of collectives and shapes are unknown; give the *.xplane.pb next to them");
  }
  ranks.inputs = std::move(sources);
  ranks.files_left_out = std::move(others);
  return ranks;
}

absl::StatusOr<TraceSet> Read(const std::vector<std::string>& inputs, const ReadOptions& options) {
  ASSIGN_OR_RETURN(auto ranks, ReadRanks(inputs, options));
  return pytorch::RecordedTraces(std::move(ranks), options);
}

}  // namespace

absl::StatusOr<pytorch::Capture> ReadProfiles(const std::vector<std::string>& inputs,
                                              const ReadOptions& options) {
  ASSIGN_OR_RETURN(auto ranks, ReadRanks(inputs, options));
  return pytorch::JoinRecorded(std::move(ranks), options);
}

const Importer kImporter = {
    .name = "xplane",
    .title = "JAX profile",
    .help = "*.xplane.pb of jax.profiler, or its *.trace.json.gz",
    .endings = kEndings,
    .sniff = Sniff,
    .run = Read,
};

}  // namespace chakra::xplane
