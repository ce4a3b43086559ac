// MSCCL XML: any bytes give a proved program or an error that names the file. A proved program moves the same
// bytes each time it is read.
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "replay/collectives/custom/msccl_xml.h"
#include "replay/collectives/registry.h"
#include "replay/collectives/validate.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(msccl_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program = chakra::ReadMscclXml(text, "fuzz.xml");
  if (!program.ok()) {
    Require(absl::StartsWith(program.status().message(), "fuzz.xml:"), "an error names the file");
    return 0;
  }
  Require(chakra::ValidatePlan(program->plan, program->root).ok(), "what was read is proved");
  const auto traffic = chakra::TrafficOf(program->plan, uint64_t{1} << 30);
  const auto again = chakra::ReadMscclXml(text, "fuzz.xml");
  Require(again.ok() && traffic.ok(), "what was read is read again");
  const auto same = chakra::TrafficOf(again->plan, uint64_t{1} << 30);
  Require(same.ok() && *same == *traffic, "a file moves the same bytes each time");
  return 0;
}
