// From profiles to ranks: each device with operations is a rank.
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

// Makes ranks of the devices of all files. Each file is one host; hosts are in the order of `files`, and
// ranks count the devices of one host after the other. A host thread belongs to each device that it launches
// on; a thread that launches nothing belongs to the first device. Shapes, operations, groups and data
// dependencies between streams come from the programs in the file. Errors name the file: it is damaged, or no
// device ran anything.
absl::StatusOr<pytorch::RecordedRanks> RanksOf(const std::vector<ProfileFile>& files);

}  // namespace chakra::xplane
