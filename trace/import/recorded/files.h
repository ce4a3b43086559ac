// Finds and reads the files of a recording that is not PyTorch's.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trace/et/importer.h"
#include "trace/io/byte_source.h"
#include "trace/model/trace.h"

namespace chakra {

// The files of `importer` among `inputs` (files, and folders with their contents), sorted by path; by ending
// and first bytes. Those of folders that are none are added to `others`. Errors: a file that was named and is
// of another format; none at all.
absl::StatusOr<std::vector<std::string>> FindRecordedFiles(const std::vector<std::string>& inputs,
                                                           const Importer& importer,
                                                           std::vector<std::string>* others);

// The file's content, unpacked, and what is said of it as an input. Errors: those of OpenContent().
absl::Status ReadRecordedFile(const std::string& path, Buffer* content, InputFile* input);

}  // namespace chakra
