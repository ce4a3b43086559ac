// Tar archives: an archive ends the same whether its members are read or skipped.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/io/archive.h"

namespace {

// Names and sizes of the members, and the end of the archive or the error.
std::vector<std::string> List(absl::string_view tar, bool read) {
  chakra::MemorySource raw(tar);
  std::vector<std::string> seen;
  auto content = chakra::OpenContent(&raw, "fuzz.tar");
  if (!content.ok()) return seen;
  chakra::TarReader reader(content->get(), "fuzz.tar");
  chakra::Buffer buffer;
  for (;;) {
    const auto more = reader.Next();
    if (!more.ok()) {
      chakra::fuzz::Require(!more.status().message().empty(), "an error says what is wrong");
      return seen;
    }
    if (!*more) break;
    if (read) {
      const absl::Status s = reader.ReadMember(&buffer);
      if (!s.ok()) {
        seen.push_back(reader.name());
        return seen;
      }
      chakra::fuzz::Require(buffer.size() == reader.size(), "a member has its size");
    }
    seen.push_back(reader.name());
  }
  seen.push_back("/end");
  return seen;
}

}  // namespace

FUZZ_TARGET(archive_fuzz, data, size) {
  const absl::string_view tar(reinterpret_cast<const char*>(data), size);
  (void)chakra::LooksLikeTar(tar.substr(0, 512));
  chakra::fuzz::Require(List(tar, true) == List(tar, false), "reading or passing over comes to the same");
  return 0;
}
