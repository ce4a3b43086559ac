// Fields of messages by reflection: what Python sees of a cluster that it may change, and of a report.
#pragma once

#include <google/protobuf/message.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

namespace chakra::python {

// A message that Python may change, with all that is in it.
class Root {
 public:
  virtual ~Root() = default;
  virtual const google::protobuf::Message& Get() const = 0;
  // The one to change: runs that began with the message as it was keep that.
  virtual google::protobuf::Message& Change() = 0;
  virtual std::string name() const = 0;  // for messages: "cluster"
};

// One step into a message: a field, and of a repeated one an element.
struct Step {
  const google::protobuf::FieldDescriptor* field = nullptr;
  int index = -1;
};

// A message inside of a root, found anew each time: it may be gone.
struct MessageRef {
  std::shared_ptr<Root> root;
  std::vector<Step> path;

  const google::protobuf::Message& Get() const;
  google::protobuf::Message& Change() const;
  const google::protobuf::Descriptor& type() const;
  // As --set has it: "topology.dimension[0].".
  std::string place() const;
  MessageRef In(const google::protobuf::FieldDescriptor* field, int index = -1) const;
};

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
