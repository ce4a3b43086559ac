// Reads timelines as viewers do: events are sorted by time in nanoseconds, equal ones in the order of the
// file; an end closes the last open slice of its track; arrows go by number (Perfetto), or to the slice that
// is open at their time (JSON).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/perfetto.pb.h"
#include "simdjson.h"

namespace chakra {

struct SeenSlice {
  int pid = -1;
  std::string track, name, category;
  int64_t begin = 0, end = 0;  // ns
  int depth = 0;               // number of enclosing slices on its track
  std::map<std::string, std::string> values;
};

struct SeenTimeline {
  std::map<int, std::string> processes;
  std::vector<std::pair<int, std::string>> tracks;  // (process, name), in order
  std::vector<SeenSlice> slices;                    // by begin
  std::vector<std::pair<size_t, size_t>> arrows;    // between slices
  std::map<std::string, std::vector<std::pair<int64_t, double>>> counters;
  std::vector<std::string> faults;

  // The slices of nodes, by rank and id.
  std::map<std::pair<int, std::string>, size_t> Nodes() const {
    std::map<std::pair<int, std::string>, size_t> nodes;
    for (size_t i = 0; i < slices.size(); ++i) {
      if (slices[i].category == "wait" || processes.at(slices[i].pid) == "critical path") continue;
      EXPECT_TRUE(nodes.emplace(std::make_pair(slices[i].pid, slices[i].values.at("node")), i).second);
    }
    return nodes;
  }
};

class PerfettoReader {
 public:
  explicit PerfettoReader(const std::string& bytes) {
    perfetto::Trace trace;
    if (!trace.ParseFromString(bytes)) {
      seen_.faults.push_back("no protobuf");
      return;
    }
    std::vector<const perfetto::TracePacket*> events;
    for (const perfetto::TracePacket& p : trace.packet()) {
      if (p.trusted_packet_sequence_id() != 1) seen_.faults.push_back("sequence");
      Intern(p.interned_data());
      if (p.has_track_descriptor()) Describe(p.track_descriptor());
      if (p.has_track_event()) events.push_back(&p);
      if (p.has_track_event() != p.has_timestamp()) seen_.faults.push_back("time");
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const auto* a, const auto* b) { return a->timestamp() < b->timestamp(); });
    for (const auto* p : events) Take(static_cast<int64_t>(p->timestamp()), p->track_event());
    for (const auto& [uuid, track] : tracks_) {
      if (!track.open.empty()) seen_.faults.push_back("a slice without an end");
    }
    if (!arrows_.empty()) seen_.faults.push_back("an arrow without an end");
  }
  SeenTimeline seen() { return std::move(seen_); }

 private:
  struct Track {
    int pid = -1;
    std::string name;
    bool counter = false;
    std::vector<size_t> open;
  };
  using Names = std::map<uint64_t, std::string>;

  void Intern(const perfetto::InternedData& data) {
    for (const auto& i : data.event_categories()) categories_[i.iid()] = i.name();
    for (const auto& i : data.event_names()) names_[i.iid()] = i.name();
    for (const auto& i : data.debug_annotation_names()) keys_[i.iid()] = i.name();
    for (const auto& i : data.debug_annotation_string_values()) texts_[i.iid()] = i.str();
  }
  const std::string& Find(const Names& names, uint64_t iid) {
    const auto it = names.find(iid);
    if (it != names.end()) return it->second;
    seen_.faults.push_back("a string that is not there");
    return names_[0];
  }
  void Describe(const perfetto::TrackDescriptor& d) {
    if (d.uuid() == 0) return;
    Track& track = tracks_[d.uuid()];
    if (track.pid >= 0) seen_.faults.push_back("a track twice");
    if (d.has_process()) {
      track.pid = d.process().pid();
      seen_.processes[track.pid] = d.process().process_name();
      return;
    }
    track.pid = tracks_[d.parent_uuid()].pid;
    track.name = d.name();
    track.counter = d.has_counter();
    if (!track.counter) seen_.tracks.push_back({track.pid, track.name});
  }
  void Take(int64_t at, const perfetto::TrackEvent& event) {
    const auto found = tracks_.find(event.track_uuid());
    if (found == tracks_.end()) return seen_.faults.push_back("no such track");
    Track& track = found->second;
    if (track.counter != (event.type() == perfetto::TrackEvent::TYPE_COUNTER)) seen_.faults.push_back("kind");
    switch (event.type()) {
      case perfetto::TrackEvent::TYPE_COUNTER:
        return seen_.counters[track.name].push_back({at, event.double_counter_value()});
      case perfetto::TrackEvent::TYPE_SLICE_BEGIN:
        return Begin(at, event, &track);
      default:
        break;
    }
    if (track.open.empty()) return seen_.faults.push_back("an end of nothing");
    seen_.slices[track.open.back()].end = at;
    for (const uint64_t id : event.terminating_flow_ids()) {
      const auto it = arrows_.find(id);
      if (it == arrows_.end()) {
        seen_.faults.push_back("an arrow from nowhere");
        continue;
      }
      seen_.arrows.push_back({it->second, track.open.back()});
      arrows_.erase(it);
    }
    track.open.pop_back();
  }
  void Begin(int64_t at, const perfetto::TrackEvent& event, Track* track) {
    SeenSlice slice = {track->pid, track->name, Find(names_, event.name_iid()),
                       Find(categories_, event.category_iids(0)), at};
    slice.depth = static_cast<int>(track->open.size());
    for (const auto& a : event.debug_annotations()) {
      slice.values[Find(keys_, a.name_iid())] =
          a.has_uint_value() ? absl::StrCat(a.uint_value()) : Find(texts_, a.string_value_iid());
    }
    for (const uint64_t id : event.flow_ids()) {
      if (!arrows_.emplace(id, seen_.slices.size()).second) seen_.faults.push_back("an arrow twice");
    }
    track->open.push_back(seen_.slices.size());
    seen_.slices.push_back(std::move(slice));
  }

