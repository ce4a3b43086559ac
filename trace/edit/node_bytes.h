// A Node message as bytes, changed field by field: what is not named stays where it is, as it is, unknown
// fields included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/wire.h"
#include "trace/model/attribute.h"
#include "trace/model/node_fields.h"

namespace chakra::edit {

// Precondition of all: `body` is a well-formed message (Draft checks what it reads).

// A varint field of the message; 0 takes it away, as proto3 writes it.
std::string WithNumber(absl::string_view body, uint32_t field, uint64_t v);
// A bytes field; "" takes it away.
std::string WithText(absl::string_view body, uint32_t field, absl::string_view text);
// A list of numbers, packed, in place of all entries of the field.
std::string WithNumbers(absl::string_view body, uint32_t field, const std::vector<uint64_t>& values);

// The attribute `name` of a Node or of GlobalMetadata (field 10 or 2) with another value. One that is there
// keeps its place and, where it holds a number of any kind and `v` fits, its kind; else it becomes `field`.
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

// The last attribute of this name, as protobuf's readers take it. False: there is none.
bool FindAttribute(absl::string_view body, uint32_t attr, absl::string_view name, Attribute* out);

// An attribute's value as text: numbers in decimal, bools as 0 and 1, lists as "[1, 2]".
std::string AttributeText(const Attribute& a);
// As a number; false for texts that are none, and for lists.
bool AttributeNumber(const Attribute& a, double* out);

}  // namespace chakra::edit
