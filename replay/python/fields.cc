#include "replay/python/fields.h"

#include <google/protobuf/util/message_differencer.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "proto/setting.pb.h"
#include "replay/python/comments.h"
#include "replay/python/errors.h"
#include "replay/python/table.h"
#include "trace/base/did_you_mean.h"
#include "trace/io/set_field.h"
#include "trace/io/settings.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct MapRef {
  MessageRef in;
  const FieldDescriptor* field = nullptr;
};

std::vector<std::string> FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

const FieldDescriptor* FindIn(const MessageRef& message, const std::string& name) {
  const FieldDescriptor* field = message.type().FindFieldByName(name);
  // `from_` is the field `from`, since `from` is a keyword of Python.
  if (field == nullptr && absl::EndsWith(name, "_"))
    field = message.type().FindFieldByName(name.substr(0, name.size() - 1));
  if (field != nullptr) return field;
  throw py::attribute_error(absl::StrCat(message.root().name(), ": there is no field \"", message.place(),
                                         name, "\"", SuggestName(name, FieldNames(message.type()))));
}

// A value as text for SetField().
std::string TextOf(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "yes" : "no";
  if (py::hasattr(value, "__fspath__")) return py::str(value.attr("__fspath__")());
  return py::str(value);
}

// Sets a field of `in`; `path` is the field's path from the root. On errors nothing changes.
void SetAt(const MessageRef& in, const std::string& path, const py::handle& value) {
  const std::unique_ptr<Message> before(in.Get().New());
  before->CopyFrom(in.Get());
  const absl::Status set = SetField(path, TextOf(value), &in.root().Change());
  if (!set.ok())
    throw StatusError(absl::Status(set.code(), absl::StrCat(in.root().name(), ": ", set.message())));
  const absl::Status range = CheckSettings(in.Get(), absl::StrCat(in.root().name(), ": ", in.place()));
  if (range.ok()) return;
  in.Change().CopyFrom(*before);
  throw StatusError(range);
}

void Assign(const MessageRef& message, const py::handle& value) {
  if (py::isinstance<MessageRef>(value)) {
    const auto other = value.cast<MessageRef>();
    if (&other.type() != &message.type())
      ThrowInvalid(absl::StrCat(message.root().name(), ": ", message.place(), " is a ", message.type().name(),
                                ", not a ", other.type().name()));
    const std::unique_ptr<Message> copy(other.Get().New());
    copy->CopyFrom(other.Get());
    message.root().LetGo(message.path(), message.Get());
    message.Change().CopyFrom(*copy);
    return;
  }
  if (!py::isinstance<py::dict>(value))
    ThrowInvalid(absl::StrCat(message.root().name(), ": ", message.place(), " is ",
                              std::string(py::repr(value)), "; expected a dict of fields, or another ",
                              message.type().name()));
  for (const auto& [key, one] : value.cast<py::dict>()) SetFieldTo(message, py::str(key), one);
}

py::object ElementOf(const ListRef& list, int index) {
  if (list.field->message_type() != nullptr) return py::cast(list.in.In(list.field, index).Held());
  return ScalarOf(list.in.Get(), *list.field, index);
}

void Append(const ListRef& list, const py::handle& value) {
  if (list.field->message_type() == nullptr) return SetAt(list.in, list.place() + "+", value);
  Message& in = list.in.Change();
  in.GetReflection()->AddMessage(&in, list.field);
  const int index = list.size() - 1;
  try {
    Assign(list.in.In(list.field, index), value);
  } catch (...) {
    Message& again = list.in.Change();
    again.GetReflection()->RemoveLast(&again, list.field);
    throw;
  }
}

// A copy that does not change with the message that it is part of.
py::object Frozen(const py::handle& value) {
  if (py::isinstance<MessageRef>(value)) return py::cast(value.cast<MessageRef>().Copy());
  if (py::isinstance<py::dict>(value)) {
    py::dict out;
    for (const auto& [key, one] : value.cast<py::dict>()) out[key] = Frozen(one);
    return out;
  }
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    py::list out;
    for (const py::handle& one : value) out.append(Frozen(one));
    return out;
  }
  return py::reinterpret_borrow<py::object>(value);
}

