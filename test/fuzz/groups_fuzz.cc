// Communicator-group JSON: any bytes give groups or an error.
#include <cstddef>
#include <cstdint>
#include <set>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/model/groups.h"

FUZZ_TARGET(groups_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view json(reinterpret_cast<const char*>(data), size);
  const bool looks = chakra::LooksLikeGroups(json);
  const auto groups = chakra::ParseGroups(json, "fuzz.json");
  Require(groups.ok() || !groups.status().message().empty(), "an error says what is wrong");
  if (!groups.ok()) return 0;
  Require(looks || groups->empty(), "what is read as groups looks like groups");
  for (const auto& [name, ranks] : *groups) {
    Require(!name.empty() && !ranks.empty(), "a group has a name and ranks");
    Require(std::set<int>(ranks.begin(), ranks.end()).size() == ranks.size(), "each rank is there once");
  }
  chakra::Groups merged = *groups;
  uint64_t added = 0;
  Require(chakra::MergeGroups(*groups, "fuzz.json", &merged, &added).ok() && merged == *groups && added == 0,
          "merging twice adds nothing");
  return 0;
}
