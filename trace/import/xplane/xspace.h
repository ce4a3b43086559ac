// Reads the planes, lines and events of an XSpace (.xplane.pb) in place, without a copy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/wire.h"

namespace chakra::xplane {

// Views of the file's bytes. Field numbers are those of xplane.proto (openxla/xla,
// third_party/tsl/tsl/profiler/protobuf).

// The value of one XStat; a reference to a name has that name as `text`.
struct Stat {
  int64_t number = 0;      // of integers; for a double, its integer part
  double real = 0;         // of all numbers
  absl::string_view text;  // of texts, bytes and references
};

struct EventMetadata {
  absl::string_view name, display_name;
  std::vector<wire::Cursor> stats;
};

struct Line {
  int64_t id = 0;
  absl::string_view name;  // the display name, if there is one
  int64_t timestamp_ns = 0;
  wire::Cursor body = {nullptr, nullptr};
  uint64_t events = 0;
};

struct Plane {
  absl::string_view name;
  std::vector<Line> lines;
  absl::flat_hash_map<int64_t, EventMetadata> events;     // by id
  absl::flat_hash_map<int64_t, absl::string_view> stats;  // names of stats, by id
  std::vector<wire::Cursor> own_stats;
};

struct XSpace {
  std::vector<Plane> planes;
  std::vector<std::string> hostnames;
};

// Begin and duration of an event on its line, in picoseconds; the begin counts from the line's timestamp.
struct EventTimes {
  int64_t metadata = 0;
  int64_t offset_ps = 0, duration_ps = 0;
  bool timed = true;  // false: the event only counts occurrences
};

// Reads an XSpace. `bytes` must outlive the result. Errors name the file and the byte: `bytes` is not an
// XSpace, or was cut short.
absl::StatusOr<XSpace> ReadXSpace(absl::string_view bytes, absl::string_view file);

// Whether a file that begins with `head` is an XSpace: it begins with a plane that has a name.
bool LooksLikeXSpace(absl::string_view head);

// Reads one XStat. Returns the id of its metadata, or -1 if it is damaged.
int64_t ReadStat(wire::Cursor c, const Plane& plane, Stat* out);

// Finds the stat of this name in `stats`. Returns false if there is none.
bool FindStat(const std::vector<wire::Cursor>& stats, const Plane& plane, absl::string_view name, Stat* out);

// Calls `each` for each event of a line, with its times and the bytes of its stats. Returns false if an event
// is damaged.
template <typename Each>
bool ForEvents(const Line& line, Each each) {
  wire::Cursor c = line.body;
  std::vector<wire::Cursor> stats;
  while (!c.done()) {
    wire::Field f;
    if (wire::ReadField(&c, &f) != nullptr) return false;
    if (f.number != 4 || f.type != wire::kBytes) continue;
    EventTimes times;
    stats.clear();
    wire::Cursor event = f.message();
    while (!event.done()) {
      wire::Field g;
      if (wire::ReadField(&event, &g) != nullptr) return false;
      if (g.number == 4 && g.type == wire::kBytes) {
        stats.push_back(g.message());
      } else if (g.type == wire::kVarint) {
        if (g.number == 1) times.metadata = static_cast<int64_t>(g.bits);
        if (g.number == 2) times.offset_ps = static_cast<int64_t>(g.bits);
        if (g.number == 3) times.duration_ps = static_cast<int64_t>(g.bits);
        if (g.number == 5) times.timed = false;
      }
    }
    each(times, stats);
  }
  return true;
}

}  // namespace chakra::xplane