py::list ElementsOf(const ListRef& list) {
  py::list out;
  for (int i = 0; i < list.size(); ++i) out.append(ElementOf(list, i));
  return out;
}

// Replaces the elements of a list. On errors nothing changes.
void SetList(const ListRef& list, const py::handle& value) {
  if (py::isinstance<py::str>(value) || !py::hasattr(value, "__iter__"))
    ThrowInvalid(absl::StrCat(list.in.root().name(), ": ", list.place(), " is ", std::string(py::repr(value)),
                              "; expected a list"));
  const py::list values = Frozen(py::list(py::reinterpret_borrow<py::object>(value)));
  const MessageRef before = list.in.Copy();
  std::vector<std::pair<std::shared_ptr<Where>, Where>> gone;
  for (int i = 0; i < list.size() && list.field->message_type() != nullptr; ++i) {
    for (auto& one : list.in.root().LetGo(list.PathTo(i), list.in.In(list.field, i).Get()))
      gone.push_back(std::move(one));
  }
  Message& in = list.in.Change();
  in.GetReflection()->ClearField(&in, list.field);
  try {
    for (const py::handle& one : values) Append(list, one);
  } catch (...) {
    list.in.Change().CopyFrom(before.Get());
    for (auto& [where, was] : gone) *where = std::move(was);
    throw;
  }
}

py::dict ItemsOf(const MapRef& map) {
  const Message& in = map.in.Get();
  py::dict out;
  const FieldDescriptor* key = map.field->message_type()->map_key();
  const FieldDescriptor* value = map.field->message_type()->map_value();
  for (int i = 0; i < in.GetReflection()->FieldSize(in, map.field); ++i) {
    const Message& entry = in.GetReflection()->GetRepeatedMessage(in, map.field, i);
    out[ScalarOf(entry, *key)] = ScalarOf(entry, *value);
  }
  return out;
}

// Replaces the items of a map. On errors nothing changes.
void SetMap(const MapRef& map, const py::handle& value) {
  if (!py::isinstance<MapRef>(value) && !py::hasattr(value, "keys"))
    ThrowInvalid(absl::StrCat(map.in.root().name(), ": ", map.in.place(), map.field->name(), " is ",
                              std::string(py::repr(value)), "; expected a dict"));
  const py::dict items(py::reinterpret_borrow<py::object>(value));
  const MessageRef before = map.in.Copy();
  Message& in = map.in.Change();
  in.GetReflection()->ClearField(&in, map.field);
  try {
    for (const auto& [key, one] : items)
      SetAt(map.in, absl::StrCat(map.in.place(), map.field->name(), "[", std::string(py::str(key)), "]"),
            one);
  } catch (...) {
    map.in.Change().CopyFrom(before.Get());
    throw;
  }
}

std::string ReprOf(const MessageRef& message) {
  const std::string text = message.Get().DebugString();
  return absl::StrCat("<", message.type().name(), text.empty() ? "" : "\n", text, ">");
}

bool Equal(const MessageRef& a, const py::handle& b) {
  if (!py::isinstance<MessageRef>(b)) return false;
  const auto other = b.cast<MessageRef>();
  return &a.type() == &other.type() &&
         google::protobuf::util::MessageDifferencer::Equals(a.Get(), other.Get());
}

std::string RangeOf(const FieldDescriptor& field) {
  if (!field.options().HasExtension(proto::setting)) return "";
  const proto::Setting& s = field.options().GetExtension(proto::setting);
  std::vector<std::string> parts;
  if (s.has_least()) parts.push_back(absl::StrCat(">= ", s.least()));
  if (s.has_above()) parts.push_back(absl::StrCat("> ", s.above()));
  if (s.has_most()) parts.push_back(absl::StrCat("<= ", s.most()));
  if (s.has_below()) parts.push_back(absl::StrCat("< ", s.below()));
  std::string range = absl::StrJoin(parts, ", ");
  if (s.has_also() && !range.empty()) absl::StrAppend(&range, ", or ", s.also());
  return range;
}

std::string TypeNameOf(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "float";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "bool";
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_ENUM:
      return "str";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return field.message_type()->name();
    default:
      return "int";
  }
}

