#include "replay/timeline/writer.h"

namespace chakra {

absl::Status TimelineWriter::Flush(bool end) {
  constexpr size_t kFlushAt = 1 << 16;
  if (out_.empty() || (out_.size() < kFlushAt && !end)) return absl::OkStatus();
  absl::Status written = write_(out_);
  out_.clear();
  return written;
}

}  // namespace chakra
