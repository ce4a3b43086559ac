// Texts of --timeline-ranks, --timeline-format and names: any bytes give sorted ranks and a format, or an
// error that names the expected form.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/strings/match.h"
#include "replay/timeline/timeline.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(timeline_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto says = [](const absl::Status& s) {
    return s.ok() || absl::StrContains(s.message(), "expected");
  };
  const auto ranks = chakra::ParseTimelineRanks(text);
  Require(says(ranks.status()), "an error says what is expected");
  if (ranks.ok()) {
    Require(!ranks->empty() && ranks->front() >= 0, "ranks are there");
    const auto same = std::adjacent_find(ranks->begin(), ranks->end(), std::greater_equal<int>());
    Require(same == ranks->end(), "each rank once, ascending");
  }
  Require(says(chakra::ParseTimelineFormat(text).status()), "an error says what is expected");
  Require(says(chakra::TimelineFormatOf(text).status()), "an error says what is expected");
  return 0;
}
