// What the tables of CSV (RFC 4180) share.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

// Takes the next bytes of an output.
using WriteBytes = std::function<absl::Status(absl::string_view)>;

// One field: as it is, or in quotes where it has commas, quotes or ends of lines.
std::string CsvField(absl::string_view text);

}  // namespace chakra
