#include "trace/import/recorded/device_rows.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/import/capture/event_order.h"

namespace chakra::pytorch {
uint32_t DeviceRows::Thread(int64_t pid, int64_t tid, absl::string_view name) {
  const auto [it, fresh] = threads_.try_emplace({pid, tid}, static_cast<uint32_t>(out_->threads.size()));
  if (fresh) out_->threads.push_back({pid, absl::StrCat(tid), std::string(name)});
  return it->second;
}

uint32_t DeviceRows::Stream(int device, int64_t stream) {
  const std::pair<int64_t, int64_t> key = {device, stream};
  if (last_stream_row_ != kNoRow && key == last_stream_) return last_stream_row_;
  const auto [it, fresh] = streams_.try_emplace(key, static_cast<uint32_t>(out_->streams.size()));
  if (fresh) out_->streams.push_back({device, stream});
  last_stream_ = key;
  return last_stream_row_ = it->second;
}

uint32_t DeviceRows::Add(absl::string_view name, uint32_t lane, uint32_t extra, const EventSpan& span) {
  Event e;
  e.ts = span.begin;
  e.dur = span.end - span.begin;
  e.correlation = span.correlation;
  e.name = out_->strings.Intern(name);
  e.lane = lane;
  e.extra = extra;
  e.kind = span.kind;
  out_->events.push_back(e);
  return static_cast<uint32_t>(out_->events.size() - 1);
}

uint32_t DeviceRows::AddHost(absl::string_view name, uint32_t thread, const EventSpan& span) {
  return Add(name, thread, kNoRow, span);
}

uint32_t DeviceRows::AddDevice(absl::string_view name, uint32_t stream, const EventSpan& span,
                               DeviceExtra extra) {
  out_->device.push_back(extra);
  return Add(name, stream, static_cast<uint32_t>(out_->device.size() - 1), span);
}

uint32_t DeviceRows::AddComm(CommCall call) {
  out_->comms.push_back(std::move(call));
  return static_cast<uint32_t>(out_->comms.size() - 1);
}

void DeviceRows::SetCall(uint32_t event, uint32_t comm) {
  OpExtra extra;
  extra.comm = comm;
  out_->events[event].extra = static_cast<uint32_t>(out_->ops.size());
  out_->ops.push_back(extra);
}

void DeviceRows::SetStream(uint32_t event, int64_t stream) {
  out_->events[event].extra = static_cast<uint32_t>(out_->runtime.size());
  out_->runtime.push_back({stream, kNone});
}

void DeviceRows::Finish(int64_t base) {
  std::vector<Event>& events = out_->events;
  const std::vector<uint32_t> order = OrderOfEvents(events);
  std::vector<uint32_t> row(events.size());
  std::vector<Event> sorted;
  sorted.reserve(events.size());
  for (const uint32_t i : order) {
    row[i] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(events[i]);
    sorted.back().ts -= base;
  }
  events = std::move(sorted);
  for (DeviceWait& w : out_->waits) w = {row[w.op], row[w.source]};
  std::sort(out_->waits.begin(), out_->waits.end(), [](const DeviceWait& a, const DeviceWait& b) {
    return std::tie(a.op, a.source) < std::tie(b.op, b.source);
  });
  for (DeviceStep& step : out_->steps) {
    step.begin -= base;
    step.end -= base;
  }
  std::sort(out_->steps.begin(), out_->steps.end(), [](const DeviceStep& a, const DeviceStep& b) {
    return std::tie(a.begin, a.number) < std::tie(b.begin, b.number);
  });
  out_->base_ns = base;
}

int64_t StepNumber(absl::string_view name) {
  static constexpr absl::string_view kWords[] = {"profilerstep", "iteration", "iter", "step", "train_step"};
  const std::string lower = absl::AsciiStrToLower(name);
  for (const absl::string_view word : kWords) {
    absl::string_view rest = lower;
    if (!absl::ConsumePrefix(&rest, word)) continue;
    while (!rest.empty() && absl::StrContains(" _#:=-", rest[0])) rest.remove_prefix(1);
    int64_t n = -1;
    if (absl::SimpleAtoi(rest, &n) && n >= 0) return n;
  }
  return -1;
}

}  // namespace chakra::pytorch
