#include "trace/import/astra_text/write.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/et/writer.h"

namespace chakra::astra_text {
namespace {

namespace et = ChakraProtoMsg;

constexpr int kDimensions = 10;  // more than any network has
constexpr Scope kGrouped[] = {Scope::kTensor, Scope::kData, Scope::kExpert, Scope::kExpertData};

std::string GroupName(const Layout& layout, Scope scope, int rank) {
  return absl::StrCat(Name(scope), " ", layout.GroupOf(scope, rank));
}

// The groups of a rank that the program uses.
Groups GroupsOf(const std::vector<Scope>& used, const Layout& layout, int rank) {
  Groups groups;
  for (const Scope scope : used)
    groups.emplace(GroupName(layout, scope, rank), layout.MembersOf(scope, rank));
  return groups;
}

// The id of a program node; 0 is the node of the groups.
uint64_t Id(uint32_t node) { return uint64_t{node} + 1; }

void Collective(const ProgramNode& from, const Layout& layout, int rank, et::Node* node) {
  node->set_type(et::COMM_COLL_NODE);
  AddAttribute("comm_type", node)->set_int64_val(static_cast<int64_t>(from.type));
  AddAttribute("comm_size", node)->set_int64_val(static_cast<int64_t>(from.bytes));
  if (layout.SizeOf(from.scope) == 0) {
    et::AttributeProto::BoolList& involved = *AddAttribute("involved_dim", node)->mutable_bool_list();
    for (int d = 0; d < kDimensions; ++d)
      involved.add_values((d == 0) == (from.scope == Scope::kFirstDimension));
  } else if (from.scope != Scope::kAll) {
    AddAttribute("pg_name", node)->set_string_val(GroupName(layout, from.scope, rank));
  }
}

absl::Status WriteRank(const Program& program, const Layout& layout, const Groups& groups, int rank,
                       EtWriter* out) {
  RETURN_IF_ERROR(out->AddMetadata(MetadataWith("schema", kSchema)));
  if (!groups.empty()) {
    RETURN_IF_ERROR(out->AddNode(NodeOfGroups(groups)));
  }
  et::Node node;
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    const ProgramNode& from = program.nodes[i];
    node.Clear();
    node.set_id(Id(i));
    node.set_name(from.name);
    AddAttribute("is_cpu_op", &node)->set_bool_val(from.host);
    bool delayed = false;
    for (const ProgramNode::Dep& d : from.deps) {
      node.add_data_deps(Id(d.node));
      delayed = delayed || d.delay_ns > 0;
    }
    if (delayed) {
      et::AttributeProto::Int64List& delays = *AddAttribute("dep_delay_ns", &node)->mutable_int64_list();
      for (const ProgramNode::Dep& d : from.deps) delays.add_values(d.delay_ns);
    }
    if (from.collective) {
      Collective(from, layout, rank, &node);
    } else {
      node.set_type(et::COMP_NODE);
      if (!from.host) AddAttribute("stream", &node)->set_int64_val(0);
      AddAttribute("duration_ns", &node)->set_int64_val(from.duration_ns);
    }
    RETURN_IF_ERROR(out->AddNode(node));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TraceSet> TracesOf(const Program& program, const Layout& layout, const std::string& name,
                                  const ReadOptions& options) {
  std::vector<Scope> used;
  for (const Scope scope : kGrouped) {
    if (std::any_of(program.nodes.begin(), program.nodes.end(),
                    [&](const ProgramNode& n) { return n.collective && n.scope == scope; }))
      used.push_back(scope);
  }
  TraceSet set;
  const auto write = [&](size_t i, EtWriter* writer) {
    const auto rank = static_cast<int>(i);
    return WriteRank(program, layout, GroupsOf(used, layout, rank), rank, writer);
  };
  ASSIGN_OR_RETURN(set.ranks, LoadWritten(static_cast<size_t>(layout.ranks), options, name, write));
  for (int rank = 0; rank < layout.ranks; ++rank) {
    for (const Scope scope : used) {
      if (const std::string group = GroupName(layout, scope, rank); !set.groups.contains(group))
        set.groups.emplace(group, layout.MembersOf(scope, rank));
    }
  }
  if (!used.empty()) set.group_source = "the text workload";
  set.warnings = program.warnings;
  return set;
}

}  // namespace chakra::astra_text
