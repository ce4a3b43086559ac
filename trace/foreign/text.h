// YAML, JSON and TOML as keys with values.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/foreign/keys.h"

namespace chakra::foreign {

// The keys at the top of a JSON object or of a YAML map, by its first bytes.
struct TopKeys {
  bool json = false;
  std::set<std::string, std::less<>> names;

  bool Has(absl::string_view name) const { return names.find(name) != names.end(); }
};
TopKeys TopKeysOf(absl::string_view text);

// The functions below set "table.key" for each value, and "[a,b]" for a list. Keys of `table` (a name, or "")
// come before all. Errors (InvalidArgument) name the file and the line.

// Reads JSON if the text begins with '{', else YAML. `drops`: whether the keys of a table at the top lose the
// name of the table; null: none do.
absl::Status ReadTree(absl::string_view content, absl::string_view table,
                      bool (*drops)(absl::string_view table), ForeignKeys* keys);
absl::Status ReadToml(absl::string_view content, ForeignKeys* keys);

}  // namespace chakra::foreign
