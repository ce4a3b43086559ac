// Reads tar archives member by member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/io/byte_source.h"

namespace chakra {

// The number of bytes at the beginning of a file that LooksLikeTar() needs.
inline constexpr size_t kTarHead = 512;

// Whether `head` (kTarHead bytes) is the header of a tar member.
bool LooksLikeTar(absl::string_view head);

// Reads ustar archives, with GNU long names, and with pax paths and sizes. Skips members that are not files.
class TarReader {
 public:
  // `source` must outlive the reader. `file` is the name for error messages.
  TarReader(ByteSource* source, absl::string_view file) : source_(source), file_(file) {}
  // Goes to the next file. Returns false at the end of the archive. Errors: a header that is damaged or ends
  // early. Errors give the byte position in the unpacked archive.
  absl::StatusOr<bool> Next();
  const std::string& name() const { return name_; }
  // Error: the member is sparse (`tar --sparse`), so the archive lacks its holes and ReadMember() would
  // return only the stored pieces.
  absl::Status CheckWhole() const;
  uint64_t size() const { return size_; }
  // Reads the content of the current member. May be called at most once for each member.
  absl::Status ReadMember(Buffer* out);

 private:
  absl::Status Error(uint64_t at, absl::string_view what) const;
  absl::Status Skip(uint64_t n);
  absl::Status ReadExact(char* out, size_t n);
  absl::StatusOr<std::string> ReadText(uint64_t size);
  absl::Status SkipSparseMap(bool more);

  ByteSource* source_;
  std::string file_;
  std::string name_;
  uint64_t size_ = 0;
  bool sparse_ = false;
  uint64_t at_ = 0;       // bytes read
  uint64_t pending_ = 0;  // unread bytes of the current member, including its padding
};

// Calls each() for each member of the archive at `path`, which may be compressed, and then sets the checksum
// and the size of the file. Stops at the first error of the file, of the archive or of each().
absl::Status ForEachMember(const std::string& path, const std::function<absl::Status(TarReader*)>& each,
                           std::string* sha256, uint64_t* bytes);

}  // namespace chakra
