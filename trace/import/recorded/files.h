// Finds and reads the files of a recording that was not made by PyTorch.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trace/et/importer.h"
#include "trace/io/byte_source.h"
#include "trace/model/trace.h"

namespace chakra {

// The files of `importer` among `inputs` (files, and folders with their contents), sorted by path. Files are
// recognized by their content; files of folders must also have an ending of the format. Files of folders that
// are not of the format are added to `others`. Errors: an input file is of another format; no file is found.
absl::StatusOr<std::vector<std::string>> FindRecordedFiles(const std::vector<std::string>& inputs,
                                                           const Importer& importer,
                                                           std::vector<std::string>* others);

// Reads the unpacked content of a file, and fills `input`. Errors: those of OpenContent().
absl::Status ReadRecordedFile(const std::string& path, Buffer* content, InputFile* input);

}  // namespace chakra
