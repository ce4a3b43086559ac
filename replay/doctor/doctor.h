// Examines files and folders of any kind, and reports what they are: traces, with the information that a
// replay of them lacks, or other files. Suggests the next command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/diagnosis.pb.h"
#include "trace/base/text_page.h"

namespace chakra::doctor {

struct DoctorOptions {
  uint64_t most_bytes = uint64_t{2} << 30;  // runs with larger files are listed, but not read
  int threads = 1;                          // the result does not depend on the number
};

// Errors (NotFound, PermissionDenied): a path that does not exist, or a folder that cannot be listed.
// Problems with single files are part of the result.
absl::StatusOr<proto::Diagnosis> Diagnose(const std::vector<std::string>& paths,
                                          const DoctorOptions& options);

// Prints for people. `page`: as for TextTable::Print().
std::string PrintDiagnosis(const proto::Diagnosis& diagnosis, TextPage* page = nullptr);

}  // namespace chakra::doctor
