#include "replay/timeline/tracks.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "replay/engine/spans.h"

namespace chakra {
namespace {

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;

// Sorts lanes by kind, in the order in which people look for them, then by number.
std::tuple<int, int64_t, std::string> PlaceOf(const std::string& name) {
  constexpr const char* kKinds[] = {"thread", "host", "compute", "stream", "communication", "storage"};
  int kind = 0;
  for (const char* k : kKinds) {
    if (absl::StartsWith(name, k)) break;
    ++kind;
  }
  int64_t number = 0;
  const size_t blank = name.find(' ');
  if (blank == name.npos || !absl::SimpleAtoi(name.substr(blank + 1), &number)) number = 0;
  return {kind, number, name};
}

// Adds the tracks of one lane. Each node goes on the first free track.
void AddLane(const std::string& name, const std::vector<uint32_t>& rows, const std::vector<NodeSpan>& spans,
             std::vector<TimelineTrack>* tracks) {
  const size_t first = tracks->size();
  MinHeap<size_t> unused;
  MinHeap<std::pair<Time, size_t>> busy;  // (end of the last node, track)
  for (const uint32_t row : rows) {
    for (; !busy.empty() && busy.top().first <= spans[row].begin; busy.pop()) unused.push(busy.top().second);
    if (unused.empty()) {
      unused.push(tracks->size());
      const size_t number = tracks->size() - first + 1;
      tracks->push_back({number == 1 ? name : absl::StrCat(name, " (", number, ")"), {}});
    }
    const size_t track = unused.top();
    unused.pop();
    (*tracks)[track].rows.push_back(row);
    busy.push({spans[row].end, track});
  }
}

}  // namespace

std::vector<TimelineTrack> LayOutTracks(const NamedLanes& lanes, const std::vector<NodeSpan>& spans,
                                        size_t most) {
  std::vector<uint32_t> rows(spans.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&spans](uint32_t a, uint32_t b) {
    return std::tie(spans[a].begin, spans[a].end, a) < std::tie(spans[b].begin, spans[b].end, b);
  });
  rows.resize(std::min(rows.size(), most));
  std::vector<std::vector<uint32_t>> of_lane(lanes.names.size());
  for (const uint32_t row : rows) of_lane[lanes.of_row[row]].push_back(row);
  std::vector<size_t> order(lanes.names.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&lanes](size_t a, size_t b) { return PlaceOf(lanes.names[a]) < PlaceOf(lanes.names[b]); });
  std::vector<TimelineTrack> tracks;
  for (const size_t lane : order) {
    AddLane(lanes.names[lane].empty() ? "other" : lanes.names[lane], of_lane[lane], spans, &tracks);
  }
  return tracks;
}

}  // namespace chakra
