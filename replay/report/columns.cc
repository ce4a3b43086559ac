#include "replay/report/columns.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "backends/topology/measure.h"
#include "google/protobuf/reflection.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/io/csv.h"

namespace chakra {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using proto::Shown;

int PlaceIn(const Shown& shown, View view) {
  switch (view) {
    case View::kText:
      return shown.text();
    case View::kCsv:
      return shown.csv();
    case View::kCompare:
      return shown.compare();
    case View::kPage:
      return shown.page();
  }
  return 0;
}

Shown::Unit UnitOf(const FieldDescriptor& field) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) return Shown::TEXT;
  const std::string& name = field.name();
  if (absl::EndsWith(name, "_ps")) return Shown::TIME;
  if (absl::EndsWith(name, "_bytes_per_s")) return Shown::BANDWIDTH;
  if (absl::EndsWith(name, "bytes")) return Shown::BYTES;
  return field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ? Shown::REAL : Shown::COUNT;
}

int64_t WholeIn(const Message& row, const FieldDescriptor& field) {
  const auto& in = *row.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return in.GetInt32(row, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return in.GetInt64(row, &field);
    default:
      return static_cast<int64_t>(in.GetUInt64(row, &field));
  }
}

// Whether a field is a 32-bit integer. Counts of this type are printed without separators.
bool IsSmall(const FieldDescriptor& field) { return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32; }

}  // namespace

int ReportColumn::digits() const {
  if (shown->digits() > 0) return shown->digits();
  return unit == Shown::SHARE ? 1 : 2;
}

std::string ReportColumn::name() const { return shown->name().empty() ? field->name() : shown->name(); }

std::string ReportColumn::title() const {
  if (!shown->title().empty()) return shown->title();
  const std::string all = name();
  absl::string_view title = all;
  for (const char* of_unit : {"_ps", "_bytes_per_s", "_gbytes_per_s"}) absl::ConsumeSuffix(&title, of_unit);
  return absl::StrReplaceAll(title, {{"_", " "}});
}

std::string ReportColumn::label() const {
  if (!shown->label().empty()) return shown->label();
  std::string label = title();
  label[0] = absl::ascii_toupper(static_cast<unsigned char>(label[0]));
  return label;
}

std::vector<ReportColumn> ColumnsOf(const Descriptor& type, View view, absl::string_view table) {
  std::vector<ReportColumn> columns;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    for (int n = 0; n < field->options().ExtensionSize(proto::shown); ++n) {
      const Shown& shown = field->options().GetExtension(proto::shown, n);
      const int place = PlaceIn(shown, view);
      if (place == 0 || shown.table() != table) continue;
      const Shown::Unit unit = shown.unit() == Shown::BY_NAME ? UnitOf(*field) : shown.unit();
      columns.push_back({field, &shown, unit, place});
    }
  }
  std::stable_sort(columns.begin(), columns.end(),
                   [](const ReportColumn& a, const ReportColumn& b) { return a.place < b.place; });
  return columns;
}

std::vector<ReportColumn> FieldsOf(const Descriptor& type) {
  std::vector<ReportColumn> columns;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    if (field->is_repeated() || field->message_type() != nullptr) continue;
    const bool told = field->options().ExtensionSize(proto::shown) > 0;
    const Shown& shown = told ? field->options().GetExtension(proto::shown, 0) : Shown::default_instance();
    columns.push_back({field, &shown, shown.unit() == Shown::BY_NAME ? UnitOf(*field) : shown.unit(), 0});
  }
  return columns;
}

double NumberIn(const Message& row, const FieldDescriptor& field) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) return row.GetReflection()->GetDouble(row, &field);
  const int64_t whole = WholeIn(row, field);
  return field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64
             ? static_cast<double>(static_cast<uint64_t>(whole))
             : static_cast<double>(whole);
}

std::string TextOf(const Message& row, const ReportColumn& column) {
  const FieldDescriptor& field = *column.field;
  if (column.is_text()) {
    const std::string text = row.GetReflection()->GetString(row, &field);
    const int width = column.shown->width();
    return width > 0 ? Shorten(text, static_cast<size_t>(width), "-") : text;
  }
  switch (column.unit) {
    case Shown::TIME:
      return FormatTime(Time::Picos(WholeIn(row, field)));
    case Shown::BYTES:
      return FormatBytes(static_cast<uint64_t>(WholeIn(row, field)));
    case Shown::BANDWIDTH:
      return FormatRate(static_cast<double>(WholeIn(row, field)));
    case Shown::ENERGY:
      return FormatEnergy(WholeIn(row, field));
    case Shown::SHARE:
      return absl::StrFormat("%.*f %%", column.digits(), 100 * NumberIn(row, field));
    case Shown::REAL:
      return absl::StrFormat("%.*f", column.digits(), NumberIn(row, field));
    case Shown::COUNT:
      if (!IsSmall(field)) return FormatCount(static_cast<uint64_t>(WholeIn(row, field)));
      [[fallthrough]];
    default:
      return absl::StrCat(WholeIn(row, field));
  }
}

std::string CsvOf(const Message& row, const ReportColumn& column) {
  const FieldDescriptor& field = *column.field;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return CsvField(row.GetReflection()->GetString(row, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrFormat("%.6f", NumberIn(row, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(static_cast<uint64_t>(WholeIn(row, field)));
    default:
      return absl::StrCat(WholeIn(row, field));
  }
}

std::string FormatEnergy(int64_t microjoules) {
  static constexpr const char* kUnits[] = {"uJ", "mJ", "J", "kJ", "MJ", "GJ", "TJ"};
  double value = static_cast<double>(microjoules);
  size_t unit = 0;
  for (; std::fabs(value) >= 999.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return microjoules == 0 ? "0 J" : absl::StrFormat("%.4g %s", value, kUnits[unit]);
}

void SetWhole(const std::string& field, uint64_t value, Message* message) {
  const FieldDescriptor* f = message->GetDescriptor()->FindFieldByName(field);
  if (f->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    message->GetReflection()->SetInt64(message, f, static_cast<int64_t>(value));
  } else {
    message->GetReflection()->SetUInt64(message, f, value);
  }
}

void AddWholes(const std::string& field, const std::vector<uint64_t>& values, Message* message) {
  const FieldDescriptor* f = message->GetDescriptor()->FindFieldByName(field);
  const auto to = message->GetReflection()->GetMutableRepeatedFieldRef<uint64_t>(message, f);
  for (const uint64_t value : values) to.Add(value);
}

}  // namespace chakra
