#include "replay/engine/flow_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trace/base/utf8.h"

namespace chakra {
namespace {

constexpr size_t kFlushAt = 1 << 16;
constexpr char kHeader[] =
    "flow,src_rank,dst_rank,src_device,dst_device,bytes,wire_bytes,kind,group,call,step,part,start_ps,sent_"
    "ps,"
    "received_ps,time_ps,alone_ps,slowdown\n";

}  // namespace

FlowLog::FlowLog(WriteBytes write)
    : write_(std::move(write)), buffer_(kHeader), labels_{","}, label_{{",", 0}} {}

void FlowLog::SetRanks(const std::vector<int>& device_of, int ranks) {
  ranks_known_ = true;
  rank_on_.clear();
  for (int rank = 0; rank < ranks; ++rank) {
    const auto device = static_cast<size_t>(device_of.empty() ? rank : device_of[static_cast<size_t>(rank)]);
    if (device >= rank_on_.size()) rank_on_.resize(device + 1, -1);
    rank_on_[device] = rank;
  }
}

void FlowLog::Name(const FlowOrigin& origin) {
  scratch_ = absl::StrCat(CsvField(origin.kind), ",", CsvField(ToUtf8(origin.group)));
  const auto [it, fresh] = label_.try_emplace(scratch_, static_cast<uint32_t>(labels_.size()));
  if (fresh) labels_.push_back(scratch_);
  named_.origin = it->second;
  named_.call = origin.call;
  named_.step = origin.step.value_or(kNone);
  named_.part = origin.part;
}

void FlowLog::Start(const Flow& flow, const FlowCost& alone, Time now) {
  Open o = std::exchange(named_, Open());
  o.id = flows_++;
  o.src = flow.src;
  o.dst = flow.dst;
  o.bytes = flow.bytes;
  o.wire_bytes = flow.OnLinks();
  o.start = now;
  o.alone_sent = alone.sent;
  o.alone = alone.received() + flow.delay;
  o.want_sent = flow.want_sent;
  uint32_t slot = static_cast<uint32_t>(open_.size());
  if (free_.empty()) {
    open_.push_back(o);
  } else {
    slot = free_.back();
    free_.pop_back();
    open_[slot] = o;
  }
  Queue& queue = by_tag_[flow.tag];
  (queue.first == kNone ? queue.first : open_[queue.last].next) = slot;
  queue.last = slot;
}

void FlowLog::End(const FlowEnd& end, bool exact) {
  const auto found = by_tag_.find(end.tag);
  if (found == by_tag_.end()) return;
  const bool sent = end.kind == FlowEnd::kSent;
  uint32_t before = kNone, at = found->second.first;
  const auto is_it = [&](const Open& o) {
    if (sent ? !o.want_sent || o.sent.has_value() : o.received.has_value()) return false;
    return !exact || o.start + (sent ? o.alone_sent : o.alone) == end.at;
  };
  while (at != kNone && !is_it(open_[at])) before = std::exchange(at, open_[at].next);
  if (at == kNone) return;
  Open& flow = open_[at];
  (sent ? flow.sent : flow.received) = end.at;
  if (!flow.received || (flow.want_sent && !flow.sent)) return;
  if (flow.alone > Time::Zero() && flow.alone != Time::Never()) {
    times_.Add(flow.bytes, *flow.received - flow.start, flow.alone);
  }
  Row(flow);
  Queue& queue = found->second;
  (before == kNone ? queue.first : open_[before].next) = flow.next;
  if (queue.last == at) queue.last = before;
  if (queue.first == kNone) by_tag_.erase(found);
  free_.push_back(at);
}

void FlowLog::Endpoints(const Open& flow) {
  for (const int device : {flow.src, flow.dst}) {
    const auto d = static_cast<size_t>(device);
    const int rank = !ranks_known_ ? device : d < rank_on_.size() ? rank_on_[d] : -1;
    absl::StrAppend(&buffer_, ",");
    if (rank >= 0) absl::StrAppend(&buffer_, rank);
  }
  absl::StrAppend(&buffer_, ",", flow.src, ",", flow.dst);
}

void FlowLog::Row(const Open& flow) {
  if (!status_.ok()) return;
  absl::StrAppend(&buffer_, flow.id);
  Endpoints(flow);
  absl::StrAppend(&buffer_, ",", flow.bytes, ",", flow.wire_bytes, ",", labels_[flow.origin], ",");
  if (flow.origin != 0) absl::StrAppend(&buffer_, flow.call);
  absl::StrAppend(&buffer_, ",");
  if (flow.step != kNone) absl::StrAppend(&buffer_, flow.step, ",", flow.part);
  if (flow.step == kNone) absl::StrAppend(&buffer_, ",");
  absl::StrAppend(&buffer_, ",", flow.start.picos(), ",");
  if (flow.sent) absl::StrAppend(&buffer_, flow.sent->picos());
  absl::StrAppend(&buffer_, ",");
  const int64_t time = flow.received ? (*flow.received - flow.start).picos() : 0;
  if (flow.received) absl::StrAppend(&buffer_, flow.received->picos(), ",", time);
  absl::StrAppend(&buffer_, flow.received ? "," : ",,");
  const bool way = flow.alone != Time::Never();
  if (way) absl::StrAppend(&buffer_, flow.alone.picos());
  buffer_ += ',';
  if (way && flow.received && flow.alone > Time::Zero()) {
    absl::StrAppendFormat(&buffer_, "%.6f",
                          static_cast<double>(time) / static_cast<double>(flow.alone.picos()));
  }
  buffer_ += '\n';
  if (buffer_.size() >= kFlushAt) Flush();
}

void FlowLog::Flush() {
  if (status_.ok()) status_ = write_(buffer_);
  buffer_.clear();
}

absl::Status FlowLog::Finish() {
  std::vector<const Open*> left;
  for (const auto& [tag, queue] : by_tag_) {
    for (uint32_t i = queue.first; i != kNone; i = open_[i].next) left.push_back(&open_[i]);
  }
  std::sort(left.begin(), left.end(), [](const Open* a, const Open* b) { return a->id < b->id; });
  for (const Open* flow : left) Row(*flow);
  Flush();
  by_tag_.clear();
  return status_;
}

FlowId LoggedFabric::Start(const Flow& flow, Time now) {
  log_->Start(flow, prices_.Cost(flow.src, flow.dst, flow.OnLinks()).Limited(flow.OnLinks(), flow.limit),
              now);
  return inner_->Start(flow, now);
}

void LoggedFabric::AdvanceTo(Time t, std::vector<FlowEnd>* ended) {
  const size_t before = ended->size();
  inner_->AdvanceTo(t, ended);
  const bool exact = prices_.contention_free();
  for (size_t i = before; i < ended->size(); ++i) log_->End((*ended)[i], exact);
}

void LogFlows(FlowLog* log, Machine* machine) {
  if (log == nullptr) return;
  machine->Wrap([&](std::unique_ptr<Fabric> inner) {
    return std::make_unique<LoggedFabric>(std::move(inner), machine->prices(), log);
  });
}

}  // namespace chakra
