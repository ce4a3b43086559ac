// The C stream interface of Arrow (arrow.apache.org/docs/format/CStreamInterface.html).
#include <pybind11/pybind11.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "replay/python/table.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

// The structs of the specification.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

constexpr int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

// The data that a schema or an array owns.
template <typename T>
struct Owned {
  std::string format, name;
  std::shared_ptr<const Table> table;
  std::vector<std::shared_ptr<const void>> memory;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<T>> parts;
  std::vector<T*> children;
  std::unique_ptr<T> dictionary;
};

// A consumer that moves a part elsewhere sets the `release` of the part to null.
template <typename T>
void Release(T* what) {
  auto* owned = static_cast<Owned<T>*>(what->private_data);
  for (const auto& part : owned->parts) {
    if (part->release != nullptr) part->release(part.get());
  }
  if (owned->dictionary != nullptr && owned->dictionary->release != nullptr)
    owned->dictionary->release(owned->dictionary.get());
  what->release = nullptr;
  delete owned;
}

const char* FormatOf(TableColumn::Type type) {
  switch (type) {
    case TableColumn::Type::kInt32:
      return "i";
    case TableColumn::Type::kInt64:
      return "l";
    case TableColumn::Type::kUint64:
      return "L";
    case TableColumn::Type::kDouble:
      return "g";
    case TableColumn::Type::kBool:
      return "b";
  }
  return "n";
}

void Finish(std::unique_ptr<Owned<ArrowSchema>> owned, int64_t flags, ArrowSchema* out) {
  *out = {};
  out->flags = flags;
  out->n_children = static_cast<int64_t>(owned->children.size());
  out->children = owned->children.data();
  out->dictionary = owned->dictionary.get();
  out->format = owned->format.c_str();
  out->name = owned->name.c_str();
  out->release = Release<ArrowSchema>;
  out->private_data = owned.release();
}

void Finish(std::unique_ptr<Owned<ArrowArray>> owned, int64_t length, int64_t nulls, ArrowArray* out) {
  *out = {};
  out->length = length;
  out->null_count = nulls;
  out->n_buffers = static_cast<int64_t>(owned->buffers.size());
  out->buffers = owned->buffers.data();
  out->n_children = static_cast<int64_t>(owned->children.size());
  out->children = owned->children.data();
  out->dictionary = owned->dictionary.get();
  out->release = Release<ArrowArray>;
  out->private_data = owned.release();
}

void SchemaOf(const std::string& format, const std::string& name, ArrowSchema* out) {
  auto owned = std::make_unique<Owned<ArrowSchema>>();
  owned->format = format;
  owned->name = name;
  Finish(std::move(owned), kNullable, out);
}

void SchemaOfColumn(const TableColumn& column, ArrowSchema* out) {
  if (column.words == nullptr) return SchemaOf(FormatOf(column.type), column.name, out);
  if (!column.category) return SchemaOf("U", column.name, out);
  auto owned = std::make_unique<Owned<ArrowSchema>>();
  owned->format = "i";
  owned->name = column.name;
  owned->dictionary = std::make_unique<ArrowSchema>();
  SchemaOf("U", "", owned->dictionary.get());
  Finish(std::move(owned), kNullable, out);
}

template <typename T>
const T* Keep(std::vector<T> values, Owned<ArrowArray>* owned) {
  auto kept = std::make_shared<const std::vector<T>>(std::move(values));
  const T* data = kept->data();
  owned->memory.push_back(std::move(kept));
  owned->buffers.push_back(data);
  return data;
}

// Texts with offsets of 64 bits ("U"). A code of -1 becomes null.
void ArrayOfWords(const std::vector<std::string>& words, const int32_t* codes, int64_t rows,
                  ArrowArray* out) {
  auto owned = std::make_unique<Owned<ArrowArray>>();
  std::vector<int64_t> offsets = {0};
  std::vector<char> bytes(1);
  bytes.clear();
  std::vector<uint8_t> valid(static_cast<size_t>(rows + 7) / 8 + 1, 0);
  int64_t nulls = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t code = codes == nullptr ? i : codes[i];
    if (code >= 0) {
      const std::string& word = words[static_cast<size_t>(code)];
      bytes.insert(bytes.end(), word.begin(), word.end());
      valid[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(1u << (i % 8));
    } else {
      ++nulls;
    }
    offsets.push_back(static_cast<int64_t>(bytes.size()));
  }
  Keep(std::move(valid), owned.get());
  Keep(std::move(offsets), owned.get());
  bytes.reserve(1);  // so that data() is not null
  Keep(std::move(bytes), owned.get());
  Finish(std::move(owned), rows, nulls, out);
}

