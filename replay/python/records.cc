#include "replay/python/records.h"

#include <google/protobuf/util/message_differencer.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "replay/python/errors.h"
#include "replay/python/fields.h"
#include "replay/report/columns.h"
#include "trace/base/did_you_mean.h"
#include "trace/io/proto_io.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// pybind11 stores a Record inside this object.
struct RecordHolder {
  Record record;
  const Message& get() const { return *record; }
  const Descriptor& type() const { return *record->GetDescriptor(); }
};

// The field that an attribute name refers to in another unit: "end" is end_ps in seconds.
struct Scaled {
  const FieldDescriptor* field = nullptr;
  double factor = 1;
};

Scaled FindScaled(const Descriptor& type, const std::string& name) {
  if (const auto* field = type.FindFieldByName(name + "_ps")) return {field, 1e-12};
  if (absl::EndsWith(name, "joules")) {
    const std::string micro = name.substr(0, name.size() - 6) + "microjoules";
    if (const auto* field = type.FindFieldByName(micro)) return {field, 1e-6};
  }
  if (absl::EndsWith(name, "_bytes_per_s")) {
    const std::string giga = name.substr(0, name.size() - 12) + "_gbytes_per_s";
    if (const auto* field = type.FindFieldByName(giga)) return {field, 1e9};
  }
  return {};
}

// The repeated field of a plural: "ranks" is `rank`. Other plurals ("energies") are not known.
const FieldDescriptor* FindPlural(const Descriptor& type, const std::string& name) {
  if (!absl::EndsWith(name, "s")) return nullptr;
  const auto* field = type.FindFieldByName(name.substr(0, name.size() - 1));
  return field != nullptr && field->is_repeated() ? field : nullptr;
}

std::vector<std::string> NamesIn(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    names.push_back(field.name());
    if (field.is_repeated() && !absl::EndsWith(field.name(), "s")) names.push_back(field.name() + "s");
    absl::string_view plain = field.name();
    if (!field.is_repeated() && absl::ConsumeSuffix(&plain, "_ps")) names.emplace_back(plain);
  }
  return names;
}

py::object ListOf(const Message& message, const FieldDescriptor& field) {
  const int n = message.GetReflection()->FieldSize(message, &field);
  py::list out(n);
  for (int i = 0; i < n; ++i) out[i] = ScalarOf(message, field, i);
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
      field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM)
    return out;
  return py::module_::import("numpy").attr("array")(out);
}

py::object ValueOf(const RecordHolder& holder, const FieldDescriptor& field) {
  const Message& message = holder.get();
  if (field.is_repeated() && field.message_type() != nullptr) return TableOf(holder.record, field);
  if (field.is_repeated()) return ListOf(message, field);
  if (field.message_type() == nullptr) {
    if (field.has_optional_keyword() && !message.GetReflection()->HasField(message, &field))
      return py::none();
    return ScalarOf(message, field);
  }
  if (!message.GetReflection()->HasField(message, &field)) return py::none();
  return RecordObject(Record(holder.record, &message.GetReflection()->GetMessage(message, &field)));
}

py::object Attribute(const RecordHolder& holder, const std::string& name) {
  const Descriptor& type = holder.type();
  const FieldDescriptor* field = type.FindFieldByName(name);
  if (field == nullptr) field = FindPlural(type, name);
  if (field != nullptr) return ValueOf(holder, *field);
  const Scaled scaled = FindScaled(type, name);
  if (scaled.field != nullptr && !scaled.field->is_repeated())
    return py::float_(NumberIn(holder.get(), *scaled.field) * scaled.factor);
  throw py::attribute_error(
      absl::StrCat(type.name(), " has no \"", name, "\"", SuggestName(name, NamesIn(type))));
}

// The values of one column of a repeated message.
template <typename T, typename F>
std::vector<T> CollectRows(const Message& in, const FieldDescriptor& rows, F get) {
  const int n = in.GetReflection()->FieldSize(in, &rows);
  std::vector<T> out;
  out.reserve(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i)
    out.push_back(static_cast<T>(get(in.GetReflection()->GetRepeatedMessage(in, &rows, i))));
  return out;
}

std::string DocOf(const ReportColumn& column) {
  const std::string unit = UnitOf(*column.field);
  return unit.empty() ? column.label() : absl::StrCat(column.label(), " (", unit, ")");
}

void AddTextsOf(const Message& in, const FieldDescriptor& rows, const ReportColumn& column, Table* table) {
  const FieldDescriptor* field = column.field;
  absl::flat_hash_map<std::string, int32_t> index;
  std::vector<std::string> words;
  auto codes = CollectRows<int32_t>(in, rows, [&](const Message& row) {
    const auto& r = *row.GetReflection();
    const std::string text =
        field->enum_type() != nullptr ? r.GetEnum(row, field)->name() : r.GetString(row, field);
    const auto [found, fresh] = index.try_emplace(text, static_cast<int32_t>(words.size()));
    if (fresh) words.push_back(text);
    return found->second;
  });
  table->AddWords(field->name(), DocOf(column), std::move(codes), std::move(words), false);
}

