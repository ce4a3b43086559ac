// Messages that Python may change, and the parts of them that it holds.
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chakra::python {

class Root;

// One step into a message: a field, and of a repeated one an element.
struct Step {
  const google::protobuf::FieldDescriptor* field = nullptr;
  int index = -1;
  bool operator==(const Step& other) const { return field == other.field && index == other.index; }
};
using Steps = std::vector<Step>;

// Where a message is.
struct Where {
  std::shared_ptr<Root> root;
  Steps path;
};

// A message that Python may change, with all that is in it. Parts that Python holds follow when they move in
// their list; when they are taken out or replaced they go on by themselves, as they were.
class Root {
 public:
  virtual ~Root() = default;
  virtual const google::protobuf::Message& Get() const = 0;
  // The one to change: runs that began with the message as it was keep that.
  virtual google::protobuf::Message& Change() = 0;
  virtual std::string name() const = 0;  // for messages: "cluster"

  // Remembers who holds a part, as long as somebody does.
  void Hold(const std::shared_ptr<Where>& where);
  // What is at `path`, `was`, is about to go: who holds it, or a part of it, keeps it. Returns where they
  // were.
  std::vector<std::pair<std::shared_ptr<Where>, Where>> LetGo(const Steps& path,
                                                              const google::protobuf::Message& was);
  // Elements of the list `field` of what is at `path` have moved, or are about to.
  void Move(const Steps& path, const google::protobuf::FieldDescriptor* field,
            const std::function<int(int index)>& to);

 private:
  std::vector<std::weak_ptr<Where>> held_;
  size_t prune_at_ = 64;
};

// A message inside of a root.
struct MessageRef {
  std::shared_ptr<Where> where;

  MessageRef(std::shared_ptr<Root> root, Steps path)
      : where(std::make_shared<Where>(Where{std::move(root), std::move(path)})) {}

  Root& root() const { return *where->root; }
  const Steps& path() const { return where->path; }
  const google::protobuf::Message& Get() const;
  google::protobuf::Message& Change() const;
  const google::protobuf::Descriptor& type() const;
  // As --set has it: "topology.dimension[0].".
  std::string place() const;
  MessageRef In(const google::protobuf::FieldDescriptor* field, int index = -1) const;
  // For Python to hold.
  const MessageRef& Held() const {
    root().Hold(where);
    return *this;
  }
  // Another message with the same content, in no other.
  MessageRef Copy() const;
};

// A message of `type`, a full name, from its bytes, in no other. Errors: there is no such type; other bytes.
MessageRef PartOf(const std::string& type, const std::string& bytes);

// A repeated field, or a map, of a message that may be changed.
struct ListRef {
  MessageRef in;
  const google::protobuf::FieldDescriptor* field = nullptr;

  int size() const { return in.Get().GetReflection()->FieldSize(in.Get(), field); }
  std::string place() const;
  // Errors: IndexError.
  int At(std::ptrdiff_t index) const;
  Steps PathTo(int index) const { return in.In(field, index).path(); }
  void Remove(int index) const;
  // The last element goes to `index`.
  void LastTo(int index) const;
  void Clear() const;
};

}  // namespace chakra::python
