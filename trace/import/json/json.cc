#include "trace/import/json/json.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/et/writer.h"
#include "trace/io/json_message.h"
#include "trace/io/json_value.h"
#include "trace/io/sniff.h"

namespace chakra {
namespace {

using ChakraProtoMsg::AttributeProto;
using ChakraProtoMsg::GlobalMetadata;
using ChakraProtoMsg::Node;
using Kind = JsonValue::Kind;

constexpr absl::string_view kEndings[] = {".json"};
constexpr char kVersion[] = "0.0.4";
constexpr char kForms[] =
    "expected a Chakra trace as JSON: the jsonizer's objects (metadata, then nodes, one after another), the "
    "feeder's "
    "{\"workload_graph\": [...]} or STAGE's {\"nodes\": [...]}";

enum class Role {
  kId,
  kName,
  kType,
  kCtrlDeps,
  kDataDeps,
  kDuration,
  kBool,
  kBools,
  kInt32,
  kInt64,
  kUint64,
  kCommType,
  kText,
  kTexts
};

// The meaning of a key of a feeder or STAGE node, and the attribute that it becomes (chakra-format, JSON
// relatives 2 and 3).
struct Rule {
  const char* key;
  Role role;
  const char* target;
};

constexpr Rule kRules[] = {
    {"Id", Role::kId, "id"},
    {"id", Role::kId, "id"},
    {"Name", Role::kName, "name"},
    {"name", Role::kName, "name"},
    {"NodeType", Role::kType, "type"},
    {"node_type", Role::kType, "type"},
    {"ctrlDeps", Role::kCtrlDeps, "ctrl_deps"},
    {"ctrl_deps", Role::kCtrlDeps, "ctrl_deps"},
    {"dataDeps", Role::kDataDeps, "data_deps"},
    {"data_deps", Role::kDataDeps, "data_deps"},
    {"runtime", Role::kDuration, "duration_micros"},
    {"is_cpu_op", Role::kBool, "is_cpu_op"},
    {"num_ops", Role::kInt64, "num_ops"},
    {"tensor_size", Role::kUint64, "tensor_size"},
    {"y_tensor_size", Role::kUint64, "y_tensor_size"},
    {"op_type", Role::kText, "op_type"},
    {"comm_type", Role::kCommType, "comm_type"},
    {"comm_size", Role::kInt64, "comm_size"},
    {"comm_priority", Role::kInt32, "comm_priority"},
    {"comm_src", Role::kInt32, "comm_src"},
    {"comm_dst", Role::kInt32, "comm_dst"},
    {"comm_tag", Role::kInt32, "comm_tag"},
    {"comm_group", Role::kText, "pg_name"},
    {"pg_name", Role::kText, "pg_name"},
    {"involved_dim", Role::kBools, "involved_dim"},
    {"inputs", Role::kTexts, "inputs"},
    {"outputs", Role::kTexts, "outputs"},
};

struct TypeName {
  const char* text;
  ChakraProtoMsg::NodeType type;
};

constexpr TypeName kStageTypes[] = {
    {"metadata_node", ChakraProtoMsg::METADATA_NODE},   {"mem_load_node", ChakraProtoMsg::MEM_LOAD_NODE},
    {"mem_store_node", ChakraProtoMsg::MEM_STORE_NODE}, {"comp_node", ChakraProtoMsg::COMP_NODE},
    {"comm_send_node", ChakraProtoMsg::COMM_SEND_NODE}, {"comm_recv_node", ChakraProtoMsg::COMM_RECV_NODE},
    {"coll_comm_node", ChakraProtoMsg::COMM_COLL_NODE}, {"comm_coll_node", ChakraProtoMsg::COMM_COLL_NODE},
};

void AddText(const std::string& name, absl::string_view text,
             google::protobuf::RepeatedPtrField<AttributeProto>* attr) {
  AttributeProto* a = attr->Add();
  a->set_name(name);
  a->set_string_val(std::string(text));
}

// Keeps the JSON text of a key that no rule knows.
void Keep(const JsonReader& reader, const JsonMember& m,
          google::protobuf::RepeatedPtrField<AttributeProto>* attr) {
  AddText("json." + m.key, reader.Raw(m.value), attr);
}

// The text of a scalar as a user would write it; for other values, their JSON text.
std::string PlainText(const JsonReader& reader, const JsonValue& v) {
  return v.is(Kind::kString) ? v.text : std::string(reader.Raw(v));
}

// Reads one node of the feeder's or STAGE's form.
class NodeReader {
 public:
  NodeReader(const JsonReader& reader, const JsonValue& object, size_t index)
      : reader_(reader), object_(object), subject_(absl::StrCat("node at index ", index)) {}

