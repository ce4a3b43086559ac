// Changes single fields in the bytes of a Node message. All other fields, also unknown ones, keep their bytes
// and positions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/wire.h"
#include "trace/model/attribute.h"
#include "trace/model/node_fields.h"

namespace chakra::edit {

// Precondition of all functions: `body` is a well-formed message (Draft checks what it reads).

// Sets a varint field of the message; 0 removes the field, as in proto3.
std::string WithNumber(absl::string_view body, uint32_t field, uint64_t v);
// Sets a bytes field; "" removes it.
std::string WithText(absl::string_view body, uint32_t field, absl::string_view text);
// Replaces all entries of a repeated field by `values`, packed.
std::string WithNumbers(absl::string_view body, uint32_t field, const std::vector<uint64_t>& values);

// Sets the attribute `name` of a Node or of GlobalMetadata (`attr`: field 10 or 2). An existing attribute
// keeps its position. It also keeps its kind if it holds a number of any kind and `v` fits; otherwise the
// value is stored as `field`.
std::string WithInteger(absl::string_view body, uint32_t attr, absl::string_view name, ValueField field,
                        __int128 v);
void SetInteger(std::string* body, uint32_t attr, absl::string_view name, ValueField field,
                __int128 v);  // in place
std::string WithReal(absl::string_view body, uint32_t attr, absl::string_view name, double v);
std::string WithString(absl::string_view body, uint32_t attr, absl::string_view name, absl::string_view v);
std::string WithIntegers(absl::string_view body, uint32_t attr, absl::string_view name,
                         const std::vector<int64_t>& v);
std::string WithStrings(absl::string_view body, uint32_t attr, absl::string_view name,
                        const std::vector<std::string>& v);
std::string WithoutAttribute(absl::string_view body, uint32_t attr, absl::string_view name);

// Finds the last attribute with this name, which is the one that protobuf's readers use. Returns false if
// there is none.
bool FindAttribute(absl::string_view body, uint32_t attr, absl::string_view name, Attribute* out);

// Returns an attribute's value as text: numbers in decimal, bools as 0 and 1, lists as "[1, 2]".
std::string AttributeText(const Attribute& a);
// Reads the value as a number. Returns false for lists, and for texts that are not numbers.
bool AttributeNumber(const Attribute& a, double* out);

}  // namespace chakra::edit
