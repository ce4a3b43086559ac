#include "absl/container/flat_hash_map.h"
#include "proto/perfetto.pb.h"
#include "replay/timeline/writer.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr uint32_t kSequence = 1;
constexpr uint32_t kCleared = 1, kNeedsState = 2;  // TracePacket::sequence_flags

// Numbers strings, from 1.
class Interned {
 public:
  // The number of `text`. `fresh`: the text was not numbered before.
  uint64_t Number(absl::string_view text, bool* fresh) {
    const auto it = numbers_.find(text);
    *fresh = it == numbers_.end();
    if (!*fresh) return it->second;
    numbers_.emplace(std::string(text), numbers_.size() + 1);
    return numbers_.size();
  }

 private:
  absl::flat_hash_map<std::string, uint64_t> numbers_;
};

class PerfettoWriter : public TimelineWriter {
 public:
  explicit PerfettoWriter(WriteBytes write) : TimelineWriter(std::move(write)) {
    packet_.set_sequence_flags(kCleared);
    packet_.mutable_track_descriptor()->set_uuid(0);
    packet_.mutable_track_descriptor()->set_process_ordering(
        perfetto::TrackDescriptor::PROCESS_ORDERING_EXPLICIT);
    Emit();
  }

  void Process(int pid, int place, absl::string_view name) override {
    process_ = ++tracks_;
    perfetto::TrackDescriptor* track = Begin().mutable_track_descriptor();
    track->set_uuid(process_);
    track->set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
    track->set_sibling_order_rank(place);
    track->mutable_process()->set_pid(pid);
    track->mutable_process()->set_legacy_sort_index(place);
    track->mutable_process()->set_process_name(ToUtf8(name));
    Emit();
  }

  void Track(int place, absl::string_view name) override {
    Describe(place, name);
    Emit();
  }

  absl::Status Slice(const TimelineSlice& slice) override {
    const int64_t begin = Nanos(slice.span.begin), end = Nanos(slice.span.end);
    perfetto::TrackEvent* event = BeginSlice(begin, slice.name, slice.category);
    for (const TimelineValue& value : slice.values) AddValue(value, event);
    // Leaves out an arrow within one nanosecond, which would have no direction.
    const auto drawn = [](const TimelineArrow& a) { return Nanos(a.from.begin) < Nanos(a.to.end); };
    for (const TimelineArrow& a : slice.arrows) {
      if (!a.leaves || !drawn(a)) continue;
      event->add_flow_ids(a.id);
      ++arrows_;
    }
    Emit();
    if (!slice.wait.empty() && Nanos(slice.wait_end) > begin) {
      BeginSlice(begin, slice.wait, "wait");
      Emit();
      Event(Nanos(slice.wait_end), perfetto::TrackEvent::TYPE_SLICE_END);
      Emit();
    }
    event = Event(end, perfetto::TrackEvent::TYPE_SLICE_END);
    for (const TimelineArrow& a : slice.arrows) {
      if (!a.leaves && drawn(a)) event->add_terminating_flow_ids(a.id);
    }
    Emit();
    return Flush();
  }

  void Counter(int place, absl::string_view name, absl::string_view unit) override {
    perfetto::CounterDescriptor* counter = Describe(place, name)->mutable_counter();
    if (unit == "bytes") {
      counter->set_unit(perfetto::CounterDescriptor::UNIT_SIZE_BYTES);
    } else {
      counter->set_unit_name(std::string(unit));
    }
    Emit();
  }

  absl::Status Sample(Time at, double value) override {
    Event(Nanos(at), perfetto::TrackEvent::TYPE_COUNTER)->set_double_counter_value(value);
    Emit();
    return Flush();
  }

  absl::Status Finish() override { return Flush(true); }

 private:
  perfetto::TracePacket& Begin() {
    packet_.Clear();
    return packet_;
  }
  perfetto::TrackDescriptor* Describe(int place, absl::string_view name) {
    perfetto::TrackDescriptor* track = Begin().mutable_track_descriptor();
    track->set_uuid(++tracks_);
    track->set_parent_uuid(process_);
    track->set_name(ToUtf8(name));
    track->set_sibling_order_rank(place);
    return track;
  }
  // Begins an event on the current track.
  perfetto::TrackEvent* Event(int64_t nanos, perfetto::TrackEvent::Type type) {
    perfetto::TracePacket& packet = Begin();
    packet.set_timestamp(static_cast<uint64_t>(nanos));
    packet.set_sequence_flags(kNeedsState);
    packet.mutable_track_event()->set_type(type);
    packet.mutable_track_event()->set_track_uuid(tracks_);
    return packet.mutable_track_event();
  }
  perfetto::TrackEvent* BeginSlice(int64_t nanos, absl::string_view name, absl::string_view category) {
    perfetto::TrackEvent* event = Event(nanos, perfetto::TrackEvent::TYPE_SLICE_BEGIN);
    bool fresh = false;
    event->set_name_iid(names_.Number(name, &fresh));
    if (fresh) Add(event->name_iid(), name, packet_.mutable_interned_data()->add_event_names());
    const uint64_t number = categories_.Number(category, &fresh);
    event->add_category_iids(number);
    if (fresh) Add(number, category, packet_.mutable_interned_data()->add_event_categories());
    return event;
  }
  static void Add(uint64_t number, absl::string_view name, perfetto::InternedName* to) {
    to->set_iid(number);
    to->set_name(ToUtf8(name));
  }
  void AddValue(const TimelineValue& value, perfetto::TrackEvent* event) {
    perfetto::DebugAnnotation* to = event->add_debug_annotations();
    bool fresh = false;
    to->set_name_iid(keys_.Number(value.key, &fresh));
    if (fresh) Add(to->name_iid(), value.key, packet_.mutable_interned_data()->add_debug_annotation_names());
    if (value.text.data() == nullptr) {
      to->set_uint_value(value.number);
      return;
    }
    to->set_string_value_iid(texts_.Number(value.text, &fresh));
    if (!fresh) return;
    perfetto::InternedString* text = packet_.mutable_interned_data()->add_debug_annotation_string_values();
    text->set_iid(to->string_value_iid());
    text->set_str(ToUtf8(value.text));
  }
  // Appends the packet as field `packet` of a Trace.
  void Emit() {
    packet_.set_trusted_packet_sequence_id(kSequence);
    out_.push_back((perfetto::Trace::kPacketFieldNumber << 3) | 2);  // length-delimited
    size_t bytes = packet_.ByteSizeLong();
    for (; bytes > 0x7f; bytes >>= 7) out_.push_back(static_cast<char>((bytes & 0x7f) | 0x80));
    out_.push_back(static_cast<char>(bytes));
    packet_.AppendToString(&out_);
  }

  perfetto::TracePacket packet_;
  Interned names_, categories_, keys_, texts_;
  uint64_t tracks_ = 0;  // number of tracks; the last one is the current track
  uint64_t process_ = 0;
};

}  // namespace

std::unique_ptr<TimelineWriter> NewPerfettoWriter(WriteBytes write) {
  return std::make_unique<PerfettoWriter>(std::move(write));
}

}  // namespace chakra
