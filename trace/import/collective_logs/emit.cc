#include "trace/import/collective_logs/emit.h"

#include <algorithm>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/base/wire.h"
#include "trace/import/collective_logs/steps.h"
#include "trace/model/groups.h"
#include "trace/model/node_fields.h"

namespace chakra::collective_logs {
namespace {

constexpr int64_t kComputeStream = 0;
constexpr uint64_t kRoot = 1;  // the node of the begin of the run

class LogEmitter {
 public:
  LogEmitter(const JoinedLogs& joined, size_t r, absl::string_view format, EtWriter* writer)
      : joined_(joined), rank_(joined.ranks[r]), format_(format), writer_(writer) {}
  absl::Status Run();

 private:
  absl::Status Metadata();
  absl::Status Head();
  absl::Status Between(int64_t begin, int64_t end);
  absl::Status Call(const LogCall& call);
  void Open(uint64_t id, absl::string_view name, NodeType type, int64_t begin, int64_t duration);
  void Deps();
  void Integer(absl::string_view name, ValueField kind, int64_t v);
  void Text(absl::string_view name, absl::string_view v);

  struct Running {
    int64_t end;
    uint64_t node;
    bool operator<(const Running& o) const { return end != o.end ? end > o.end : node > o.node; }
  };
  const JoinedLogs& joined_;
  const JoinedRank& rank_;
  const absl::string_view format_;
  EtWriter* writer_;
  std::string frame_;
  std::vector<uint64_t> node_of_;  // by call
  uint64_t next_ = kRoot + 1;
  std::vector<uint64_t> after_ = {kRoot};  // what the next node waits for
  int64_t now_ = 0;                        // when `after_` are done
};

void LogEmitter::Integer(absl::string_view name, ValueField kind, int64_t v) {
  const auto field = static_cast<uint32_t>(kind);
  const auto bits = static_cast<uint64_t>(v);
  wire::AppendTag(kNodeAttr, wire::kBytes, &frame_);
  wire::AppendVarint(
      1 + wire::VarintSize(name.size()) + name.size() + wire::VarintSize(field << 3) + wire::VarintSize(bits),
      &frame_);
  wire::AppendText(kAttrName, name, &frame_);
  wire::AppendNumber(field, bits, &frame_);
}

void LogEmitter::Text(absl::string_view name, absl::string_view v) {
  constexpr auto kField = static_cast<uint32_t>(ValueField::kString);
  wire::AppendTag(kNodeAttr, wire::kBytes, &frame_);
  wire::AppendVarint(1 + wire::VarintSize(name.size()) + name.size() + wire::VarintSize(kField << 3) +
                         wire::VarintSize(v.size()) + v.size(),
                     &frame_);
  wire::AppendText(kAttrName, name, &frame_);
  wire::AppendText(kField, v, &frame_);
}

absl::Status LogEmitter::Metadata() {
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  const auto add = [&](const char* name) {
    ChakraProtoMsg::AttributeProto* a = metadata.add_attr();
    a->set_name(name);
    return a;
  };
  const std::string format(format_);
  add("schema")->set_string_val(format);
  add("capture")->set_string_val("collective_logs");
  add("rank")->set_int64_val(rank_.log.rank);
  add("window_end_ns")->set_int64_val(joined_.timed ? rank_.end_ns : 0);
  ChakraProtoMsg::AttributeProto *names = add("step_names"), *first = add("step_first_nodes"),
                                 *last = add("step_last_nodes");
  names->mutable_string_list();
  first->mutable_uint64_list();
  last->mutable_uint64_list();
  const std::vector<uint32_t> steps = joined_.timed ? FindSteps(rank_.log.calls) : std::vector<uint32_t>();
  // A step lasts until the next one begins: what is computed before that belongs to it.
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    names->mutable_string_list()->add_values(absl::StrCat("step#", i));
    first->mutable_uint64_list()->add_values(node_of_[steps[i]]);
    last->mutable_uint64_list()->add_values(steps[i + 1] < node_of_.size() ? node_of_[steps[i + 1]] - 1
                                                                           : node_of_.back());
  }
  return writer_->AddMetadata(metadata);
}

absl::Status LogEmitter::Head() {
  Groups groups;
  for (const int g : rank_.groups)
    groups.emplace(joined_.group_names[static_cast<size_t>(g)], joined_.members[static_cast<size_t>(g)]);
  frame_.clear();
  wire::AppendText(kNodeName, "## process_group:init ##", &frame_);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(NodeType::kMetadata), &frame_);
  std::string inner;
  wire::AppendText(kIoValues, GroupNodeText(groups), &inner);
  wire::AppendText(kNodeInputs, inner, &frame_);
  Integer("is_cpu_op", ValueField::kBool, 1);
  if (absl::Status s = writer_->AddFrame(frame_); !s.ok()) return s;
  Open(kRoot, "[capture window]", NodeType::kMetadata, 0, 0);
  Integer("is_cpu_op", ValueField::kBool, 1);
  return writer_->AddFrame(frame_);
}

