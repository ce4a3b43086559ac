// Writes the JSON of trace events, one event on each line.
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/engine/spans.h"
#include "replay/timeline/writer.h"
#include "trace/base/json_text.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr uint64_t kExact = uint64_t{1} << 53;  // a double holds whole numbers up to this

void AppendString(absl::string_view text, std::string* out) { AppendJsonText(ToUtf8(text), out); }

// Appends a time in microseconds, exactly.
void AppendTime(Time t, std::string* out) {
  const int64_t ps = t.picos();
  absl::StrAppend(out, ps / 1000000);
  if (ps % 1000000 == 0) return;
  char digits[8] = {'.'};
  int64_t rest = ps % 1000000;
  for (int i = 6; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  size_t n = 7;
  while (digits[n - 1] == '0') --n;
  out->append(digits, n);
}

class ChromeJsonWriter : public TimelineWriter {
 public:
  explicit ChromeJsonWriter(WriteBytes write) : TimelineWriter(std::move(write)) {
    out_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  }

  void Process(int pid, int place, absl::string_view name) override {
    pid_ = pid;
    track_ = 0;
    Metadata("process_name", "name", name);
    Metadata("process_sort_index", "sort_index", place);
  }

  void Track(int place, absl::string_view name) override {
    track_ = place;
    Metadata("thread_name", "name", name);
    Metadata("thread_sort_index", "sort_index", place);
  }

  absl::Status Slice(const TimelineSlice& slice) override {
    BeginSlice(slice.name, slice.category, slice.span.begin, slice.span.end);
    absl::StrAppend(&out_, ",\"args\":{");
    const char* comma = "";
    for (const TimelineValue& value : slice.values) {
      absl::StrAppend(&out_, comma, "\"", value.key, "\":");
      comma = ",";
      if (value.text.data() != nullptr) {
        AppendString(value.text, &out_);
      } else {
        absl::StrAppend(&out_, value.number > kExact ? "\"" : "", value.number,
                        value.number > kExact ? "\"" : "");
      }
    }
    out_ += "}}";
    if (!slice.wait.empty() && Nanos(slice.wait_end) > Nanos(slice.span.begin)) {
      BeginSlice(slice.wait, "wait", slice.span.begin, slice.wait_end);
      out_ += '}';
    }
    for (const TimelineArrow& a : slice.arrows) Arrow(a);
    return Flush();
  }

  void Counter(int /*place*/, absl::string_view name, absl::string_view unit) override {
    counter_.clear();
    AppendString(name, &counter_);
    unit_ = std::string(unit);
  }

  absl::Status Sample(Time at, double value) override {
    Event("C");
    absl::StrAppend(&out_, ",\"name\":", counter_, ",\"ts\":");
    AppendTime(at, &out_);
    absl::StrAppend(&out_, ",\"args\":{\"", unit_, "\":");
    if (value == std::floor(value) && value < static_cast<double>(kExact)) {
      absl::StrAppend(&out_, static_cast<uint64_t>(value), "}}");
    } else {
      absl::StrAppendFormat(&out_, "%.6f}}", value);
    }
    return Flush();
  }

  absl::Status Finish() override {
    out_ += "\n]}\n";
    return Flush(true);
  }

 private:
  void Event(const char* phase) {
    absl::StrAppend(&out_, first_ ? "\n" : ",\n", "{\"ph\":\"", phase, "\",\"pid\":", pid_);
    first_ = false;
    if (track_ > 0) absl::StrAppend(&out_, ",\"tid\":", track_);
  }
  void Metadata(const char* what, const char* key, absl::string_view text) {
    Event("M");
    absl::StrAppend(&out_, ",\"name\":\"", what, "\",\"args\":{\"", key, "\":");
    AppendString(text, &out_);
    out_ += "}}";
  }
  void Metadata(const char* what, const char* key, int number) {
    Event("M");
    absl::StrAppend(&out_, ",\"name\":\"", what, "\",\"args\":{\"", key, "\":", number, "}}");
  }
  void BeginSlice(absl::string_view name, const char* category, Time begin, Time end) {
    Event("X");
    out_ += ",\"name\":";
    AppendString(name, &out_);
    absl::StrAppend(&out_, ",\"cat\":\"", category, "\",\"ts\":");
    AppendTime(begin, &out_);
    out_ += ",\"dur\":";
    AppendTime(end - begin, &out_);
  }

  // Viewers find the slice at an arrow's end by time, with begins and durations cut to nanoseconds. An arrow
  // arrives at least a nanosecond after it left; nullopt if there is no such time inside both slices.
  static std::optional<Time> Arrival(const TimelineArrow& a) {
    const auto last = [](const NodeSpan& s) { return Nanos(s.begin) + Nanos(s.end - s.begin); };
    const Time at = std::max(a.to.begin, a.from.begin + Time::Nanos(1));
    if (Nanos(a.from.begin) >= last(a.from) || Nanos(at) >= last(a.to)) return std::nullopt;
    return at;
  }
  void Arrow(const TimelineArrow& a) {
    const std::optional<Time> arrival = Arrival(a);
    if (!arrival.has_value()) return;
    Event(a.leaves ? "s" : "f");
    absl::StrAppend(&out_, a.leaves ? "" : ",\"bp\":\"e\"", ",\"id\":", a.id,
                    ",\"name\":\"waited for\",\"cat\":\"comm\",\"ts\":");
    AppendTime(a.leaves ? a.from.begin : *arrival, &out_);
    out_ += '}';
    if (a.leaves) ++arrows_;
  }

  int pid_ = 0;
  int track_ = 0;  // 0: the process itself
  bool first_ = true;
  std::string counter_, unit_;
};

}  // namespace

std::unique_ptr<TimelineWriter> NewChromeJsonWriter(WriteBytes write) {
  return std::make_unique<ChromeJsonWriter>(std::move(write));
}

}  // namespace chakra