void ArrayOfCategory(const std::shared_ptr<const Table>& table, const TableColumn& column, ArrowArray* out) {
  auto owned = std::make_unique<Owned<ArrowArray>>();
  const auto* codes = static_cast<const int32_t*>(column.data);
  std::vector<uint8_t> valid(static_cast<size_t>(table->rows + 7) / 8 + 1, 0);
  int64_t nulls = 0;
  for (int64_t i = 0; i < table->rows; ++i) {
    if (codes[i] >= 0) {
      valid[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(1u << (i % 8));
    } else {
      ++nulls;
    }
  }
  Keep(std::move(valid), owned.get());
  owned->table = table;
  owned->buffers.push_back(codes);
  owned->dictionary = std::make_unique<ArrowArray>();
  ArrayOfWords(*column.words, nullptr, static_cast<int64_t>(column.words->size()), owned->dictionary.get());
  Finish(std::move(owned), table->rows, nulls, out);
}

void ArrayOfColumn(const std::shared_ptr<const Table>& table, const TableColumn& column, ArrowArray* out) {
  if (column.words != nullptr && column.category) return ArrayOfCategory(table, column, out);
  if (column.words != nullptr)
    return ArrayOfWords(*column.words, static_cast<const int32_t*>(column.data), table->rows, out);
  auto owned = std::make_unique<Owned<ArrowArray>>();
  owned->table = table;
  owned->buffers.push_back(nullptr);      // no validity bitmap: nothing is null
  static constexpr int64_t kNothing = 0;  // the data of a table without rows
  if (column.type == TableColumn::Type::kBool) {
    const auto* flags = static_cast<const uint8_t*>(column.data);
    std::vector<uint8_t> bits(static_cast<size_t>(table->rows + 7) / 8 + 1, 0);
    for (int64_t i = 0; i < table->rows; ++i) {
      if (flags[i] != 0) bits[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(1u << (i % 8));
    }
    Keep(std::move(bits), owned.get());
  } else {
    owned->buffers.push_back(column.data == nullptr ? &kNothing : column.data);
  }
  Finish(std::move(owned), table->rows, 0, out);
}

struct Stream {
  std::shared_ptr<const Table> table;
  bool over = false;
};

int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  const Table& table = *static_cast<Stream*>(stream->private_data)->table;
  auto owned = std::make_unique<Owned<ArrowSchema>>();
  owned->format = "+s";
  for (const TableColumn& column : table.columns) {
    owned->parts.push_back(std::make_unique<ArrowSchema>());
    SchemaOfColumn(column, owned->parts.back().get());
    owned->children.push_back(owned->parts.back().get());
  }
  Finish(std::move(owned), 0, out);
  return 0;
}

int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  auto* state = static_cast<Stream*>(stream->private_data);
  *out = {};  // `release` is null: end of the stream
  if (state->over) return 0;
  state->over = true;
  try {
    auto owned = std::make_unique<Owned<ArrowArray>>();
    owned->buffers.push_back(nullptr);
    for (const TableColumn& column : state->table->columns) {
      owned->parts.push_back(std::make_unique<ArrowArray>());
      ArrayOfColumn(state->table, column, owned->parts.back().get());
      owned->children.push_back(owned->parts.back().get());
    }
    Finish(std::move(owned), state->table->rows, 0, out);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

void ReleaseStream(ArrowArrayStream* stream) {
  delete static_cast<Stream*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

py::capsule ArrowStream(std::shared_ptr<const Table> table) {
  auto* stream = new ArrowArrayStream();
  stream->get_schema = GetSchema;
  stream->get_next = GetNext;
  stream->get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  stream->release = ReleaseStream;
  stream->private_data = new Stream{std::move(table)};
  return py::capsule(stream, "arrow_array_stream", [](PyObject* capsule) {
    auto* held = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
}

}  // namespace chakra::python
