#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"
#include "replay/compute/kernel_table.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/io/csv.h"

namespace chakra {
namespace {

using google::protobuf::FieldDescriptor;

constexpr const char* kTableColumns[] = {"device", "source"};

// The columns of a file: fields of KernelRow and of KernelTable, by name.
struct Columns {
  std::vector<const FieldDescriptor*> field;
  const FieldDescriptor* duration = nullptr;
};

std::vector<std::string> ColumnNames() {
  std::vector<std::string> names;
  const auto* row = proto::KernelRow::descriptor();
  for (int i = 0; i < row->field_count(); ++i) names.push_back(row->field(i)->name());
  for (const char* name : kTableColumns) names.emplace_back(name);
  return names;
}

const FieldDescriptor* FindColumn(const std::string& name) {
  for (const char* of_table : kTableColumns) {
    if (name == of_table) return proto::KernelTable::descriptor()->FindFieldByName(name);
  }
  return proto::KernelRow::descriptor()->FindFieldByName(name);
}

absl::StatusOr<Columns> ReadHeader(CsvReader* csv, absl::string_view file) {
  std::vector<std::string> fields;
  ASSIGN_OR_RETURN(bool more, csv->Next(&fields));
  if (!more) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": empty; expected a header with name and duration_us"));
  }
  Columns columns;
  bool named = false;
  for (const std::string& text : fields) {
    const std::string f(absl::StripAsciiWhitespace(text));
    const FieldDescriptor* field = FindColumn(f);
    if (field == nullptr) {
      return csv->Error(absl::StrCat("unknown column \"", f, "\"", SuggestName(f, ColumnNames())));
    }
    for (const FieldDescriptor* other : columns.field) {
      if (other == field) return csv->Error(absl::StrCat("column \"", f, "\" is there twice"));
    }
    columns.field.push_back(field);
    named = named || f == "name";
    if (f == "duration_us") columns.duration = field;
  }
  if (!named || columns.duration == nullptr) {
    return csv->Error(
        absl::StrCat("no column \"", named ? "duration_us" : "name", "\"; expected name and duration_us"));
  }
  return columns;
}

// Sets a field of a row from a cell. An empty cell leaves a number unset, except duration_us.
absl::Status SetCell(const CsvReader& csv, const FieldDescriptor* field, const std::string& cell,
                     proto::KernelRow* row) {
  const auto* reflection = row->GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    reflection->SetString(row, field, std::string(CsvNameOf(cell)));
    return absl::OkStatus();
  }
  if (absl::StripAsciiWhitespace(cell).empty() && field->name() != "duration_us") return absl::OkStatus();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    uint64_t value = 0;
    if (!absl::SimpleAtoi(cell, &value)) {
      return csv.Error(
          absl::StrCat(field->name(), " is \"", cell, "\"; expected a whole number of at most 64 bits"));
    }
    reflection->SetUInt64(row, field, value);
    return absl::OkStatus();
  }
  double value = 0;
  if (!absl::SimpleAtod(cell, &value) || !std::isfinite(value) || value < 0) {
    return csv.Error(absl::StrCat(field->name(), " is \"", cell, "\"; expected a number >= 0"));
  }
  reflection->SetDouble(row, field, value);
  return absl::OkStatus();
}

// Sets a field of the table. Every row of the file repeats it.
absl::Status SetTableCell(const CsvReader& csv, const FieldDescriptor* field, const std::string& written,
                          proto::KernelTable* table) {
  const std::string cell(CsvNameOf(written));
  const auto* reflection = table->GetReflection();
  const std::string before = reflection->GetString(*table, field);
  if (table->row_size() > 1 && before != cell) {
    return csv.Error(absl::StrCat(field->name(), " is \"", cell, "\"; expected \"", before,
                                  "\" as in the rows before, since a table has one"));
  }
  reflection->SetString(table, field, cell);
  return absl::OkStatus();
}

// Quotes names with blanks at their ends, for readers that strip unquoted blanks.
std::string Quoted(const std::string& text) {
  const std::string named = CsvNamed(text);
  return named == absl::StripAsciiWhitespace(named) ? CsvAsItIs(named) : CsvQuoted(named);
}

std::string Shortest(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end.ptr);
}

std::string Cell(const google::protobuf::Message& message, const FieldDescriptor* field, bool required) {
  const auto* reflection = message.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return Quoted(reflection->GetString(message, field));
    case FieldDescriptor::CPPTYPE_UINT64: {
      const uint64_t value = reflection->GetUInt64(message, field);
      return value == 0 ? "" : absl::StrCat(value);
    }
    default: {
      const double value = reflection->GetDouble(message, field);
      return value == 0 && !required ? "" : Shortest(value);
    }
  }
}

}  // namespace

absl::StatusOr<proto::KernelTable> ParseKernelCsv(absl::string_view content, absl::string_view name) {
  CsvReader csv(content, name);
  ASSIGN_OR_RETURN(Columns columns, ReadHeader(&csv, name));
  proto::KernelTable table;
  std::vector<std::string> fields;
  std::map<KernelKey, std::string> seen;  // by key: the line of the first row
  for (;;) {
    ASSIGN_OR_RETURN(bool more, csv.Next(&fields));
    if (!more) return table;
    if (fields.size() != columns.field.size()) {
      return csv.Error(absl::StrCat(fields.size(), " fields; expected ", columns.field.size()));
    }
    proto::KernelRow* row = table.add_row();
    for (size_t i = 0; i < fields.size(); ++i) {
      const FieldDescriptor* field = columns.field[i];
      const bool of_table = field->containing_type() == proto::KernelTable::descriptor();
      RETURN_IF_ERROR(of_table ? SetTableCell(csv, field, fields[i], &table)
                               : SetCell(csv, field, fields[i], row));
    }
    RETURN_IF_ERROR(CheckKernelRow(*row, csv.where()));
    const auto [first, fresh] = seen.try_emplace(KeyOf(*row), csv.where());
    if (!fresh)
      return csv.Error(absl::StrCat("\"", row->name(), "\": name, shapes and dtypes",
                                    row->operations() > 0 || row->bytes() > 0 ? ", operations and bytes" : "",
                                    " are those of ", first->second));
  }
}

std::string FormatKernelCsv(const proto::KernelTable& table) {
  const auto* descriptor = proto::KernelRow::descriptor();
  std::vector<const FieldDescriptor*> columns;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    bool used = field->number() <= proto::KernelRow::kDurationUsFieldNumber;
    for (int r = 0; r < table.row_size() && !used; ++r) used = !Cell(table.row(r), field, false).empty();
    if (used) columns.push_back(field);
  }
  std::vector<const FieldDescriptor*> of_table;
  for (const char* name : kTableColumns) {
    const FieldDescriptor* field = proto::KernelTable::descriptor()->FindFieldByName(name);
    if (!Cell(table, field, false).empty()) of_table.push_back(field);
  }
  std::string out;
  std::vector<std::string> cells;
  const auto end_line = [&] {
    absl::StrAppend(&out, absl::StrJoin(cells, ","), "\n");
    cells.clear();
  };
  for (const FieldDescriptor* field : columns) cells.push_back(field->name());
  for (const FieldDescriptor* field : of_table) cells.push_back(field->name());
  end_line();
  for (const proto::KernelRow& row : table.row()) {
    for (const FieldDescriptor* field : columns) {
      cells.push_back(Cell(row, field, field->number() == proto::KernelRow::kDurationUsFieldNumber));
    }
    for (const FieldDescriptor* field : of_table) cells.push_back(Cell(table, field, false));
    end_line();
  }
  return out;
}

}  // namespace chakra
