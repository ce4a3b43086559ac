// From profiles to ranks: each device with operations is one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/import/linked/linker.h"
#include "trace/io/byte_source.h"

namespace chakra::xplane {

struct ProfileFile {
  std::string path;
  Buffer content;
};

// The devices of all files, one file a host in the order of their names: the devices of each follow those of
// the host before. A host thread is with each device that it launches on; one that launches nothing is with
// the first. Shapes, operations, groups and data dependencies between streams are those of the programs in
// the file. Errors name the file: damaged, without a device that ran anything.
absl::StatusOr<pytorch::RecordedRanks> RanksOf(const std::vector<ProfileFile>& files);

}  // namespace chakra::xplane