  SeenTimeline seen_;
  Names categories_, names_, keys_, texts_;
  std::map<uint64_t, Track> tracks_;
  std::map<uint64_t, size_t> arrows_;  // arrows that have begun
};

class JsonReader {
 public:
  explicit JsonReader(const std::string& text) {
    simdjson::dom::parser parser;
    simdjson::dom::element document;
    simdjson::dom::array events;
    if (parser.parse(text).get(document) || document["traceEvents"].get(events)) {
      seen_.faults.push_back("no JSON");
      return;
    }
    std::vector<std::pair<int64_t, simdjson::dom::element>> timed;
    for (const simdjson::dom::element e : events) {
      if (Text(e, "ph") == "M") {
        Describe(e);
      } else {
        timed.push_back({Nanos(e, "ts"), e});
      }
    }
    std::stable_sort(timed.begin(), timed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [at, e] : timed) Take(at, e);
    if (!arrows_.empty()) seen_.faults.push_back("an arrow without an end");
  }
  SeenTimeline seen() { return std::move(seen_); }

 private:
  using Track = std::pair<int, int>;  // process and thread

  static std::string Text(const simdjson::dom::element& e, const char* key) {
    return std::string(e[key].get_string().value());
  }
  // Cuts to nanoseconds, as viewers do; half a picosecond makes up for the rounding of doubles.
  static int64_t Nanos(const simdjson::dom::element& e, const char* key) {
    return static_cast<int64_t>(std::floor(e[key].get_double().value() * 1000 + 0.0005));
  }
  static Track TrackOf(const simdjson::dom::element& e) {
    int64_t tid = 0;
    if (e["tid"].get(tid)) tid = 0;
    return {static_cast<int>(e["pid"].get_int64().value()), static_cast<int>(tid)};
  }
  void Describe(const simdjson::dom::element& e) {
    const std::string what = Text(e, "name");
    const Track track = TrackOf(e);
    if (what == "process_name") seen_.processes[track.first] = Text(e["args"], "name");
    if (what != "thread_name") return;
    names_[track] = Text(e["args"], "name");
    seen_.tracks.push_back({track.first, names_[track]});
  }
  void Take(int64_t at, const simdjson::dom::element& e) {
    const std::string phase = Text(e, "ph");
    const Track track = TrackOf(e);
    std::vector<size_t>& open = open_[track];
    while (!open.empty() && seen_.slices[open.back()].end <= at) open.pop_back();
    if (phase == "C") {
      for (const auto& arg : simdjson::dom::object(e["args"])) {
        seen_.counters[Text(e, "name")].push_back({at, arg.value.get_double().value()});
      }
    } else if (phase == "X") {
      SeenSlice slice = {track.first, names_[track],       Text(e, "name"), Text(e, "cat"),
                         at,          at + Nanos(e, "dur")};
      slice.depth = static_cast<int>(open.size());
      if (!open.empty() && seen_.slices[open.back()].end < slice.end) seen_.faults.push_back("an overlap");
      simdjson::dom::object args;
      if (!e["args"].get(args)) {
        for (const auto& arg : args) {
          slice.values[std::string(arg.key)] = arg.value.is_string()
                                                   ? std::string(arg.value.get_string().value())
                                                   : simdjson::minify(arg.value);
        }
      }
      open.push_back(seen_.slices.size());
      seen_.slices.push_back(std::move(slice));
    } else {
      Join(phase, e["id"].get_int64().value(), open);
    }
  }
  void Join(const std::string& phase, int64_t id, const std::vector<size_t>& open) {
    if (open.empty()) return seen_.faults.push_back("an arrow outside of slices");
    if (phase == "s") {
      if (!arrows_.emplace(id, open.back()).second) seen_.faults.push_back("an arrow twice");
      return;
    }
    const auto it = arrows_.find(id);
    if (it == arrows_.end()) return seen_.faults.push_back("an arrow from nowhere");
    seen_.arrows.push_back({it->second, open.back()});
    arrows_.erase(it);
  }

  SeenTimeline seen_;
  std::map<Track, std::string> names_;
  std::map<Track, std::vector<size_t>> open_;
  std::map<int64_t, size_t> arrows_;
};

}  // namespace chakra