  absl::StatusOr<Node> Read() {
    if (!object_.is(Kind::kObject)) return Wrong(object_, "an object");
    for (const JsonMember& m : object_.members) {
      uint64_t id;
      if ((m.key == "Id" || m.key == "id") && m.value.ToUint64(&id)) subject_ = absl::StrCat("node ", id);
    }
    Node node;
    for (const JsonMember& m : object_.members) {
      RETURN_IF_ERROR(Take(m, &node));
    }
    for (const char* required : {"id", "type"}) {
      if (seen_.count(required) == 0) {
        return reader_.Error(object_.begin,
                             absl::StrCat(subject_, ": no '", required, "' (also written '",
                                          required[0] == 'i' ? "Id" : "NodeType' or 'node_type", "'),"));
      }
    }
    return node;
  }

 private:
  absl::Status Wrong(const JsonValue& v, absl::string_view what) {
    return reader_.Error(
        v.begin, absl::StrCat(subject_, key_.empty() ? "" : absl::StrCat(", key '", key_, "'"), ": expected ",
                              what, ", found ", Name(v.kind), v.is(Kind::kNumber) ? " " + v.text : ""));
  }

  absl::Status Take(const JsonMember& m, Node* node) {
    key_ = m.key;
    for (const Rule& rule : kRules) {
      if (m.key != rule.key) continue;
      if (!seen_.insert(rule.target).second) {
        return reader_.Error(m.at,
                             absl::StrCat(subject_, ", key '", m.key, "': '", rule.target, "' given twice"));
      }
      if (m.value.is(Kind::kNull)) return seen_.erase(rule.target), absl::OkStatus();
      return Apply(rule, m.value, node);
    }
    Keep(reader_, m, node->mutable_attr());
    return absl::OkStatus();
  }

  absl::Status Apply(const Rule& rule, const JsonValue& v, Node* node) {
    switch (rule.role) {
      case Role::kId:
        if (uint64_t id; v.ToUint64(&id)) return node->set_id(id), absl::OkStatus();
        return Wrong(v, "a whole number, 0 or more");
      case Role::kName:
        if (v.is(Kind::kString)) return node->set_name(v.text), absl::OkStatus();
        return Wrong(v, "a string");
      case Role::kType:
        return SetType(v, node);
      case Role::kCtrlDeps:
        return AddDeps(v, node->mutable_ctrl_deps());
      case Role::kDataDeps:
        return AddDeps(v, node->mutable_data_deps());
      case Role::kDuration:
        if (uint64_t us; v.ToUint64(&us)) return node->set_duration_micros(us), absl::OkStatus();
        return Wrong(v, "whole microseconds, 0 or more");
      default:
        break;
    }
    AttributeProto* a = node->add_attr();
    a->set_name(rule.target);
    return SetAttribute(rule.role, v, a);
  }

