#include "trace/import/xplane/importer.h"

#include <utility>

#include "trace/base/parallel.h"
#include "trace/import/recorded/files.h"
#include "trace/import/xplane/ranks.h"
#include "trace/import/xplane/xspace.h"

namespace chakra::xplane {
namespace {

constexpr absl::string_view kEndings[] = {".xplane.pb", ".pb"};

absl::StatusOr<pytorch::RecordedRanks> ReadRanks(const std::vector<std::string>& inputs,
                                                 const ReadOptions& options) {
  std::vector<std::string> others;
  const std::string& named = options.capture.device;
  const auto paths =
      FindRecordedFiles(named.empty() ? inputs : std::vector<std::string>{named}, kImporter, &others);
  if (!paths.ok()) return paths.status();
  std::vector<ProfileFile> files(paths->size());
  std::vector<InputFile> sources(paths->size());
  const absl::Status status = ForEach(files.size(), options.threads, [&] {
    return [&](size_t i) {
      files[i].path = (*paths)[i];
      return ReadRecordedFile(files[i].path, &files[i].content, &sources[i]);
    };
  });
  if (!status.ok()) return status;
  auto ranks = RanksOf(files);
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

absl::StatusOr<pytorch::Capture> ReadProfiles(const std::vector<std::string>& inputs,
                                              const ReadOptions& options) {
  auto ranks = ReadRanks(inputs, options);
  if (!ranks.ok()) return ranks.status();
  return pytorch::JoinRecorded(*std::move(ranks), options);
}

const Importer kImporter = {
    .name = "xplane",
    .title = "JAX profile",
    .help = "*.xplane.pb of jax.profiler",
    .endings = kEndings,
    .sniff = LooksLikeXSpace,
    .run = Read,
};

}  // namespace chakra::xplane
