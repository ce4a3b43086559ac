// Text that is nearly JSON: the mended text is JSON or ends early, and a second repair changes nothing.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/io/json_mend.h"

FUZZ_TARGET(json_mend_fuzz, data, size) {
  using namespace chakra;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto once = MendJson(text, "fuzz.json");
  if (!once.ok()) {
    fuzz::Require(!once.status().message().empty(), "an error says why");
    return 0;
  }
  if (once->faults.empty()) fuzz::Require(once->text == text, "what needs no mending stays");
  const auto twice = MendJson(once->text, "fuzz.json");
  fuzz::Require(twice.ok(), "what was mended is read again");
  fuzz::Require(twice->text == once->text || !twice->faults.empty(), "a change is told");
  return 0;
}