void LogEmitter::Open(uint64_t id, absl::string_view name, NodeType type, int64_t begin, int64_t duration) {
  frame_.clear();
  wire::AppendNumber(kNodeId, id, &frame_);
  wire::AppendText(kNodeName, name, &frame_);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(type), &frame_);
  if (type == NodeType::kMetadata) return;
  Integer("is_cpu_op", ValueField::kBool, 0);
  Integer("start_ns", ValueField::kInt64, begin);
  Integer("duration_ns", ValueField::kInt64, duration);
}

void LogEmitter::Deps() {
  size_t packed = 0;
  for (const uint64_t d : after_) packed += wire::VarintSize(d);
  wire::AppendTag(kNodeDataDeps, wire::kBytes, &frame_);
  wire::AppendVarint(packed, &frame_);
  for (const uint64_t d : after_) wire::AppendVarint(d, &frame_);
}

absl::Status LogEmitter::Between(int64_t begin, int64_t end) {
  if (end <= begin) return absl::OkStatus();
  Open(next_, "[between calls]", NodeType::kComp, begin, end - begin);
  Integer("stream", ValueField::kInt64, kComputeStream);
  Deps();
  Text("category", "between_calls");
  after_ = {next_++};
  now_ = end;
  return writer_->AddFrame(frame_);
}

absl::Status LogEmitter::Call(const LogCall& call) {
  const auto g = static_cast<size_t>(rank_.groups[call.comm]);
  const bool kept = call.lost || call.op == kLogUnknown;
  const bool collective = IsCollective(call.op);
  const NodeType type = kept                  ? NodeType::kComp
                        : collective          ? NodeType::kCollective
                        : call.op == kLogSend ? NodeType::kSend
                                              : NodeType::kRecv;
  Open(next_, NameOfOp(call.op), type, call.start_ns, call.duration_ns);
  // Messages that were launched together run beside each other: they have no stream.
  if (collective) Integer("stream", ValueField::kInt64, kComputeStream + 1 + static_cast<int64_t>(call.comm));
  Deps();
  if (kept) Text("comm_kind", NameOfOp(call.op));
  Text("pg_name", joined_.group_names[g]);
  if (call.bytes > 0 || call.op == static_cast<uint8_t>(CollectiveType::kBarrier))
    Integer("comm_size", ValueField::kInt64, static_cast<int64_t>(call.bytes));
  if (!kept) {
    const int other = call.peer >= 0 && call.peer < static_cast<int>(joined_.members[g].size())
                          ? joined_.members[g][static_cast<size_t>(call.peer)]
                          : kNoRank;
    if (collective) Integer("comm_type", ValueField::kInt64, call.op);
    if (collective && other != kNoRank) Integer("root", ValueField::kInt32, other);
    if (call.op == kLogSend) Integer("comm_dst", ValueField::kInt32, other);
    if (call.op == kLogRecv) Integer("comm_src", ValueField::kInt32, other);
    if (!collective) Integer("comm_tag", ValueField::kInt32, static_cast<int64_t>(g));
    if (call.eager) Integer("eager", ValueField::kBool, 1);
    if (call.transfer_ns >= 0) Integer("transfer_ns", ValueField::kInt64, call.transfer_ns);
  }
  Text("timed_by", call.timing == Timing::kDevice ? "device"
                   : call.timing == Timing::kHost ? "host"
                                                  : "nothing");
  ++next_;
  return writer_->AddFrame(frame_);
}

absl::Status LogEmitter::Run() {
  const std::vector<LogCall>& calls = rank_.log.calls;
  // Where nodes lie is needed for the metadata, which come first: a dry walk of the same rule.
  const auto walk = [&](const auto& between, const auto& call_at) -> absl::Status {
    std::priority_queue<Running> running;
    now_ = 0;  // the begin of the run, which is that of the first call of all ranks
    for (size_t i = 0; i < calls.size(); ++i) {
      const LogCall& call = calls[i];
      while (!running.empty() && running.top().end <= call.start_ns) {
        if (running.top().end >= now_) {
          after_.push_back(running.top().node);
          now_ = running.top().end;
          if (after_.size() > 2) after_.erase(after_.begin() + 1);
        }
        running.pop();
      }
      if (absl::Status s = between(now_, call.start_ns); !s.ok()) return s;
      now_ = call.start_ns;
      const uint64_t node = next_;
      if (absl::Status s = call_at(i); !s.ok()) return s;
      running.push({call.start_ns + call.duration_ns, node});
    }
    return absl::OkStatus();
  };
  const auto reset = [this] {
    next_ = kRoot + 1;
    after_ = {kRoot};
  };
  node_of_.resize(calls.size());
  if (absl::Status s = walk(
          [&](int64_t begin, int64_t end) {
            if (end > begin) after_ = {next_++};
            return absl::OkStatus();
          },
          [&](size_t i) {
            node_of_[i] = next_++;
            return absl::OkStatus();
          });
      !s.ok())
    return s;
  if (absl::Status s = Metadata(); !s.ok()) return s;
  reset();
  if (absl::Status s = Head(); !s.ok()) return s;
  return walk([&](int64_t begin, int64_t end) { return Between(begin, end); },
              [&](size_t i) { return Call(calls[i]); });
}

}  // namespace

absl::Status EmitRank(const JoinedLogs& joined, size_t r, absl::string_view format, EtWriter* writer) {
  return LogEmitter(joined, r, format, writer).Run();
}

}  // namespace chakra::collective_logs
