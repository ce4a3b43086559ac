// Files that a build puts into the library: pages, transports, machines. embed.cmake makes the table of a
// folder.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace chakra {

struct EmbeddedFile {
  absl::string_view name;  // its path in the folder
  absl::string_view text;
};

// What is in the file of that name; empty where there is none.
inline absl::string_view FindEmbedded(absl::Span<const EmbeddedFile> files, absl::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
  }
  return absl::string_view();
}

// The files' names without their endings, sorted.
inline std::vector<std::string> EmbeddedNames(absl::Span<const EmbeddedFile> files) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace chakra
