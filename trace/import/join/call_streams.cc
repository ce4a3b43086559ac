#include "trace/import/join/call_streams.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace chakra::pytorch {
namespace {

bool EndsTogether(CommOp op) {
  return op == CommOp::kAllReduce || op == CommOp::kAllGather || op == CommOp::kAllToAll ||
         op == CommOp::kReduceScatter || op == CommOp::kBarrier;
}

// Hash of a call's kind, sizes and element type. Sizes count only if they are equal on all members.
uint64_t KeyOf(const CommCall& call) {
  const bool sized =
      call.op != CommOp::kAllToAll && call.op != CommOp::kGather && call.op != CommOp::kScatter;
  return absl::HashOf(call.op, sized ? call.in_bytes : 0, sized ? call.out_bytes : 0, call.dtype);
}

// The positions, by thread number, of the threads of a rank that carry collectives.
std::map<uint32_t, uint32_t> ThreadOrder(const DeviceTrace& d, const std::set<uint32_t>& lanes) {
  std::vector<std::tuple<bool, int64_t, std::string, uint32_t>> all;
  for (const uint32_t lane : lanes) {
    int64_t number = 0;
    const bool text = !absl::SimpleAtoi(d.threads[lane].tid, &number);
    all.emplace_back(text, number, d.threads[lane].tid, lane);
  }
  std::sort(all.begin(), all.end());
  std::map<uint32_t, uint32_t> order;
  for (const auto& thread : all) order.emplace(std::get<3>(thread), static_cast<uint32_t>(order.size()));
  return order;
}

// Collects the calls of one rank by stream.
class RankStreams {
 public:
  RankStreams(const CaptureRank& rank, uint32_t captured, HostStreams how, const MixedStreams& mixed)
      : rank_(rank), captured_(captured), how_(how), mixed_(mixed), steps_(rank) {}

  void Add(const TimelineNode& node) { nodes_.push_back(&node); }
  void Finish(int machine, CallStreams* out);

 private:
  const CommCall& CallOf(const TimelineNode& node) const { return rank_.timeline.comms[node.comm]; }
  uint32_t LaneOf(const TimelineNode& node) const { return rank_.PlaceOf(node).lane; }
  std::string StreamOf(const TimelineNode& node) const;
  static std::string SizeOf(const CommCall& call) {
    return absl::StrCat("size ", static_cast<int>(call.op), " ", call.in_bytes, " ", call.out_bytes);
  }
  void FindPointers();

  const CaptureRank& rank_;
  const uint32_t captured_;
  const HostStreams how_;
  const MixedStreams& mixed_;
  const StepMarks steps_;
  std::vector<const TimelineNode*> nodes_;
  std::map<uint32_t, uint32_t> thread_order_;
  std::map<uint32_t, std::set<std::string>> pointers_;  // pointers to groups, by device stream
};

void RankStreams::FindPointers() {
  std::set<uint32_t> threads;
  for (const TimelineNode* node : nodes_) {
    if (node->host) {
      threads.insert(LaneOf(*node));
    } else if (IsPointer(CallOf(*node).group)) {
      pointers_[LaneOf(*node)].insert(CallOf(*node).group);
    }
  }
  thread_order_ = ThreadOrder(*rank_.device, threads);
}

// A text that is equal for the calls of one stream of this rank.
std::string RankStreams::StreamOf(const TimelineNode& node) const {
  const CommCall& call = CallOf(node);
  if (IsPointer(call.group)) return absl::StrCat("pointer ", call.group);
  if (!call.group.empty()) return absl::StrCat("name ", call.group);
  if (!node.host) {
    const auto known = pointers_.find(LaneOf(node));
    if (known != pointers_.end() && known->second.size() == 1)
      return absl::StrCat("pointer ", *known->second.begin());
    const bool mixed = mixed_.contains({captured_, LaneOf(node)});
    return absl::StrCat("stream ", LaneOf(node), mixed ? SizeOf(call) : "");
  }
  switch (how_) {
    case HostStreams::kPairs:
      return absl::StrCat("threads ", thread_order_.at(LaneOf(node)) / 2);
    case HostStreams::kAll:
      return "threads";
    case HostStreams::kSizes:
      return SizeOf(call);
    case HostStreams::kThreads:
      return absl::StrCat("thread ", LaneOf(node));
  }
  return "";
}

void RankStreams::Finish(int machine, CallStreams* out) {
  FindPointers();
  std::map<std::string, std::vector<const TimelineNode*>> by_stream;
  // By stream: the group sizes that its calls show, and the source of each.
  std::map<std::string, std::map<int64_t, std::string>> sizes;
  for (const TimelineNode* node : nodes_) {
    const std::string stream = StreamOf(*node);
    std::string from;
    const int64_t size = MembersBySize(CallOf(*node), &from);
    if (size > 0) sizes[stream].emplace(size, from);
    by_stream[stream].push_back(node);
    out->on_host = out->on_host || node->host;
  }
  // Row of CallStreams::streams, by stream and size.
  std::map<std::pair<std::string, int64_t>, uint32_t> rows;
  for (const auto& [stream, nodes] : by_stream) {
    const std::map<int64_t, std::string>& told = sizes[stream];
    for (const TimelineNode* node : nodes) {
      std::string from;
      int64_t size = MembersBySize(CallOf(*node), &from);
      // If the calls of the stream show one size, it holds for all of them. If they show several sizes, each
      // size is a group of its own.
      if (told.size() == 1) std::tie(size, from) = *told.begin();
      const auto [it, fresh] = rows.try_emplace({stream, size}, static_cast<uint32_t>(out->streams.size()));
      if (fresh) {
        CallStream& made = out->streams.emplace_back();
        made.rank = rank_.rank;
        made.machine = machine;
        made.size = size;
        made.size_from = from;
        made.device = !node->host;
        if (absl::StartsWith(stream, "name ")) made.label = stream.substr(5);
        out->captured.push_back(captured_);
        out->comms.emplace_back();
        out->lane.push_back(absl::StartsWith(stream, "stream ") ? LaneOf(*node) : kNoRow);
      }
      out->streams[it->second].calls.push_back(Comparable(rank_, steps_, *node));
      out->comms[it->second].push_back(node->comm);
    }
  }
}

}  // namespace