py::dict DescribeField(const FieldDescriptor& field) {
  const proto::Setting& setting = field.options().GetExtension(proto::setting);
  py::dict d;
  d["name"] = field.name();
  d["unit"] = UnitOf(field);
  d["range"] = RangeOf(field);
  const std::string comment = CommentOf(field);
  d["doc"] = comment.empty() ? setting.doc() : comment;
  d["fallback"] = setting.fallback();
  d["map"] = field.is_map();
  d["repeated"] = field.is_repeated() && !field.is_map();
  d["type"] = field.is_map() ? TypeNameOf(*field.message_type()->map_value()) : TypeNameOf(field);
  py::list words;
  if (field.enum_type() != nullptr) {
    for (int i = 0; i < field.enum_type()->value_count(); ++i)
      words.append(field.enum_type()->value(i)->name());
  }
  d["words"] = words;
  return d;
}

void BindLists(py::module_& module) {
  py::class_<ListRef>(module, "FieldList", "A repeated field, which behaves like a list.")
      .def("__len__", &ListRef::size)
      .def("__iter__", [](const ListRef& l) { return py::iter(ElementsOf(l)); })
      .def("__getitem__", [](const ListRef& l, py::ssize_t i) { return ElementOf(l, l.At(i)); })
      .def("__getitem__", [](const ListRef& l, const py::slice& s) { return py::object(ElementsOf(l)[s]); })
      .def("__getitem__",
           [](const ListRef& l, const std::string& name) {
             for (int i = 0; i < l.size() && l.field->message_type() != nullptr; ++i) {
               const MessageRef element = l.in.In(l.field, i);
               const FieldDescriptor* field = element.type().FindFieldByName("name");
               if (field != nullptr && element.Get().GetReflection()->GetString(element.Get(), field) == name)
                 return py::cast(element.Held());
             }
             throw py::key_error(absl::StrCat(l.place(), " has no element of the name \"", name, "\""));
           })
      .def("__setitem__",
           [](const ListRef& l, py::ssize_t i, const py::object& value) {
             const int at = l.At(i);
             if (l.field->message_type() != nullptr) return Assign(l.in.In(l.field, at), value);
             SetAt(l.in, absl::StrCat(l.place(), "[", at, "]"), value);
           })
      .def("__delitem__", [](const ListRef& l, py::ssize_t i) { l.Remove(l.At(i)); })
      .def(
          "append", [](const ListRef& l, const py::object& value) { Append(l, value); }, py::arg("value"),
          "Adds an element; for messages, a dict of fields or another message.")
      .def(
          "add",
          [](const ListRef& l, const py::kwargs& fields) {
            Append(l, fields);
            return ElementOf(l, l.size() - 1);
          },
          "Adds a message with these fields, and returns it.")
      .def("clear", &ListRef::Clear, "Removes all elements.")
      .def(
          "extend",
          [](const ListRef& l, const py::iterable& values) {
            py::list all = ElementsOf(l);
            for (const py::handle& one : values) all.append(one);
            SetList(l, all);
          },
          py::arg("values"), "Adds elements.")
      .def(
          "insert",
          [](const ListRef& l, py::ssize_t at, const py::object& value) {
            const py::ssize_t n = l.size();
            Append(l, Frozen(value));
            l.LastTo(static_cast<int>(std::clamp<py::ssize_t>(at < 0 ? at + n : at, 0, n)));
          },
          py::arg("index"), py::arg("value"), "Adds an element before another.")
      .def(
          "pop",
          [](const ListRef& l, py::ssize_t at) {
            const int index = l.At(at);
            py::object element = ElementOf(l, index);
            l.Remove(index);
            return element;
          },
          py::arg("index") = -1, "Removes an element, and returns it.")
      .def(
          "reverse",
          [](const ListRef& l) {
            SetList(l, ElementsOf(l)[py::slice(py::none(), py::none(), py::int_(-1))]);
          },
          "Reverses the order of the elements.")
      .def(
          "sort",
          [](const ListRef& l, const py::object& key, bool reverse) {
            const py::list all = ElementsOf(l);
            all.attr("sort")(py::arg("key") = key, py::arg("reverse") = reverse);
            SetList(l, all);
          },
          py::kw_only(), py::arg("key") = py::none(), py::arg("reverse") = false, "Sorts the elements.")
      .def("__eq__",
           [](const ListRef& l, const py::object& other) {
             if (!py::isinstance<py::sequence>(other) && !py::isinstance<ListRef>(other)) return false;
             return ElementsOf(l).equal(py::list(other));
           })
      .def("__repr__", [](const ListRef& l) { return py::repr(ElementsOf(l)); });
}

