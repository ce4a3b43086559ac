#include "trace/import/timeline/device_calls.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace chakra::pytorch {
namespace {

SyncCall SyncOf(absl::string_view name) {
  if (absl::EndsWith(name, "block_until_ready")) return SyncCall::kDevice;  // a call of JAX
  if (!absl::StrContains(name, "ynchronize")) return SyncCall::kNo;
  if (absl::StrContains(name, "Stream")) return SyncCall::kStream;
  if (absl::StrContains(name, "Event")) return SyncCall::kEvent;
  return SyncCall::kDevice;
}
bool IsWaitCall(absl::string_view name) {
  return absl::StrContains(name, "StreamWaitEvent") || absl::StrContains(name, "waitOnEvent");
}
bool IsRecordCall(absl::string_view name) {
  return absl::StrContains(name, "EventRecord") || name == "recordEvent";
}

}  // namespace

uint8_t CallNames::Of(const Event& e) {
  uint8_t& known = known_[e.name];
  if (known == 0) {
    const absl::string_view name = d_.name_of(e);
    known = static_cast<uint8_t>(kRead | (IsWaitCall(name) ? kWait : 0) | (IsRecordCall(name) ? kRecord : 0) |
                                 static_cast<uint8_t>(SyncOf(name)) << 2);
  }
  return known;
}

void RowsByCorrelation::Expect(int64_t least, int64_t most, size_t count) {
  constexpr uint64_t kSparse = 4;  // maximum number of ids in the range for each id that is used
  if (count == 0 || static_cast<uint64_t>(most) - static_cast<uint64_t>(least) > kSparse * count) return;
  first_ = least;
  dense_.assign(static_cast<size_t>(most - least) + 1, kNoRow);
}

}  // namespace chakra::pytorch
