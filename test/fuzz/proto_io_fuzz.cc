// Configuration messages: a message that was read is the same after a write and a read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "proto/cluster.pb.h"
#include "proto/kernel_table.pb.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/io/proto_io.h"

namespace {

template <typename M>
void Try(absl::string_view content) {
  M message, back;
  if (!chakra::ParseMessage(content, "fuzz", &message).ok()) return;
  const auto binary = chakra::FormatMessage(message, chakra::MessageFormat::kBinary);
  if (!binary.ok() || !back.ParseFromString(*binary)) return;
  const auto again = chakra::FormatMessage(back, chakra::MessageFormat::kBinary);
  if (!again.ok() || *again != *binary) abort();
}

}  // namespace

FUZZ_TARGET(proto_io_fuzz, data, size) {
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  Try<chakra::proto::Cluster>(content);
  Try<chakra::proto::KernelTable>(content);
  return 0;
}
