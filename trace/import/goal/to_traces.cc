#include "trace/import/goal/to_traces.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/et/writer.h"

namespace chakra::goal {
namespace {

namespace et = ChakraProtoMsg;

constexpr uint64_t kMostNanos = static_cast<uint64_t>(INT64_MAX / 1000);
constexpr uint64_t kMostBytes = uint64_t{1} << 56;

absl::Status CheckOps(const Program& program, const std::string& name) {
  for (size_t r = 0; r < program.ranks.size(); ++r) {
    const std::vector<GoalOp>& ops = program.ranks[r].ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      const auto bad = [&](absl::string_view what) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": rank ", r, ", operation ", i, ": ", what));
      };
      const GoalOp& op = ops[i];
      if (op.type == OpType::kCalc) {
        if (op.size > kMostNanos)
          return bad(absl::StrCat("calc ", op.size, " ns, expected at most ", kMostNanos));
        continue;
      }
      if (op.size >= kMostBytes) return bad(absl::StrCat(op.size, " bytes, expected fewer than 2^56"));
      if (op.peer == static_cast<uint32_t>(r)) return bad("a message to itself; expected another rank");
      if (op.peer == kAny || op.tag == kAny)
        return bad(
            "-1 means any rank or tag: a receive from any rank or tag cannot be matched; expected numbers");
    }
  }
  return absl::OkStatus();
}

// Gives each receive the size of its send: LogGOPSim does not compare sizes, and transfers the bytes of the
// send. Returns the number of changed receives of each rank.
std::vector<uint64_t> MatchSizes(Program* program) {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<uint64_t>> sent;  // from, to, tag
  for (uint32_t r = 0; r < program->ranks.size(); ++r) {
    for (const GoalOp& op : program->ranks[r].ops) {
      if (op.type == OpType::kSend) sent[{r, op.peer, op.tag}].push_back(op.size);
    }
  }
  std::vector<uint64_t> unequal(program->ranks.size());
  for (uint32_t r = 0; r < program->ranks.size(); ++r) {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, size_t> next;
    for (GoalOp& op : program->ranks[r].ops) {
      if (op.type != OpType::kRecv) continue;
      const auto it = sent.find({op.peer, r, op.tag});
      const size_t i = next[{op.peer, r, op.tag}]++;
      if (it == sent.end() || i >= it->second.size() || it->second[i] == op.size) continue;
      op.size = it->second[i];
      ++unequal[r];
    }
  }
  return unequal;
}

absl::Status WriteRank(const GoalRank& rank, EtWriter* out) {
  RETURN_IF_ERROR(out->AddMetadata(MetadataWith("schema", kSchema)));
  et::Node node;
  size_t d = 0;
  for (size_t i = 0; i < rank.ops.size(); ++i) {
    const GoalOp& op = rank.ops[i];
    const bool calc = op.type == OpType::kCalc, send = op.type == OpType::kSend;
    node.Clear();
    node.set_id(i);
    node.set_name(calc ? "calc" : send ? "send" : "recv");
    node.set_type(calc ? et::COMP_NODE : send ? et::COMM_SEND_NODE : et::COMM_RECV_NODE);
    AddAttribute("is_cpu_op", &node)->set_bool_val(true);
    AddAttribute("tid", &node)->set_int64_val(op.cpu + (calc ? 0 : 256 * int64_t{op.nic}));
    AddAttribute("any_order", &node)->set_bool_val(true);
    if (calc) {
      AddAttribute("duration_ns", &node)->set_int64_val(static_cast<int64_t>(op.size));
    } else {
      AddAttribute("comm_size", &node)->set_int64_val(static_cast<int64_t>(op.size));
      AddAttribute(send ? "comm_dst" : "comm_src", &node)->set_int32_val(static_cast<int32_t>(op.peer));
      AddAttribute("comm_tag", &node)->set_int32_val(static_cast<int32_t>(op.tag));
    }
    bool early = false;
    const size_t first = d;
    for (; d < rank.deps.size() && rank.deps[d].op == i; ++d) {
      node.add_data_deps(rank.deps[d].of);
      early = early || rank.deps[d].start;
    }
    if (early) {
      et::AttributeProto::Int64List* list = AddAttribute("dep_release", &node)->mutable_int64_list();
      for (size_t k = first; k < d; ++k) list->add_values(rank.deps[k].start ? 0 : kReleaseAtEnd);
    }
    RETURN_IF_ERROR(out->AddNode(node));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TraceSet> ProgramTraces(Program program, const std::string& name, const ReadOptions& options) {
  RETURN_IF_ERROR(CheckOps(program, name));
  const std::vector<uint64_t> unequal = MatchSizes(&program);
  TraceSet set;
  const auto write = [&](size_t i, EtWriter* writer) { return WriteRank(program.ranks[i], writer); };
  ASSIGN_OR_RETURN(set.ranks, LoadWritten(program.ranks.size(), options, name, write));
  for (size_t i = 0; i < unequal.size() && options.rewriter == nullptr; ++i) {
    if (unequal[i] == 0) continue;
    set.ranks[i].repairs.push_back(
        {"receive_size", name, static_cast<int>(i), unequal[i], 0,
         "receives whose size differs from their sends; they get the size of the sends"});
  }
  return set;
}

}  // namespace chakra::goal
