#include "trace/import/astra_text/write.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/et/rank_loader.h"
#include "trace/et/writer.h"
#include "trace/model/groups.h"

namespace chakra::astra_text {
namespace {

namespace et = ChakraProtoMsg;

constexpr int kDimensions = 10;  // more than any network has
constexpr Scope kGrouped[] = {Scope::kTensor, Scope::kData, Scope::kExpert, Scope::kExpertData};

et::AttributeProto* Attribute(const char* name, et::Node* node) {
  et::AttributeProto* a = node->add_attr();
  a->set_name(name);
  return a;
}

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

// Id of a node of the program; 0 is the node of the groups.
uint64_t Id(uint32_t node) { return uint64_t{node} + 1; }

void Collective(const ProgramNode& from, const Layout& layout, int rank, et::Node* node) {
  node->set_type(et::COMM_COLL_NODE);
  Attribute("comm_type", node)->set_int64_val(static_cast<int64_t>(from.type));
  Attribute("comm_size", node)->set_int64_val(static_cast<int64_t>(from.bytes));
  if (layout.SizeOf(from.scope) == 0) {
    et::AttributeProto::BoolList& involved = *Attribute("involved_dim", node)->mutable_bool_list();
    for (int d = 0; d < kDimensions; ++d)
      involved.add_values((d == 0) == (from.scope == Scope::kFirstDimension));
  } else if (from.scope != Scope::kAll) {
    Attribute("pg_name", node)->set_string_val(GroupName(layout, from.scope, rank));
  }
}

absl::Status WriteRank(const Program& program, const Layout& layout, const Groups& groups, int rank,
                       EtWriter* out) {
  et::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  et::AttributeProto& schema = *metadata.add_attr();
  schema.set_name("schema");
  schema.set_string_val(kSchema);
  RETURN_IF_ERROR(out->AddMetadata(metadata));
  if (!groups.empty()) {
    et::Node node;
    node.set_id(0);
    node.set_name("## process_group:init ##");
    node.set_type(et::METADATA_NODE);
    node.mutable_inputs()->set_values(GroupNodeText(groups));
    Attribute("is_cpu_op", &node)->set_bool_val(true);
    RETURN_IF_ERROR(out->AddNode(node));
  }
  et::Node node;
  for (uint32_t i = 0; i < program.nodes.size(); ++i) {
    const ProgramNode& from = program.nodes[i];
    node.Clear();
    node.set_id(Id(i));
    node.set_name(from.name);
    Attribute("is_cpu_op", &node)->set_bool_val(from.host);
    bool delayed = false;
    for (const ProgramNode::Dep& d : from.deps) {
      node.add_data_deps(Id(d.node));
      delayed = delayed || d.delay_ns > 0;
    }
    if (delayed) {
      et::AttributeProto::Int64List& delays = *Attribute("dep_delay_ns", &node)->mutable_int64_list();
      for (const ProgramNode::Dep& d : from.deps) delays.add_values(d.delay_ns);
    }
    if (from.collective) {
      Collective(from, layout, rank, &node);
    } else {
      node.set_type(et::COMP_NODE);
      if (!from.host) Attribute("stream", &node)->set_int64_val(0);
      Attribute("duration_ns", &node)->set_int64_val(from.duration_ns);
    }
    RETURN_IF_ERROR(out->AddNode(node));
  }
  return out->Finish();
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
  GraphPool pool;
  std::vector<Loaded> loaded(static_cast<size_t>(layout.ranks));
  const auto load = [&](size_t i, Worker* worker) {
    const auto rank = static_cast<int>(i);
    std::string frames;
    EtWriter writer(&frames, Compression::kNone);
    RETURN_IF_ERROR(WriteRank(program, layout, GroupsOf(used, layout, rank), rank, &writer));
    return DecodeFrames(frames, name, rank, options, worker, &loaded[i]);
  };
  absl::Status status = ForEach(loaded.size(), options.threads, [&] {
    return [&load, worker = std::make_unique<Worker>(&pool)](size_t i) { return load(i, worker.get()); };
  });
  if (status.ok()) status = Flatten(&loaded);
  if (!status.ok()) return status;
  for (Loaded& l : loaded) set.ranks.push_back(std::move(l.trace));
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
