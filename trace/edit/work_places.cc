#include "trace/edit/work_places.h"

#include <algorithm>

namespace chakra::edit {
namespace {

// Returns the sums of weights up to the end of each row.
std::vector<int64_t> Ends(const std::vector<Row>& rows) {
  std::vector<int64_t> ends(rows.size());
  const auto sum = [&](auto&& weight) {
    int64_t whole = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t w = std::max<int64_t>(weight(rows[i]), 0);
      whole = w > INT64_MAX - whole ? INT64_MAX : whole + w;
      ends[i] = whole;
    }
    return whole > 0;
  };
  if (sum([](const Row& r) { return r.duration.picos(); })) return ends;
  if (sum([](const Row& r) { return r.work.num_ops; })) return ends;
  if (sum([](const Row& r) { return static_cast<int64_t>(r.bytes()); })) return ends;
  sum([](const Row&) { return 1; });
  return ends;
}

}  // namespace

WorkPlaces::WorkPlaces(const std::vector<Row>& old_rows, const std::vector<Row>& new_rows)
    : old_ends_(Ends(old_rows)), new_ends_(Ends(new_rows)) {}

WorkPlaces::Place WorkPlaces::Of(size_t i, int64_t release) const {
  if (release == kReleaseAtEnd) return {new_ends_.size() - 1, kReleaseAtEnd};
  const int64_t begin = i == 0 ? 0 : old_ends_[i - 1];
  const __int128 done = begin + ReleasedAfter(Time::Picos(old_ends_[i] - begin), release).picos();
  const auto at = static_cast<int64_t>((done * new_ends_.back() + old_ends_.back() / 2) / old_ends_.back());
  // A point between two rows is the end of the earlier row.
  const auto row =
      static_cast<size_t>(std::lower_bound(new_ends_.begin(), new_ends_.end(), at) - new_ends_.begin());
  const int64_t from = row == 0 ? 0 : new_ends_[row - 1], weight = new_ends_[row] - from;
  if (weight == 0) return {row, 0};
  return {row,
          static_cast<int64_t>((static_cast<__int128>(at - from) * kReleaseAtEnd + weight / 2) / weight)};
}

void MoveChildrenTo(Draft* draft, const WorkPlaces& places, size_t i, uint32_t from,
                    const std::vector<uint32_t>& chain) {
  draft->MoveChildren(from, [&](Dep* d) {
    const WorkPlaces::Place to = places.Of(i, draft->AtEnd(*d) ? kReleaseAtEnd : d->release);
    d->row = chain[to.row];
    d->release = to.release;
  });
}

}  // namespace chakra::edit
