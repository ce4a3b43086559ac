#include "trace/import/collective_logs/emit.h"

#include <string>
#include <vector>

#include "trace/base/status_macros.h"
#include "trace/base/wire.h"
#include "trace/import/collective_logs/steps.h"
#include "trace/import/collective_logs/walk.h"
#include "trace/model/groups.h"
#include "trace/model/node_fields.h"

namespace chakra::collective_logs {
namespace {

using Nodes = std::vector<uint64_t>;

class LogEmitter {
 public:
  LogEmitter(const JoinedLogs& joined, size_t r, absl::string_view format, EtWriter* writer)
      : joined_(joined), rank_(joined.ranks[r]), format_(format), writer_(writer) {}
  absl::Status Run();

 private:
  absl::Status Head();
  absl::Status Between(uint64_t node, int64_t begin, int64_t end, const Nodes& after);
  absl::Status Call(uint64_t node, size_t i, const Nodes& after);
  void Open(uint64_t id, absl::string_view name, NodeType type, int64_t begin, int64_t duration);
  void Deps(const Nodes& after);
  void Integer(absl::string_view name, ValueField kind, int64_t v);
  void Text(absl::string_view name, absl::string_view v);

  const JoinedLogs& joined_;
  const JoinedRank& rank_;
  const absl::string_view format_;
  EtWriter* writer_;
  std::string frame_;
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

absl::Status LogEmitter::Head() {
  Groups groups;
  for (const int g : rank_.groups)
    groups.emplace(joined_.group_names[static_cast<size_t>(g)], joined_.members[static_cast<size_t>(g)]);
  frame_.clear();
  wire::AppendText(kNodeName, kGroupsNode, &frame_);
  wire::AppendNumber(kNodeType, static_cast<uint64_t>(NodeType::kMetadata), &frame_);
  std::string inner;
  wire::AppendText(kIoValues, GroupNodeText(groups), &inner);
  wire::AppendText(kNodeInputs, inner, &frame_);
  Integer("is_cpu_op", ValueField::kBool, 1);
  RETURN_IF_ERROR(writer_->AddFrame(frame_));
  Open(kWindow, kWindowNode, NodeType::kMetadata, 0, 0);
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

void LogEmitter::Deps(const Nodes& after) {
  size_t packed = 0;
  for (const uint64_t d : after) packed += wire::VarintSize(d);
  wire::AppendTag(kNodeDataDeps, wire::kBytes, &frame_);
  wire::AppendVarint(packed, &frame_);
  for (const uint64_t d : after) wire::AppendVarint(d, &frame_);
}

absl::Status LogEmitter::Between(uint64_t node, int64_t begin, int64_t end, const Nodes& after) {
  Open(node, kBetweenNode, NodeType::kComp, begin, end - begin);
  Integer("stream", ValueField::kInt64, kComputeStream);
  Deps(after);
  Text("category", "between_calls");
  return writer_->AddFrame(frame_);
}

absl::Status LogEmitter::Call(uint64_t node, size_t i, const Nodes& after) {
  const LogCalls& calls = rank_.log.calls;
  const CallNode call(joined_, rank_, i);
  Open(node, NameOfOp(call.facts.op), call.type, calls.start_ns(i), calls.duration_ns(i));
  if (call.collective) Integer("stream", ValueField::kInt64, call.stream());
  Deps(after);
  if (call.kept) Text("comm_kind", NameOfOp(call.facts.op));
  Text("pg_name", joined_.group_names[call.group]);
  if (call.has_bytes) Integer("comm_size", ValueField::kInt64, static_cast<int64_t>(call.facts.bytes));
  if (!call.kept) {
    if (call.collective) Integer("comm_type", ValueField::kInt64, call.facts.op);
    if (call.collective && call.other != kNoRank) Integer("root", ValueField::kInt32, call.other);
    if (call.type == NodeType::kSend) Integer("comm_dst", ValueField::kInt32, call.other);
    if (call.type == NodeType::kRecv) Integer("comm_src", ValueField::kInt32, call.other);
    if (!call.collective) Integer("comm_tag", ValueField::kInt32, static_cast<int64_t>(call.group));
    if (calls.eager(i)) Integer("eager", ValueField::kBool, 1);
    if (calls.transfer_ns(i) >= 0) Integer("transfer_ns", ValueField::kInt64, calls.transfer_ns(i));
  }
  Text("timed_by", call.facts.timing == Timing::kDevice ? "device"
                   : call.facts.timing == Timing::kHost ? "host"
                                                        : "nothing");
  return writer_->AddFrame(frame_);
}

absl::Status LogEmitter::Run() {
  // Where nodes lie is needed for the metadata, which come first: a dry walk.
  std::vector<uint64_t> node_of(rank_.log.calls.size());
  absl::Status status = WalkRank(
      rank_, [](uint64_t, int64_t, int64_t, const Nodes&) { return absl::OkStatus(); },
      [&](uint64_t node, size_t i, const Nodes&) {
        node_of[i] = node;
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  ChakraProtoMsg::GlobalMetadata metadata = MetadataOf(joined_, rank_, format_);
  const std::vector<uint32_t> steps = joined_.timed ? FindSteps(rank_.log.calls) : std::vector<uint32_t>();
  metadata.MergeFrom(StepsMetadata(StepNodesOf(steps, node_of)));
  status = writer_->AddMetadata(metadata);
  if (status.ok()) status = Head();
  if (!status.ok()) return status;
  return WalkRank(
      rank_,
      [&](uint64_t node, int64_t begin, int64_t end, const Nodes& after) {
        return Between(node, begin, end, after);
      },
      [&](uint64_t node, size_t i, const Nodes& after) { return Call(node, i, after); });
}

}  // namespace

absl::Status EmitRank(const JoinedLogs& joined, size_t r, absl::string_view format, EtWriter* writer) {
  return LogEmitter(joined, r, format, writer).Run();
}

}  // namespace chakra::collective_logs