bool IsPointToPoint(CommOp op) { return op == CommOp::kSend || op == CommOp::kRecv; }

bool IsPointer(const std::string& group) {
  return group.size() > 6 &&
         std::all_of(group.begin(), group.end(), [](char c) { return c >= '0' && c <= '9'; });
}

int64_t MembersBySize(const CommCall& call, std::string* from) {
  if (call.group_size > 0) {
    *from = "the group's size";
    return call.group_size;
  }
  if (call.op == CommOp::kAllToAll && !call.in_split.empty()) {
    *from = "the number of splits of all_to_all";
    return static_cast<int64_t>(call.in_split.size());
  }
  const int64_t in = call.in_bytes, out = call.out_bytes;
  if (call.op == CommOp::kAllGather && in > 0 && out >= in && out % in == 0) {
    *from = "all_gather's output by its input";
    return out / in;
  }
  if (call.op == CommOp::kReduceScatter && out > 0 && in >= out && in % out == 0) {
    *from = "reduce_scatter's input by its output";
    return in / out;
  }
  return 0;
}

StepMarks::StepMarks(const CaptureRank& rank) : rank_(rank) {
  const Timeline& t = rank.timeline;
  for (const TimelineStep& step : t.steps) {
    int64_t number = 0;
    absl::string_view name = step.name;
    if (!absl::ConsumePrefix(&name, "ProfilerStep#") || !absl::SimpleAtoi(name, &number) || number < 0)
      continue;
    marks_.push_back({t.nodes[step.first].start, t.nodes[step.last].start + t.nodes[step.last].dur, number});
  }
  std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) { return a.begin < b.begin; });
}

int64_t StepMarks::Of(const TimelineNode& node) const {
  const int64_t at = rank_.PlaceOf(node).called;
  const auto after = std::upper_bound(marks_.begin(), marks_.end(), at,
                                      [](int64_t t, const Mark& m) { return t < m.begin; });
  if (after == marks_.begin()) return StreamCall::kNoStep;
  const Mark& mark = *std::prev(after);
  return at < mark.end ? mark.number : StreamCall::kNoStep;
}

StreamCall Comparable(const CaptureRank& rank, const StepMarks& steps, const TimelineNode& node) {
  const CommCall& call = rank.timeline.comms[node.comm];
  const int64_t base = rank.device == nullptr ? 0 : rank.device->base_ns;
  return {KeyOf(call), steps.Of(node), base + node.start, base + node.start + node.dur,
          EndsTogether(call.op)};
}

CallStreams CollectStreams(const std::vector<CaptureRank>& ranks, const std::vector<int>& machine,
                           HostStreams how, const MixedStreams& mixed,
                           const std::function<bool(uint32_t rank, uint32_t comm)>& wanted) {
  CallStreams out;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    RankStreams streams(ranks[r], r, how, mixed);
    for (const TimelineNode& node : ranks[r].timeline.nodes) {
      if (node.comm == kNoRow || node.event == kNoRow) continue;
      if (!IsPointToPoint(ranks[r].timeline.comms[node.comm].op) && wanted(r, node.comm)) streams.Add(node);
    }
    streams.Finish(machine[r], &out);
  }
  return out;
}

}  // namespace chakra::pytorch
