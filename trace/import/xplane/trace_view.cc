#include "trace/import/xplane/trace_view.h"

#include <simdjson.h>

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/wire.h"

namespace chakra::xplane {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

absl::string_view View(std::string_view s) { return {s.data(), s.size()}; }

// Ids of names, from 1 on.
using Ids = std::map<std::string, int64_t>;
int64_t IdOf(const std::string& name, Ids* ids) {
  return ids->try_emplace(name, static_cast<int64_t>(ids->size()) + 1).first->second;
}

struct ViewLine {
  std::string name, events;  // encoded
};
struct ViewPlane {
  std::string name;
  std::map<int64_t, ViewLine> lines;
  Ids events, stats;
};

// Reads a number of an argument, which may be written as text.
bool ToNumber(element value, int64_t* number) {
  double real = 0;
  std::string_view text;
  if (value.get(*number) == simdjson::SUCCESS) return true;
  if (value.get(real) == simdjson::SUCCESS && std::abs(real) < 9e18)
    return *number = std::llround(real), true;
  return value.get(text) == simdjson::SUCCESS && absl::SimpleAtoi(View(text), number);
}

bool IsText(absl::string_view key) {
  return absl::StartsWith(key, "hlo_") || key == "name" || key == "long_name";
}

class ViewReader {
 public:
  void Add(const object& event) {
    std::string_view phase, name;
    int64_t pid = 0, tid = 0;
    if (event["ph"].get(phase) != simdjson::SUCCESS || event["name"].get(name) != simdjson::SUCCESS) return;
    if (event["pid"].get(pid) != simdjson::SUCCESS) return;
    if (event["tid"].get(tid) != simdjson::SUCCESS) tid = 0;
    if (phase == "M") return AddName(event, name, pid, tid);
    double ts = 0, dur = 0;
    if (phase != "X" || event["ts"].get(ts) != simdjson::SUCCESS || !(ts >= 0 && ts < 1e12)) return;
    if (event["dur"].get(dur) != simdjson::SUCCESS || !(dur >= 0 && dur < 1e12)) dur = 0;
    ViewPlane& plane = planes_[pid];
    std::string bytes;
    const auto picos = [](double us) { return static_cast<uint64_t>(std::llround(us * 1e6)); };
    wire::AppendNumber(1, static_cast<uint64_t>(IdOf(std::string(name), &plane.events)), &bytes);
    wire::AppendNumber(2, picos(ts), &bytes);
    wire::AppendNumber(3, picos(dur), &bytes);
    object args;
    if (event["args"].get(args) == simdjson::SUCCESS) {
      for (const auto& [key, value] : args) AddStat(View(key), value, &plane, &bytes);
    }
    wire::AppendText(4, bytes, &plane.lines[tid].events);
  }

  std::string Encode() {
    std::string space;
    for (auto& [pid, plane] : planes_) {
      std::string bytes;
      wire::AppendText(2, plane.name, &bytes);
      for (const auto& [tid, line] : plane.lines) {
        std::string one;
        wire::AppendNumber(1, static_cast<uint64_t>(tid), &one);
        wire::AppendText(2, line.name, &one);
        one += line.events;
        wire::AppendText(3, one, &bytes);
      }
      for (const auto& [field, ids] :
           {std::pair<uint32_t, const Ids*>{4, &plane.events}, {5, &plane.stats}}) {
        for (const auto& [name, id] : *ids) {
          std::string metadata, entry;
          wire::AppendNumber(1, static_cast<uint64_t>(id), &metadata);
          wire::AppendText(2, name, &metadata);
          wire::AppendNumber(1, static_cast<uint64_t>(id), &entry);
          wire::AppendText(2, metadata, &entry);
          wire::AppendText(field, entry, &bytes);
        }
      }
      wire::AppendText(1, bytes, &space);
    }
    return space;
  }

 private:
  void AddName(const object& event, std::string_view what, int64_t pid, int64_t tid) {
    std::string_view name;
    if (event["args"]["name"].get(name) != simdjson::SUCCESS) return;
    if (what == "process_name") planes_[pid].name = std::string(name);
    if (what == "thread_name") planes_[pid].lines[tid].name = std::string(name);
  }

  void AddStat(absl::string_view key, element value, ViewPlane* plane, std::string* event) {
    std::string stat;
    std::string_view text;
    int64_t number = 0;
    wire::AppendNumber(1, static_cast<uint64_t>(IdOf(std::string(key), &plane->stats)), &stat);
    if (!IsText(key) && ToNumber(value, &number)) {
      wire::AppendNumber(4, static_cast<uint64_t>(number), &stat);
    } else if (value.get(text) == simdjson::SUCCESS) {
      wire::AppendText(5, View(text), &stat);
    } else {
      return;
    }
    wire::AppendText(4, stat, event);
  }

  std::map<int64_t, ViewPlane> planes_;  // by process
};

}  // namespace

bool LooksLikeTraceView(absl::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && head[first] == '{' && absl::StrContains(head, "\"highres-ticks\"") &&
         absl::StrContains(head, "\"traceEvents\"");
}

absl::StatusOr<std::string> XSpaceOfTraceView(absl::string_view json, absl::string_view file) {
  simdjson::dom::parser parser;
  element document;
  if (const auto error = parser.parse(json.data(), json.size()).get(document))
    return absl::InvalidArgumentError(absl::StrCat(file, ": not JSON: ", simdjson::error_message(error),
                                                   "; expected a whole HOST.trace.json.gz of a JAX profile"));
  simdjson::dom::array events;
  if (document["traceEvents"].get(events) != simdjson::SUCCESS)
    return absl::InvalidArgumentError(absl::StrCat(file, ": \"traceEvents\" is not a list"));
  ViewReader reader;
  for (const element event : events) {
    object one;
    if (event.get(one) == simdjson::SUCCESS) reader.Add(one);
  }
  return reader.Encode();
}

}  // namespace chakra::xplane
