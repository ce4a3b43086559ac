// Recognizes a file by its name and its first bytes: files of this project, and files that users keep with
// traces or mistake for traces.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra::doctor {

// A file that no importer reads.
struct FileKind {
  std::string what;    // "a cluster"
  std::string remedy;  // what to do before `next`; "": nothing
  std::string next;    // the whole command that reads the file; "": none
};

// Recognizes a file that cannot be a trace: an empty file, an archive, an HTML page, a profiler report that
// needs an export. nullopt: the file may be a trace. `head`: its first bytes on disk. `path` is used in
// suggested commands.
std::optional<FileKind> ForeignKind(const std::string& path, absl::string_view head);

// Recognizes a configuration of a training framework (trace/foreign) that needs more than itself for a step:
// a launcher's or a trainer's, or one of another name than traces have. `remedy` has the error that a reading
// gives. nullopt: `head` is none.
std::optional<FileKind> FrameworkKind(const std::string& path, absl::string_view head);

// Recognizes a file of this project or a model's configuration, by parsing the whole file as each kind in
// turn. nullopt: none of them. Files of more than kMostConfigured bytes are not recognized.
std::optional<FileKind> ConfiguredKind(const std::string& path);
inline constexpr size_t kMostConfigured = size_t{16} << 20;

}  // namespace chakra::doctor
