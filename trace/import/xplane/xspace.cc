#include "trace/import/xplane/xspace.h"

#include <bit>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace chakra::xplane {
namespace {

using wire::Cursor;
using wire::Field;

template <typename Each>
const char* ForFields(Cursor c, Each each) {
  while (!c.done()) {
    Field f;
    if (const char* wrong = wire::ReadField(&c, &f)) return wrong;
    if (const char* wrong = each(f)) return wrong;
  }
  return nullptr;
}

// Reads an entry of a map from numbers to messages.
const char* ReadEntry(const Field& f, int64_t* key, Cursor* value) {
  if (f.type != wire::kBytes) return "an entry of a map that is not a message";
  *value = {nullptr, nullptr};
  return ForFields(f.message(), [&](const Field& g) -> const char* {
    if (g.number == 1 && g.type == wire::kVarint) *key = static_cast<int64_t>(g.bits);
    if (g.number == 2 && g.type == wire::kBytes) *value = g.message();
    return nullptr;
  });
}

const char* ReadEventMetadata(const Field& f, Plane* plane) {
  int64_t key = 0;
  Cursor value{};
  if (const char* wrong = ReadEntry(f, &key, &value)) return wrong;
  EventMetadata& metadata = plane->events[key];
  return ForFields(value, [&](const Field& g) -> const char* {
    if (g.type != wire::kBytes) return nullptr;
    if (g.number == 2) metadata.name = g.text();
    if (g.number == 4) metadata.display_name = g.text();
    if (g.number == 5) metadata.stats.push_back(g.message());
    return nullptr;
  });
}

const char* ReadStatMetadata(const Field& f, Plane* plane) {
  int64_t key = 0;
  Cursor value{};
  if (const char* wrong = ReadEntry(f, &key, &value)) return wrong;
  absl::string_view& name = plane->stats[key];
  return ForFields(value, [&](const Field& g) -> const char* {
    if (g.number == 2 && g.type == wire::kBytes) name = g.text();
    return nullptr;
  });
}

const char* ReadLine(const Field& f, Plane* plane) {
  if (f.type != wire::kBytes) return "a line that is not a message";
  Line& line = plane->lines.emplace_back();
  line.body = f.message();
  absl::string_view display;
  const char* wrong = ForFields(line.body, [&](const Field& g) -> const char* {
    if (g.number == 1 && g.type == wire::kVarint) line.id = static_cast<int64_t>(g.bits);
    if (g.number == 2 && g.type == wire::kBytes) line.name = g.text();
    if (g.number == 3 && g.type == wire::kVarint) line.timestamp_ns = static_cast<int64_t>(g.bits);
    if (g.number == 4) ++line.events;
    if (g.number == 11 && g.type == wire::kBytes) display = g.text();
    return nullptr;
  });
  if (!display.empty()) line.name = display;
  // Below 2^61 ns (73 years), sums of times do not overflow.
  if (wrong == nullptr && (line.timestamp_ns < 0 || line.timestamp_ns >= int64_t{1} << 61))
    return "a line whose timestamp is not a time";
  return wrong;
}

const char* ReadPlane(const Field& f, XSpace* out) {
  if (f.type != wire::kBytes) return "a plane that is not a message";
  Plane& plane = out->planes.emplace_back();
  return ForFields(f.message(), [&](const Field& g) -> const char* {
    if (g.number == 2 && g.type == wire::kBytes) plane.name = g.text();
    if (g.number == 3) return ReadLine(g, &plane);
    if (g.number == 4) return ReadEventMetadata(g, &plane);
    if (g.number == 5) return ReadStatMetadata(g, &plane);
    if (g.number == 6 && g.type == wire::kBytes) plane.own_stats.push_back(g.message());
    return nullptr;
  });
}

}  // namespace

absl::StatusOr<XSpace> ReadXSpace(absl::string_view bytes, absl::string_view file) {
  XSpace out;
  Cursor c = wire::CursorOf(bytes);
  while (!c.done()) {
    Field f;
    const uint8_t* at = c.p;
    const char* wrong = wire::ReadField(&c, &f);
    if (wrong == nullptr && f.number == 1) wrong = ReadPlane(f, &out);
    if (wrong == nullptr && f.number == 4 && f.type == wire::kBytes) out.hostnames.emplace_back(f.text());
    if (wrong != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ": byte ", at - reinterpret_cast<const uint8_t*>(bytes.data()), ": ", wrong,
                       "; expected a whole XSpace, as JAX's profiler writes it"));
    }
  }
  if (!out.planes.empty()) return out;
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": no plane; expected an XSpace, as JAX's profiler writes it"));
}

bool LooksLikeXSpace(absl::string_view head) {
  Cursor c = wire::CursorOf(head);
  uint64_t tag = 0, size = 0;
  if (!wire::ReadVarint(&c, &tag) || tag != (1 << 3 | wire::kBytes) || !wire::ReadVarint(&c, &size))
    return false;
  // Reads the plane's number and name; the plane itself may be longer than `head`.
  for (int field = 0; field < 2; ++field) {
    if (!wire::ReadVarint(&c, &tag)) return false;
    if (tag == (1 << 3 | wire::kVarint)) {
      if (!wire::ReadVarint(&c, &size)) return false;
      continue;
    }
    if (tag != (2 << 3 | wire::kBytes) || !wire::ReadVarint(&c, &size) || size > c.left() || size == 0)
      return false;
    const absl::string_view name(reinterpret_cast<const char*>(c.p), size);
    return absl::StartsWith(name, "/device:") || absl::StartsWith(name, "/host:") ||
           name == "Task Environment";
  }
  return false;
}

int64_t ReadStat(Cursor c, const Plane& plane, Stat* out) {
  *out = Stat();
  int64_t id = 0;
  while (!c.done()) {
    Field f;
    if (wire::ReadField(&c, &f) != nullptr) return -1;
    switch (f.number) {
      case 1:
        id = static_cast<int64_t>(f.bits);
        break;
      case 2:
        out->real = std::bit_cast<double>(f.bits);
        out->number = out->real > -9e18 && out->real < 9e18 ? static_cast<int64_t>(out->real) : 0;
        break;
      case 3:
      case 4:
        out->number = static_cast<int64_t>(f.bits);
        out->real = static_cast<double>(out->number);
        break;
      case 5:
      case 6:
        if (f.type == wire::kBytes) out->text = f.text();
        break;
      case 7:
        if (const auto name = plane.stats.find(static_cast<int64_t>(f.bits)); name != plane.stats.end())
          out->text = name->second;
        break;
      default:
        break;
    }
  }
  return id;
}

bool FindStat(const std::vector<Cursor>& stats, const Plane& plane, absl::string_view name, Stat* out) {
  for (const Cursor& c : stats) {
    const int64_t id = ReadStat(c, plane, out);
    const auto it = plane.stats.find(id);
    if (it != plane.stats.end() && it->second == name) return true;
  }
  *out = Stat();
  return false;
}

}  // namespace chakra::xplane
