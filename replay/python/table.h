// Tables as columns, for NumPy and for readers of Arrow.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chakra::python {

// A column; all columns of a table have the same number of rows. Immutable; copies and arrays share `data`.
struct TableColumn {
  enum class Type { kInt32, kInt64, kUint64, kDouble, kBool };
  std::string name;
  std::string doc;
  Type type = Type::kInt64;
  std::shared_ptr<const void> owner;  // of `data`
  const void* data = nullptr;
  // For texts: the column is kInt32, an index into `words`; -1: none. Null for other types.
  std::shared_ptr<const std::vector<std::string>> words;
  bool category = false;  // for texts: few words, many rows
};

struct Table {
  int64_t rows = 0;
  std::vector<TableColumn> columns;

  // Appends a column. If several columns have the same name, Find() returns the first.
  template <typename T>
  void Add(std::string name, std::string doc, std::vector<T> values);
  void AddWords(std::string name, std::string doc, std::vector<int32_t> codes, std::vector<std::string> words,
                bool category);
  const TableColumn& Find(const std::string& name) const;
};

template <typename T>
constexpr TableColumn::Type TypeOf();
template <>
constexpr TableColumn::Type TypeOf<int32_t>() {
  return TableColumn::Type::kInt32;
}
template <>
constexpr TableColumn::Type TypeOf<int64_t>() {
  return TableColumn::Type::kInt64;
}
template <>
constexpr TableColumn::Type TypeOf<uint64_t>() {
  return TableColumn::Type::kUint64;
}
template <>
constexpr TableColumn::Type TypeOf<double>() {
  return TableColumn::Type::kDouble;
}
template <>
constexpr TableColumn::Type TypeOf<uint8_t>() {
  return TableColumn::Type::kBool;
}

template <typename T>
void Table::Add(std::string name, std::string doc, std::vector<T> values) {
  auto kept = std::make_shared<const std::vector<T>>(std::move(values));
  TableColumn column;
  column.name = std::move(name);
  column.doc = std::move(doc);
  column.type = TypeOf<T>();
  column.data = kept->data();
  column.owner = std::move(kept);
  columns.push_back(std::move(column));
}

// A read-only array over memory that `owner` keeps alive.
pybind11::array View(const pybind11::dtype& type, int64_t rows, int64_t stride, const void* data,
                     std::shared_ptr<const void> owner);

// A Python string; bytes that are not UTF-8 become \xNN.
pybind11::str Text(const std::string& text);

// A capsule for __arrow_c_stream__: one batch with the whole table. Texts that are categories become
// dictionaries.
pybind11::capsule ArrowStream(std::shared_ptr<const Table> table);

void BindTable(pybind11::module_& module);

}  // namespace chakra::python
