// Messages that Python may change, and references to their parts.
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chakra::python {

class Root;

// One step into a message: a field, and the index of an element if the field is repeated.
struct Step {
  const google::protobuf::FieldDescriptor* field = nullptr;
  int index = -1;
  bool operator==(const Step& other) const { return field == other.field && index == other.index; }
};
using Steps = std::vector<Step>;

// The location of a message: a root, and the path from there.
struct Where {
  std::shared_ptr<Root> root;
  Steps path;
};

// A message that Python may change, with its parts. A reference to a part follows its element when the
// element moves in its list. When the part is removed or replaced, the reference keeps a separate copy of the
// old part.
class Root {
 public:
  virtual ~Root() = default;
  virtual const google::protobuf::Message& Get() const = 0;
  // The message, for changes. Runs that have started keep the message as it was.
  virtual google::protobuf::Message& Change() = 0;
  virtual std::string name() const = 0;  // for error messages: "cluster"

  // Records a reference to a part, for as long as the reference is held.
  void Hold(const std::shared_ptr<Where>& where);
  // Call before the part at `path`, whose content is `was`, is removed or replaced. References to it and to
  // its parts get a copy of it. Returns these references and their previous locations.
  std::vector<std::pair<std::shared_ptr<Where>, Where>> LetGo(const Steps& path,
                                                              const google::protobuf::Message& was);
  // Updates references after, or just before, elements of the list `field` of the message at `path` move.
  // `to` gives the new index of an element.
  void Move(const Steps& path, const google::protobuf::FieldDescriptor* field,
            const std::function<int(int index)>& to);

 private:
  std::vector<std::weak_ptr<Where>> held_;
  size_t prune_at_ = 64;
};

// A reference to a message inside a root.
struct MessageRef {
  std::shared_ptr<Where> where;

  MessageRef(std::shared_ptr<Root> root, Steps path)
      : where(std::make_shared<Where>(Where{std::move(root), std::move(path)})) {}

  Root& root() const { return *where->root; }
  const Steps& path() const { return where->path; }
  const google::protobuf::Message& Get() const;
  google::protobuf::Message& Change() const;
  const google::protobuf::Descriptor& type() const;
  // The path as --set has it: "topology.dimension[0].".
  std::string place() const;
  MessageRef In(const google::protobuf::FieldDescriptor* field, int index = -1) const;
  // Registers this reference with its root; for references that Python holds.
  const MessageRef& Held() const {
    root().Hold(where);
    return *this;
  }
  // A copy of the message, as its own root.
  MessageRef Copy() const;
};

// Creates a message of `type`, a full name, from its bytes, as its own root. Errors: an unknown type; bytes
// that are not such a message.
MessageRef PartOf(const std::string& type, const std::string& bytes);

// A reference to a repeated field or a map of a message that may be changed.
struct ListRef {
  MessageRef in;
  const google::protobuf::FieldDescriptor* field = nullptr;

  int size() const { return in.Get().GetReflection()->FieldSize(in.Get(), field); }
  std::string place() const;
  // The index from 0; a negative `index` counts from the end. Errors: IndexError.
  int At(std::ptrdiff_t index) const;
  Steps PathTo(int index) const { return in.In(field, index).path(); }
  void Remove(int index) const;
  // Moves the last element to `index`.
  void LastTo(int index) const;
  void Clear() const;
};

}  // namespace chakra::python
