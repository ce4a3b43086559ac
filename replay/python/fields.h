// Fields of messages by reflection: of clusters, which Python may change, and of reports.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <string>

#include "replay/python/parts.h"

namespace chakra::python {

pybind11::object GetField(const MessageRef& message, const std::string& name);
void SetFieldTo(const MessageRef& message, const std::string& name, const pybind11::handle& value);

// A scalar field, or one element of a repeated scalar field.
pybind11::object ScalarOf(const google::protobuf::Message& message,
                          const google::protobuf::FieldDescriptor& field, int index = -1);

// The unit in a field's name: "ns", "GB/s", ...; "": none.
std::string UnitOf(const google::protobuf::FieldDescriptor& field);
// A dict for each field: name, type, unit, range, doc, fallback (the default), words (of enums), map,
// repeated.
pybind11::list DescribeFields(const google::protobuf::Descriptor& type);

void BindFields(pybind11::module_& module);

}  // namespace chakra::python
