// Looks at files and folders of anything and says what a user has: traces, what a replay of them lacks, other
// files, and the command to type next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/diagnosis.pb.h"
#include "trace/base/text_page.h"

namespace chakra::doctor {

struct DoctorOptions {
  uint64_t most_bytes = uint64_t{2} << 30;  // runs whose files take more are named, not read
  int threads = 1;                          // the result does not depend on the number
};

// Errors (NotFound, PermissionDenied): a path that does not exist or a folder that cannot be listed. Whatever
// is wrong with a file is part of the answer.
absl::StatusOr<proto::Diagnosis> Diagnose(const std::vector<std::string>& paths,
                                          const DoctorOptions& options);

// For people. `page`: as of TextTable::Print().
std::string PrintDiagnosis(const proto::Diagnosis& diagnosis, TextPage* page = nullptr);

}  // namespace chakra::doctor
