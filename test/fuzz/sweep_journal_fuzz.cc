// Journals of sweeps: for any bytes, complete lines are read and the others counted. The lines that were read
// are the same after a write.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "replay/sweep/journal.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(sweep_journal_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  const auto read = chakra::sweep::ParseJournal(content);
  const auto lines = static_cast<size_t>(std::count(content.begin(), content.end(), '\n'));
  Require(read.end <= size && read.damaged <= lines + 1, "no more lines are damaged than there are");
  std::string again;
  for (const auto& [id, point] : read.points) {
    chakra::proto::SweepRecord record;
    *record.mutable_point() = point;
    again += chakra::sweep::JournalLine(record);
  }
  // A kill in the middle of the last line loses only that line.
  const auto twice = chakra::sweep::ParseJournal(again + again.substr(0, again.size() / 2));
  Require(twice.points.size() == read.points.size(), "what was read is written to the same");
  const std::string line = chakra::sweep::JournalLine({});
  Require(
      chakra::sweep::ParseJournal(std::string(content.substr(0, read.end)) + line).damaged <= read.damaged,
      "a line after the end is read");
  return 0;
}