void AddColumn(const Message& in, const FieldDescriptor& rows, const ReportColumn& column, Table* table) {
  const FieldDescriptor* field = column.field;
  const std::string& name = field->name();
  const std::string doc = DocOf(column);
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_ENUM:
      return AddTextsOf(in, rows, column, table);
    case FieldDescriptor::CPPTYPE_BOOL:
      return table->Add(name, doc, CollectRows<uint8_t>(in, rows, [&](const Message& row) {
                          return row.GetReflection()->GetBool(row, field);
                        }));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return table->Add(name, doc, CollectRows<double>(in, rows, [&](const Message& row) {
                          return row.GetReflection()->GetFloat(row, field);
                        }));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return table->Add(name, doc, CollectRows<double>(in, rows, [&](const Message& row) {
                          return row.GetReflection()->GetDouble(row, field);
                        }));
    case FieldDescriptor::CPPTYPE_INT32:
      return table->Add(name, doc, CollectRows<int32_t>(in, rows, [&](const Message& row) {
                          return row.GetReflection()->GetInt32(row, field);
                        }));
    case FieldDescriptor::CPPTYPE_INT64:
      return table->Add(name, doc, CollectRows<int64_t>(in, rows, [&](const Message& row) {
                          return row.GetReflection()->GetInt64(row, field);
                        }));
    case FieldDescriptor::CPPTYPE_UINT32:
      return table->Add(name, doc, CollectRows<uint64_t>(in, rows, [&](const Message& row) {
                          return row.GetReflection()->GetUInt32(row, field);
                        }));
    case FieldDescriptor::CPPTYPE_UINT64:
      return table->Add(name, doc, CollectRows<uint64_t>(in, rows, [&](const Message& row) {
                          return row.GetReflection()->GetUInt64(row, field);
                        }));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return;
  }
}

// One line: numbers and texts as far as there is room, and the number of rows of each table.
std::string RecordRepr(const RecordHolder& holder) {
  constexpr size_t kWide = 160;
  const Message& message = holder.get();
  const auto& in = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  in.ListFields(message, &fields);
  std::string out = absl::StrCat("<", holder.type().name(), ":");
  for (const FieldDescriptor* field : fields) {
    std::string one;
    if (field->is_repeated()) {
      const int n = in.FieldSize(message, field);
      one = absl::StrCat(n, " ", field->name(), n == 1 || absl::EndsWith(field->name(), "s") ? "" : "s");
    } else if (field->message_type() != nullptr) {
      one = field->name();
    } else {
      one = absl::StrCat(field->name(), "=", std::string(py::repr(ScalarOf(message, *field))));
    }
    if (out.size() + one.size() > kWide) return out + " ...>";
    absl::StrAppend(&out, out.back() == ':' ? " " : ", ", one);
  }
  return out + ">";
}

py::dict DictOf(const RecordHolder& holder) {
  py::dict out;
  for (int i = 0; i < holder.type().field_count(); ++i) {
    const FieldDescriptor& field = *holder.type().field(i);
    if (!field.is_repeated() && field.message_type() == nullptr)
      out[py::str(field.name())] = ValueOf(holder, field);
  }
  return out;
}

}  // namespace

py::object RecordObject(Record record) { return py::cast(RecordHolder{std::move(record)}); }

py::object TableOf(const Record& record, const FieldDescriptor& field) {
  auto table = std::make_shared<Table>();
  const Message& in = *record;
  table->rows = in.GetReflection()->FieldSize(in, &field);
  for (const ReportColumn& column : FieldsOf(*field.message_type()))
    AddColumn(in, field, column, table.get());
  const FieldDescriptor* rows = &field;
  const py::cpp_function row_of([record, rows](int i) {
    return RecordObject(Record(record, &record->GetReflection()->GetRepeatedMessage(*record, rows, i)));
  });
  return py::module_::import("chakra_replay._tables").attr("Table")(table, row_of, field.name());
}

void BindRecords(py::module_& module) {
  py::class_<RecordHolder>(
      module, "Record",
      "A part of a result. Fields are attributes: end_ps is a whole number of picoseconds, end the "
      "same time in seconds; lists of messages are tables, also under the plural of their name.")
      .def("__getattr__", &Attribute)
      .def("__dir__",
           [](const RecordHolder& r) {
             py::list names = py::module_::import("builtins").attr("object").attr("__dir__")(py::cast(r));
             for (const std::string& name : NamesIn(r.type())) names.append(name);
             return names;
           })
      .def("to_dict", &DictOf, "The numbers and texts as a dict.")
      .def(
          "to_json",
          [](const RecordHolder& r) { return Text(OrThrow(FormatMessage(r.get(), MessageFormat::kJson))); },
          "The part as JSON, without fields that are 0.")
      .def("__eq__",
           [](const RecordHolder& a, const py::object& b) {
             if (!py::isinstance<RecordHolder>(b)) return false;
             const auto other = b.cast<RecordHolder>();
             return &a.type() == &other.type() &&
                    google::protobuf::util::MessageDifferencer::Equals(a.get(), other.get());
           })
      .def("__repr__", [](const RecordHolder& r) { return Text(RecordRepr(r)); })
      .def("__str__", [](const RecordHolder& r) { return Text(r.get().DebugString()); });
}

}  // namespace chakra::python
