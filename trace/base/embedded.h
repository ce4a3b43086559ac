// Files that the build embeds in the library: pages, transports, machines. embed.cmake generates the table of
// the files of a folder.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace chakra {

struct EmbeddedFile {
  absl::string_view name;  // path within the folder
  absl::string_view text;
};

// Returns the text of the file `name`, or an empty view if there is no such file.
inline absl::string_view FindEmbedded(absl::Span<const EmbeddedFile> files, absl::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
  }
  return absl::string_view();
}

// Returns the names of the files without their extensions, sorted.
inline std::vector<std::string> EmbeddedNames(absl::Span<const EmbeddedFile> files) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace chakra
