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

// How much of a file LooksLikeTar() wants to see.
inline constexpr size_t kTarHead = 512;

// True when `head` (kTarHead bytes) is the header of a tar member.
bool LooksLikeTar(absl::string_view head);

// ustar, GNU long names, pax paths and sizes. Members that are no files are passed over.
class TarReader {
 public:
  // `source` must outlive the reader; `file` is used in messages.
  TarReader(ByteSource* source, absl::string_view file) : source_(source), file_(file) {}
  // Goes to the next file. False at the end of the archive. Errors: a damaged header, or one that ends early;
  // they name the byte in the unpacked archive.
  absl::StatusOr<bool> Next();
  const std::string& name() const { return name_; }
  // Error: the member was stored without its holes (`tar --sparse`); ReadMember() would give what is left.
  absl::Status CheckWhole() const;
  uint64_t size() const { return size_; }
  // Reads the content of the current member. Call it at most once for each member.
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
  uint64_t pending_ = 0;  // bytes of the current member, padding included, that are still to be read
};

// Calls each() at each member of the archive at `path`, which may be packed, and then tells the file's
// checksum and size. Errors: those of the file, of the archive and of each(); the first ends the reading.
absl::Status ForEachMember(const std::string& path, const std::function<absl::Status(TarReader*)>& each,
                           std::string* sha256, uint64_t* bytes);

}  // namespace chakra
