#include "trace/import/pytorch/read_capture.h"

#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/read_options.h"
#include "trace/import/kineto/graph_annotations.h"
#include "trace/import/pytorch/find.h"
#include "trace/import/pytorch/load_files.h"
#include "trace/import/pytorch/place_files.h"

namespace chakra::pytorch {
namespace {

// Finds the files of the inputs. `files` gets all of them; `loaded` gets the content of those in archives,
// which come first.
absl::Status FindFiles(const std::vector<std::string>& inputs, const ReadOptions& options,
                       std::vector<CaptureFile>* files, std::vector<LoadedFile>* loaded, RecordedRanks* out) {
  const CaptureSelection& selection = options.capture;
  for (const auto* explicit_file : {&selection.host, &selection.device}) {
    if (!explicit_file->empty())
      files->push_back({*explicit_file, explicit_file == &selection.host, -1, false});
  }
  if (files->empty()) {
    std::vector<std::string> others, plain;
    for (const std::string& input : inputs) {
      if (!IsArchive(input)) {
        plain.push_back(input);
        continue;
      }
      InputFile archive;
      RETURN_IF_ERROR(LoadArchive(input, options.threads, files, loaded, &others, &archive));
      out->inputs.push_back(std::move(archive));
    }
    ASSIGN_OR_RETURN(std::vector<CaptureFile> found, FindCaptureFiles(plain, &others));
    std::move(found.begin(), found.end(), std::back_inserter(*files));
    for (const std::string& o : others) {
      int rank = 0;
      if (NamedAsGraphAnnotations(o, &rank) && !absl::StrContains(o, "!")) {
        out->graph_annotations.try_emplace(rank, o);
      } else {
        out->files_left_out.push_back(o);
      }
    }
  }
  if (!files->empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat(absl::StrJoin(inputs, ", "),
                   ": not a PyTorch capture, expected JSON files of torch.profiler (\"traceEvents\") or of "
                   "the ExecutionTraceObserver (\"schema\" and \"nodes\")"));
}

absl::StatusOr<RecordedRanks> ReadFiles(const std::vector<std::string>& inputs, const ReadOptions& options) {
  RecordedRanks out;
  std::vector<CaptureFile> files;
  std::vector<LoadedFile> loaded;  // by file; files in archives come first
  RETURN_IF_ERROR(FindFiles(inputs, options, &files, &loaded, &out));
  const size_t done = loaded.size();
  loaded.resize(files.size());
  absl::Status status = ForEach(files.size() - done, options.threads, [&] {
    return [&](size_t i) { return LoadFile(files[done + i], &loaded[done + i]); };
  });
  if (!status.ok()) return status;
  for (size_t i = done; i < loaded.size(); ++i) out.inputs.push_back(loaded[i].input);
  PlacedFiles placed;
  if (status = PlaceFiles(files, &loaded, options.capture.rank_of, &placed); !status.ok()) return status;
  for (auto& [number, rank] : placed.ranks) out.ranks.push_back(std::move(rank));
  std::move(placed.warnings.begin(), placed.warnings.end(), std::back_inserter(out.warnings));
  std::move(placed.left_out.begin(), placed.left_out.end(), std::back_inserter(out.files_left_out));
  return out;
}

}  // namespace

absl::StatusOr<Capture> ReadCapture(const std::vector<std::string>& inputs, const ReadOptions& options) {
  ASSIGN_OR_RETURN(RecordedRanks read, ReadFiles(inputs, options));
  return JoinRecorded(std::move(read), options);
}

absl::StatusOr<TraceSet> ReadCaptureTraces(const std::vector<std::string>& inputs,
                                           const ReadOptions& options) {
  ASSIGN_OR_RETURN(RecordedRanks read, ReadFiles(inputs, options));
  return RecordedTraces(std::move(read), options);
}

}  // namespace chakra::pytorch
