// The interface of a trace format.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "trace/et/read_options.h"
#include "trace/model/trace.h"

namespace chakra {

// Each format has one Importer, in its own folder, and a line in trace/import/registry.cc. There are two
// kinds of formats: either each file holds a rank (`frames` is set), or several files together make a run
// (`run` is set).
struct Importer {
  absl::string_view name;   // "pytorch"
  absl::string_view title;  // "PyTorch capture": a run or file of the format, for messages
  absl::string_view help;   // describes the files: "JSON of torch.profiler or ..."
  absl::Span<const absl::string_view> endings;  // extensions of file names, before .gz and .zst: {".json"}

  // Whether a file with this name, which has none of these extensions, may be of the format; null: no. Only
  // for formats with `run`.
  bool (*named)(absl::string_view name) = nullptr;

  // Whether a file is of this format. `head` is the beginning of its unpacked content: at least kSniffed
  // bytes, or the whole content if it is shorter.
  bool (*sniff)(absl::string_view head);
  // Set if the beginning of a file is not enough: whether the file at `path`, whose `head` sniff() accepts,
  // is of this format. Null: sniff() decides alone. Only for formats with `run`, and not called for files in
  // archives.
  bool (*confirm)(const std::string& path, absl::string_view head) = nullptr;
  bool Takes(const std::string& path, absl::string_view head) const {
    return sniff(head) && (confirm == nullptr || confirm(path, head));
  }

  // Returns the .et frames of a file, whose whole content is `plain`: a part of `plain`, or data stored in
  // `keep`. `file` is for error messages. Errors give file and position, and say what was expected.
  absl::StatusOr<absl::string_view> (*frames)(absl::string_view plain, absl::string_view file,
                                              std::string* keep) = nullptr;
  // The files are .et frames already. In a folder with such files, files of other formats are not traces.
  bool native = false;

  // Returns all ranks of the run that `inputs` (files and folders) and `options` describe. Errors as for
  // `frames`.
  absl::StatusOr<TraceSet> (*run)(const std::vector<std::string>& inputs,
                                  const ReadOptions& options) = nullptr;
  // Only with `run`: the run was recorded, so its steps and ranks can be selected.
  bool recorded = true;
  // Only with `run`: whether an input (a file, folder or prefix) is of this format although it has native
  // traces, which then belong to it. Null: native traces are a run of their own.
  bool (*leads)(const std::string& input) = nullptr;
  // Only with `run`: extensions of files that `run` cannot read but explains in its error: {".nsys-rep"}.
  absl::Span<const absl::string_view> explained = {};

  static constexpr size_t kSniffed = size_t{64} << 10;
};

// Chakra's own format. Its files have no signature: a file that no other format recognizes is assumed to be
// one.
extern const Importer kEtImporter;

}  // namespace chakra