void BindMaps(py::module_& module) {
  py::class_<MapRef>(module, "FieldMap", "A map field, which behaves like a dict.")
      .def("__len__", [](const MapRef& m) { return py::len(ItemsOf(m)); })
      .def("__iter__", [](const MapRef& m) { return py::iter(ItemsOf(m)); })
      .def("__contains__", [](const MapRef& m, const py::object& key) { return ItemsOf(m).contains(key); })
      .def("__getitem__",
           [](const MapRef& m, const std::string& key) {
             const py::dict items = ItemsOf(m);
             if (!items.contains(key)) {
               std::vector<std::string> known;
               for (const auto& [name, unused] : items) known.push_back(py::str(name));
               throw py::key_error(absl::StrCat(m.in.place(), m.field->name(), " has no \"", key, "\"",
                                                SuggestName(key, known)));
             }
             return py::object(items[key.c_str()]);
           })
      .def("__setitem__",
           [](const MapRef& m, const std::string& key, const py::object& value) {
             SetAt(m.in, absl::StrCat(m.in.place(), m.field->name(), "[", key, "]"), value);
           })
      .def("keys", [](const MapRef& m) { return py::list(ItemsOf(m)); })
      .def("items", [](const MapRef& m) { return ItemsOf(m).attr("items")(); })
      .def("clear",
           [](const MapRef& m) {
             Message& in = m.in.Change();
             in.GetReflection()->ClearField(&in, m.field);
           })
      .def("__eq__", [](const MapRef& m, const py::object& other) { return ItemsOf(m).equal(other); })
      .def("__repr__", [](const MapRef& m) { return py::repr(ItemsOf(m)); });
}

}  // namespace

py::object ScalarOf(const Message& message, const FieldDescriptor& field, int index) {
  const auto& in = *message.GetReflection();
  const bool one = index < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return py::float_(one ? in.GetDouble(message, &field) : in.GetRepeatedDouble(message, &field, index));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return py::float_(one ? in.GetFloat(message, &field) : in.GetRepeatedFloat(message, &field, index));
    case FieldDescriptor::CPPTYPE_BOOL:
      return py::bool_(one ? in.GetBool(message, &field) : in.GetRepeatedBool(message, &field, index));
    case FieldDescriptor::CPPTYPE_STRING:
      return Text(one ? in.GetString(message, &field) : in.GetRepeatedString(message, &field, index));
    case FieldDescriptor::CPPTYPE_ENUM:
      return py::str(
          (one ? in.GetEnum(message, &field) : in.GetRepeatedEnum(message, &field, index))->name());
    case FieldDescriptor::CPPTYPE_INT32:
      return py::int_(one ? in.GetInt32(message, &field) : in.GetRepeatedInt32(message, &field, index));
    case FieldDescriptor::CPPTYPE_UINT32:
      return py::int_(one ? in.GetUInt32(message, &field) : in.GetRepeatedUInt32(message, &field, index));
    case FieldDescriptor::CPPTYPE_INT64:
      return py::int_(one ? in.GetInt64(message, &field) : in.GetRepeatedInt64(message, &field, index));
    case FieldDescriptor::CPPTYPE_UINT64:
      return py::int_(one ? in.GetUInt64(message, &field) : in.GetRepeatedUInt64(message, &field, index));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return py::none();
}

py::object GetField(const MessageRef& message, const std::string& name) {
  const FieldDescriptor* field = FindIn(message, name);
  if (field->is_map()) return py::cast(MapRef{message, field});
  if (field->is_repeated()) return py::cast(ListRef{message, field});
  if (field->message_type() != nullptr) return py::cast(message.In(field).Held());
  return ScalarOf(message.Get(), *field);
}

