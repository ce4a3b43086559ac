// What a format offers that traces are read from.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "trace/et/read_options.h"
#include "trace/model/trace.h"

namespace chakra {

// Each format has one, in its own folder, and a line in trace/import/registry.cc. There are two kinds: a
// file holds a rank (`frames` is set), or files make a run only together (`run` is set).
struct Importer {
  absl::string_view name;   // "pytorch"
  absl::string_view title;  // "PyTorch capture": one run or file of the format, for messages
  absl::string_view help;   // what its files are: "JSON of torch.profiler or ..."
  absl::Span<const absl::string_view> endings;  // of the files' names, before .gz and .zst: {".json"}

  // Whether a file of this name may be of the format, beside those with the endings; null: none may. Of a run
  // only.
  bool (*named)(absl::string_view name) = nullptr;

  // Whether a file is of this format. `head` is the beginning of its content, unpacked: kSniffed bytes at
  // least, where the file has so many.
  bool (*sniff)(absl::string_view head);
  // Where the beginning cannot tell: whether the file at `path`, whose `head` sniff() took, is of this
  // format. Null: sniff() tells. Of a run only, and not asked for what lies in archives.
  bool (*confirm)(const std::string& path, absl::string_view head) = nullptr;
  bool Takes(const std::string& path, absl::string_view head) const {
    return sniff(head) && (confirm == nullptr || confirm(path, head));
  }

  // The .et frames of a file, whose whole content is `plain`: a part of `plain`, or what is put into `keep`.
  // `file` is for messages. Errors name file and place, and say what was expected.
  absl::StatusOr<absl::string_view> (*frames)(absl::string_view plain, absl::string_view file,
                                              std::string* keep) = nullptr;
  // The files are frames as they lie. In a folder that has such files, those of other formats are no traces.
  bool native = false;

  // All ranks of the run that `inputs` (files and folders) and `options` name. Errors as above.
  absl::StatusOr<TraceSet> (*run)(const std::vector<std::string>& inputs,
                                  const ReadOptions& options) = nullptr;
  // Of a run: it was recorded, so that its steps and ranks can be selected.
  bool recorded = true;
  // Of a run: whether an input (a file, folder or prefix) is of this format though native traces lie there,
  // which belong to it. Null: native traces are a run of their own.
  bool (*leads)(const std::string& input) = nullptr;
  // Of a run: endings of files that `run` cannot read, but explains: {".nsys-rep"}.
  absl::Span<const absl::string_view> explained = {};

  static constexpr size_t kSniffed = size_t{64} << 10;
};

// Chakra's own format. Its files have no signature: what no other format claims is taken for them.
extern const Importer kEtImporter;

}  // namespace chakra
