// From the files of a capture, and archives of them, to host and device traces in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/import/capture/capture.h"
#include "trace/import/kineto/kineto.h"
#include "trace/import/pytorch/find.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// A file as it was read: a host trace, a device trace, or those of several ranks; the others are empty.
struct LoadedFile {
  std::unique_ptr<HostTrace> host;
  std::unique_ptr<DeviceTrace> device;
  std::vector<RankPart> parts;
  InputFile input;  // no path: a member of an archive, which is the input
};

// Reads one file, plain or compressed. A file that was cut short is read up to its last whole event or node,
// with a repair: "truncated_kineto" or "truncated_host_trace", and "truncated_stream" where it ends inside a
// compressed stream. Errors: those of OpenContent(), ReadHostTrace() and ReadKineto().
absl::Status LoadFile(const CaptureFile& file, LoadedFile* out);

// Whether the file is a tar archive, plain or compressed. False also if it cannot be read.
bool IsArchive(const std::string& path);

// Reads the captures in a tar archive: its members are taken as the files of a folder are, "ARCHIVE!MEMBER".
// Appends what was found to `files` and `loaded`, in the order of the members' names; other members go to
// `others`. As many members as `threads` are in memory at once. Errors: as LoadFile(), and of the archive
// itself, which must be whole.
absl::Status LoadArchive(const std::string& path, int threads, std::vector<CaptureFile>* files,
                         std::vector<LoadedFile>* loaded, std::vector<std::string>* others, InputFile* input);

}  // namespace chakra::pytorch
