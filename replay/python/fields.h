// Fields of messages by reflection: what Python sees of a cluster that it may change, and of a report.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <string>

#include "replay/python/parts.h"

namespace chakra::python {

pybind11::object GetField(const MessageRef& message, const std::string& name);
void SetFieldTo(const MessageRef& message, const std::string& name, const pybind11::handle& value);

// A scalar, or an element of a repeated one.
pybind11::object ScalarOf(const google::protobuf::Message& message,
                          const google::protobuf::FieldDescriptor& field, int index = -1);

// "ns", "GB/s", ...: by the field's name; "": none.
std::string UnitOf(const google::protobuf::FieldDescriptor& field);
// Of each field: name, type, unit, default, range, doc, repeated.
pybind11::list DescribeFields(const google::protobuf::Descriptor& type);

void BindFields(pybind11::module_& module);

}  // namespace chakra::python
