// Messages that are results: attributes by reflection, tables as columns.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <memory>

#include "replay/python/table.h"

namespace chakra::python {

// Part of a result that does not change; shares its owner.
using Record = std::shared_ptr<const google::protobuf::Message>;

// chakra_replay.Table of a repeated field of messages.
pybind11::object TableOf(const Record& record, const google::protobuf::FieldDescriptor& field);

void BindRecords(pybind11::module_& module);
// A result as Python sees it.
pybind11::object RecordObject(Record record);

}  // namespace chakra::python