void SetFieldTo(const MessageRef& message, const std::string& name, const py::handle& value) {
  const FieldDescriptor* field = FindIn(message, name);
  if (value.is_none()) {
    if (field->is_repeated()) return ListRef{message, field}.Clear();
    if (field->message_type() != nullptr)
      message.root().LetGo(message.In(field).path(), message.In(field).Get());
    Message& in = message.Change();
    return in.GetReflection()->ClearField(&in, field);
  }
  if (field->is_map()) return SetMap({message, field}, value);
  if (field->is_repeated()) return SetList({message, field}, value);
  if (field->message_type() != nullptr) return Assign(message.In(field), value);
  SetAt(message, message.place() + field->name(), value);
}

std::string UnitOf(const FieldDescriptor& field) {
  static constexpr std::pair<const char*, const char*> kUnits[] = {{"_gbytes_per_s", "GB/s"},
                                                                   {"_bytes_per_s", "B/s"},
                                                                   {"_gbps", "Gb/s"},
                                                                   {"_bytes", "B"},
                                                                   {"_mbytes", "MB"},
                                                                   {"_gbytes", "GB"},
                                                                   {"_mib", "MiB"},
                                                                   {"_ps", "ps"},
                                                                   {"_ns", "ns"},
                                                                   {"_us", "us"},
                                                                   {"_ms", "ms"},
                                                                   {"_seconds", "s"},
                                                                   {"_s", "s"},
                                                                   {"_mhz", "MHz"},
                                                                   {"_tflops", "TFLOP/s"},
                                                                   {"_watts", "W"},
                                                                   {"_joules", "J"},
                                                                   {"_microjoules", "uJ"}};
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) return "";
  for (const auto& [end, unit] : kUnits) {
    if (absl::EndsWith(field.name(), end)) return unit;
  }
  return "";
}

py::list DescribeFields(const Descriptor& type) {
  py::list out;
  for (int i = 0; i < type.field_count(); ++i) out.append(DescribeField(*type.field(i)));
  return out;
}

void BindFields(py::module_& module) {
  module.def("set_comments_file", &SetCommentsFile);
  BindLists(module);
  BindMaps(module);
  py::class_<MessageRef>(module, "Message", "A part of a cluster. Each of its fields is an attribute.")
      .def("__getattr__", &GetField)
      .def("__setattr__", [](const MessageRef& m, const std::string& name,
                             const py::object& value) { SetFieldTo(m, name, value); })
      .def("__delattr__",
           [](const MessageRef& m, const std::string& name) { SetFieldTo(m, name, py::none()); })
      .def("__dir__",
           [](const MessageRef& m) {
             py::list names = py::module_::import("builtins").attr("object").attr("__dir__")(py::cast(m));
             for (const std::string& name : FieldNames(m.type())) names.append(name);
             return names;
           })
      .def(
          "has",
          [](const MessageRef& m, const std::string& name) {
            const FieldDescriptor* field = FindIn(m, name);
            const Message& in = m.Get();
            if (field->is_repeated()) return in.GetReflection()->FieldSize(in, field) > 0;
            return in.GetReflection()->HasField(in, field);
          },
          py::arg("field"), "Whether a field is set.")
      .def(
          "fields", [](const MessageRef& m) { return DescribeFields(m.type()); },
          "The fields of the part: a dict for each, with its name, type, unit, range and description.")
      .def(
          "to_text", [](const MessageRef& m) { return Text(m.Get().DebugString()); },
          "The part in the text format.")
      .def("__eq__", &Equal)
      .def("__copy__", [](const MessageRef& m) { return m.Copy(); })
      .def("__deepcopy__", [](const MessageRef& m, const py::dict&) { return m.Copy(); })
      .def(py::pickle(
          [](const MessageRef& m) {
            return py::make_tuple(m.type().full_name(), py::bytes(m.Get().SerializeAsString()));
          },
          [](const py::tuple& state) {
            if (state.size() != 2) ThrowInvalid("a pickled part of another version");
            return PartOf(state[0].cast<std::string>(), state[1].cast<std::string>());
          }))
      .def("__repr__", [](const MessageRef& m) { return Text(ReprOf(m)); })
      .attr("__hash__") = py::none();
}

}  // namespace chakra::python
