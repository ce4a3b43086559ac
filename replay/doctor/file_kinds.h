// What a file is, by its name and its first bytes: the other files of this project, and those that users have
// beside traces or take for them.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra::doctor {

// A file that no importer reads.
struct FileKind {
  std::string what;    // "a cluster"
  std::string remedy;  // what to do first; "": nothing
  std::string next;    // the command that takes the file, whole; "": none
};

// A file of a format that no trace has: empty, an archive, a page of HTML, a report of a profiler that needs
// an export. nullopt: it may be a trace. `head`: its first bytes, as they lie on disk. `path` goes into
// commands.
std::optional<FileKind> ForeignKind(const std::string& path, absl::string_view head);

// A file of this project, or a model's configuration: read whole, as each kind that is possible. nullopt:
// none of them. Files of more than kMostConfigured bytes are none.
std::optional<FileKind> ConfiguredKind(const std::string& path);
inline constexpr size_t kMostConfigured = size_t{16} << 20;

}  // namespace chakra::doctor