  absl::Status SetType(const JsonValue& v, Node* node) {
    if (int64_t n; v.is(Kind::kNumber) && v.ToInt64(&n) &&
                   ChakraProtoMsg::NodeType_IsValid(static_cast<int>(n)) && n == static_cast<int>(n)) {
      node->set_type(static_cast<ChakraProtoMsg::NodeType>(n));
      return absl::OkStatus();
    }
    if (!v.is(Kind::kString)) return Wrong(v, "a node type: a number from 0 to 7, or a name");
    std::vector<std::string> names;
    for (const TypeName& t : kStageTypes) {
      if (v.text == t.text) return node->set_type(t.type), absl::OkStatus();
      names.push_back(t.text);
    }
    ChakraProtoMsg::NodeType type;
    if (ChakraProtoMsg::NodeType_Parse(v.text, &type)) return node->set_type(type), absl::OkStatus();
    return reader_.Error(v.begin, absl::StrCat(subject_, ", key '", key_, "': unknown node type '", v.text,
                                               "'", SuggestName(v.text, names)));
  }

  absl::Status AddDeps(const JsonValue& v, google::protobuf::RepeatedField<uint64_t>* deps) {
    if (!v.is(Kind::kArray)) return Wrong(v, "an array of node ids");
    for (const JsonValue& item : v.items) {
      uint64_t id;
      if (!item.ToUint64(&id)) return Wrong(item, "a node id (a whole number, 0 or more)");
      deps->Add(id);
    }
    return absl::OkStatus();
  }

  absl::Status SetAttribute(Role role, const JsonValue& v, AttributeProto* a) {
    int64_t n = 0;
    uint64_t u = 0;
    switch (role) {
      case Role::kBool:
        if (v.is(Kind::kBool)) return a->set_bool_val(v.boolean), absl::OkStatus();
        if (v.ToInt64(&n) && (n == 0 || n == 1)) return a->set_bool_val(n == 1), absl::OkStatus();
        return Wrong(v, "true or false");
      case Role::kBools:
        if (!v.is(Kind::kArray)) return Wrong(v, "an array of booleans");
        a->mutable_bool_list();
        for (const JsonValue& item : v.items) {
          if (!item.is(Kind::kBool)) return Wrong(item, "true or false");
          a->mutable_bool_list()->add_values(item.boolean);
        }
        return absl::OkStatus();
      case Role::kInt32:
        if (!v.ToInt64(&n) || n != static_cast<int32_t>(n)) return Wrong(v, "a 32-bit whole number");
        return a->set_int32_val(static_cast<int32_t>(n)), absl::OkStatus();
      case Role::kInt64:
        if (!v.ToInt64(&n)) return Wrong(v, "a 64-bit whole number");
        return a->set_int64_val(n), absl::OkStatus();
      case Role::kUint64:
        if (!v.ToUint64(&u)) return Wrong(v, "a whole number, 0 or more");
        return a->set_uint64_val(u), absl::OkStatus();
      case Role::kCommType:
        return SetCommType(v, a);
      case Role::kTexts:
        if (v.is(Kind::kArray)) {
          a->mutable_string_list();
          for (const JsonValue& item : v.items)
            a->mutable_string_list()->add_values(PlainText(reader_, item));
          return absl::OkStatus();
        }
        [[fallthrough]];
      default:
        return a->set_string_val(PlainText(reader_, v)), absl::OkStatus();
    }
  }

  absl::Status SetCommType(const JsonValue& v, AttributeProto* a) {
    if (int64_t n; v.is(Kind::kNumber) && v.ToInt64(&n)) return a->set_int64_val(n), absl::OkStatus();
    ChakraProtoMsg::CollectiveCommType type;
    if (v.is(Kind::kString) && ChakraProtoMsg::CollectiveCommType_Parse(v.text, &type)) {
      return a->set_int64_val(type), absl::OkStatus();
    }
    if (!v.is(Kind::kString)) return Wrong(v, "a collective: its number or its name");
    std::vector<std::string> names;
    for (int i = 0; i < kCollectiveTypes; ++i) {
      names.push_back(CollectiveCommType_Name(static_cast<ChakraProtoMsg::CollectiveCommType>(i)));
    }
    return reader_.Error(v.begin, absl::StrCat(subject_, ", key '", key_, "': unknown collective '", v.text,
                                               "'", SuggestName(v.text, names)));
  }

