// Messages that are results: fields as attributes by reflection, repeated messages as tables.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <memory>

#include "replay/python/table.h"

namespace chakra::python {

// A part of a result. It is immutable and shares ownership of the result.
using Record = std::shared_ptr<const google::protobuf::Message>;

// The chakra_replay.Table of a repeated field of messages.
pybind11::object TableOf(const Record& record, const google::protobuf::FieldDescriptor& field);

void BindRecords(pybind11::module_& module);
// The Python object of a result.
pybind11::object RecordObject(Record record);

}  // namespace chakra::python
