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

// The content of a file: a host trace, a device trace, or the device traces of several ranks. The other
// members are empty.
struct LoadedFile {
  std::unique_ptr<HostTrace> host;
  std::unique_ptr<DeviceTrace> device;
  std::vector<RankPart> parts;
  InputFile input;  // without a path if the file is a member of an archive: then the archive is the input
};

// Reads one file, plain or compressed. A file that was cut short is read up to its last whole event or node,
// with a repair: "truncated_kineto" or "truncated_host_trace", and "truncated_stream" if it ends inside a
// compressed stream. Errors: those of OpenContent(), ReadHostTrace() and ReadKineto().
absl::Status LoadFile(const CaptureFile& file, LoadedFile* out);

// Whether the file is a tar archive, plain or compressed. False also if it cannot be read.
bool IsArchive(const std::string& path);

// Reads the captures in a tar archive. Members are treated like files of a folder; their paths are
// "ARCHIVE!MEMBER". Appends the captures to `files` and `loaded`, in the order of the members' names; other
// members are added to `others`. At most `threads` unparsed members are in memory at a time. Errors: those of
// LoadFile(), and an archive that is damaged or not whole.
absl::Status LoadArchive(const std::string& path, int threads, std::vector<CaptureFile>* files,
                         std::vector<LoadedFile>* loaded, std::vector<std::string>* others, InputFile* input);

}  // namespace chakra::pytorch