  const JsonReader& reader_;
  const JsonValue& object_;
  std::string subject_;
  std::string key_;
  std::set<std::string> seen_;
};

// Reads the feeder's and STAGE's forms: one object with the nodes under `list`.
absl::Status FromDocument(const JsonReader& reader, const JsonValue& document, absl::string_view list,
                          EtWriter* writer) {
  GlobalMetadata metadata;
  metadata.set_version(kVersion);
  const JsonValue* nodes = nullptr;
  for (const JsonMember& m : document.members) {
    int64_t n;
    if (m.key == list) {
      nodes = &m.value;
    } else if (m.key != "workload_name" && m.key != "ngpus" && m.key != "soc") {
      Keep(reader, m, metadata.mutable_attr());
    } else if (m.value.is(Kind::kNumber) && m.value.ToInt64(&n)) {
      AttributeProto* a = metadata.add_attr();
      a->set_name(m.key);
      a->set_int64_val(n);
    } else {
      AddText(m.key, PlainText(reader, m.value), metadata.mutable_attr());
    }
  }
  if (!nodes->is(Kind::kArray)) {
    return reader.Error(nodes->begin, absl::StrCat("key '", list, "': expected an array of nodes, found ",
                                                   Name(nodes->kind)));
  }
  RETURN_IF_ERROR(writer->AddMetadata(metadata));
  for (size_t i = 0; i < nodes->items.size(); ++i) {
    ASSIGN_OR_RETURN(const Node node, NodeReader(reader, nodes->items[i], i).Read());
    RETURN_IF_ERROR(writer->AddNode(node));
  }
  return absl::OkStatus();
}

absl::Status AddJsonizerNode(const JsonReader& reader, const JsonValue& object, EtWriter* writer) {
  Node node;
  const absl::Status s = JsonToMessage(reader, object, &node, [&](const JsonMember& m) {
    Keep(reader, m, node.mutable_attr());
    return absl::OkStatus();
  });
  if (s.ok()) return writer->AddNode(node);
  const JsonValue* id = object.Find("id");
  return absl::InvalidArgumentError(
      absl::StrCat("node ", id == nullptr ? "0" : PlainText(reader, *id), ": ", s.message()));
}

bool IsMetadata(const JsonValue& object) {
  for (const JsonMember& m : object.members) {
    if (m.key != "version" && m.key != "attr") return false;
  }
  return true;
}

// Whether an object has keys that only a node has: a type, or an id together with dependencies, attributes or
// a time. A name is not enough, since other objects have one too.
bool LooksLikeNode(const JsonValue& object) {
  const JsonValue* type = object.Find("type");
  int64_t number = 0;
  ChakraProtoMsg::NodeType parsed;
  if (type != nullptr && type->is(Kind::kString) && ChakraProtoMsg::NodeType_Parse(type->text, &parsed))
    return true;
  if (object.Find("id") == nullptr) return false;
  if (type != nullptr && type->is(Kind::kNumber) && type->ToInt64(&number)) return true;
  for (const char* key : {"ctrl_deps", "ctrlDeps", "data_deps", "dataDeps", "start_time_micros",
                          "startTimeMicros", "duration_micros", "durationMicros", "attr"}) {
    if (object.Find(key) != nullptr) return true;
  }
  return false;
}

bool LooksLikeGroups(const JsonValue& object) {
  for (const JsonMember& m : object.members) {
    if (!m.value.is(Kind::kArray)) return false;
    for (const JsonValue& rank : m.value.items) {
      if (!rank.is(Kind::kNumber)) return false;
    }
  }
  return !object.members.empty();
}

absl::Status FromJsonizer(JsonReader* reader, const JsonValue& first, EtWriter* writer) {
  if (IsMetadata(first)) {
    GlobalMetadata metadata;
    RETURN_IF_ERROR(JsonToMessage(*reader, first, &metadata));
    RETURN_IF_ERROR(writer->AddMetadata(metadata));
  } else {
    RETURN_IF_ERROR(AddJsonizerNode(*reader, first, writer));
  }
  while (!reader->AtEnd()) {
    ASSIGN_OR_RETURN(const JsonValue object, reader->Next());
    if (!object.is(Kind::kObject)) {
      return reader->Error(object.begin, absl::StrCat("expected a node, found ", Name(object.kind)));
    }
    if (!object.members.empty() && !LooksLikeNode(object) && object.Find("name") == nullptr)
      return reader->Error(object.begin, "expected a node, found an object without 'id', 'type' and 'name'");
    RETURN_IF_ERROR(AddJsonizerNode(*reader, object, writer));
  }
  return absl::OkStatus();
}

absl::Status Convert(JsonReader* reader, EtWriter* writer) {
  if (reader->AtEnd()) return reader->Error(0, absl::StrCat("only blanks: ", kForms));
  ASSIGN_OR_RETURN(const JsonValue first, reader->Next());
  if (!first.is(Kind::kObject)) {
    return reader->Error(first.begin,
                         absl::StrCat("the first value is of kind ", Name(first.kind), "; ", kForms));
  }
  if (first.Find("traceEvents") != nullptr) {
    return reader->Error(first.begin,
                         "this is a Kineto trace (it has 'traceEvents'); PyTorch captures cannot be read "
                         "together with Chakra traces");
  }
  const JsonValue* nodes = first.Find("nodes");
  if (nodes != nullptr && first.Find("schema") != nullptr) {
    return reader->Error(
        first.begin, nodes->is(Kind::kArray)
                         ? "this is a PyTorch host trace (it has 'nodes' and 'schema'); PyTorch captures "
                           "cannot be read together with Chakra traces"
                         : "this has the 'schema' of a PyTorch host trace, but its 'nodes' are not a list");
  }
  const char* list = first.Find("workload_graph") != nullptr ? "workload_graph"
                     : nodes != nullptr                      ? "nodes"
                                                             : nullptr;
  if (list != nullptr) {
    if (!reader->AtEnd()) return reader->Error(first.end, "JSON: more text after the end of the value");
    return FromDocument(*reader, first, list, writer);
  }
  if (first.members.empty() && reader->AtEnd()) {
    return reader->Error(first.begin, absl::StrCat("an object without members has no events; ", kForms,
                                                   ", or a PyTorch capture (\"traceEvents\")"));
  }
  if (IsMetadata(first) || LooksLikeNode(first)) return FromJsonizer(reader, first, writer);
  if (LooksLikeGroups(first)) {
    return reader->Error(first.begin, "these are process groups (give them with --groups), not a trace");
  }
  return reader->Error(first.begin,
                       absl::StrCat("key '", first.members[0].key,
                                    "': not a Chakra node, which has an 'id' or a 'type'; ", kForms));
}

}  // namespace

absl::StatusOr<std::string> EtFromJson(absl::string_view json, absl::string_view file) {
  JsonReader reader(json, file);
  std::string out;
  EtWriter writer(&out, Compression::kNone);
  RETURN_IF_ERROR(Convert(&reader, &writer));
  RETURN_IF_ERROR(writer.Finish());
  return out;
}

const Importer kJsonImporter = {
    .name = "json",
    .title = "Chakra trace as JSON",
    .help = "the jsonizer's, the feeder's or STAGE's objects",
    .endings = kEndings,
    .sniff = LooksLikeJson,
    .frames = [](absl::string_view plain, absl::string_view file,
                 std::string* keep) -> absl::StatusOr<absl::string_view> {
      ASSIGN_OR_RETURN(*keep, EtFromJson(plain, file));
      return *keep;
    },
};

}  // namespace chakra
