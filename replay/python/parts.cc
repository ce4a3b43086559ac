#include "replay/python/parts.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/python/errors.h"

namespace py = pybind11;

namespace chakra::python {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The root of a message that is part of no other message.
class PartRoot final : public Root {
 public:
  PartRoot(const Message& content, std::string name) : message_(content.New()), name_(std::move(name)) {
    message_->CopyFrom(content);
  }
  const Message& Get() const override { return *message_; }
  Message& Change() override { return *message_; }
  std::string name() const override { return name_; }

 private:
  std::unique_ptr<Message> message_;
  std::string name_;
};

bool StartsWith(const Steps& path, const Steps& with) {
  return path.size() >= with.size() && std::equal(with.begin(), with.end(), path.begin());
}

}  // namespace

void Root::Hold(const std::shared_ptr<Where>& where) {
  const auto same = [&](const std::weak_ptr<Where>& one) {
    return !one.owner_before(where) && !where.owner_before(one);
  };
  if (std::any_of(held_.rbegin(), held_.rend(), same)) return;
  if (held_.size() >= prune_at_) {
    std::erase_if(held_, [](const std::weak_ptr<Where>& one) { return one.expired(); });
    prune_at_ = std::max<size_t>(64, 2 * held_.size());
  }
  held_.push_back(where);
}

std::vector<std::pair<std::shared_ptr<Where>, Where>> Root::LetGo(const Steps& path, const Message& was) {
  std::vector<std::pair<std::shared_ptr<Where>, Where>> gone;
  std::shared_ptr<Root> own;
  for (const std::weak_ptr<Where>& one : held_) {
    const std::shared_ptr<Where> where = one.lock();
    if (where == nullptr || where->root.get() != this || !StartsWith(where->path, path)) continue;
    if (own == nullptr) own = std::make_shared<PartRoot>(was, name());
    gone.emplace_back(where, *where);
    where->root = own;
    where->path.erase(where->path.begin(), where->path.begin() + static_cast<ptrdiff_t>(path.size()));
    own->Hold(where);
  }
  return gone;
}

void Root::Move(const Steps& path, const FieldDescriptor* field, const std::function<int(int)>& to) {
  for (const std::weak_ptr<Where>& one : held_) {
    const std::shared_ptr<Where> where = one.lock();
    if (where == nullptr || where->root.get() != this || where->path.size() <= path.size()) continue;
    Step& step = where->path[path.size()];
    if (step.field == field && StartsWith(where->path, path)) step.index = to(step.index);
  }
}

const Message& MessageRef::Get() const {
  const Message* at = &root().Get();
  for (const Step& step : path()) {
    const auto& reflection = *at->GetReflection();
    if (step.index < 0) {
      at = &reflection.GetMessage(*at, step.field);
    } else {
      if (step.index >= reflection.FieldSize(*at, step.field))
        ThrowInvalid(absl::StrCat(root().name(), ": ", place(), " no longer exists"));
      at = &reflection.GetRepeatedMessage(*at, step.field, step.index);
    }
  }
  return *at;
}

Message& MessageRef::Change() const {
  (void)Get();
  Message* at = &root().Change();
  for (const Step& step : path()) {
    const auto& reflection = *at->GetReflection();
    at = step.index < 0 ? reflection.MutableMessage(at, step.field)
                        : reflection.MutableRepeatedMessage(at, step.field, step.index);
  }
  return *at;
}

const Descriptor& MessageRef::type() const {
  return path().empty() ? *root().Get().GetDescriptor() : *path().back().field->message_type();
}

std::string MessageRef::place() const {
  std::string out;
  for (const Step& step : path()) {
    absl::StrAppend(&out, step.field->name());
    if (step.index >= 0) absl::StrAppend(&out, "[", step.index, "]");
    out += ".";
  }
  return out;
}

MessageRef MessageRef::In(const FieldDescriptor* field, int index) const {
  Steps to = path();
  to.push_back({field, index});
  return MessageRef(where->root, std::move(to));
}

MessageRef MessageRef::Copy() const {
  return MessageRef(std::make_shared<PartRoot>(Get(), root().name()), {});
}

MessageRef PartOf(const std::string& type, const std::string& bytes) {
  const Descriptor* found = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  const Message* like =
      found == nullptr ? nullptr : google::protobuf::MessageFactory::generated_factory()->GetPrototype(found);
  const std::unique_ptr<Message> message(like == nullptr ? nullptr : like->New());
  if (message == nullptr || !message->ParseFromString(bytes))
    ThrowInvalid("a pickled part of another version");
  return MessageRef(std::make_shared<PartRoot>(*message, found->name()), {});
}

std::string ListRef::place() const { return absl::StrCat(in.place(), field->name()); }

int ListRef::At(std::ptrdiff_t index) const {
  const std::ptrdiff_t n = size();
  if (index < 0) index += n;
  if (index < 0 || index >= n)
    throw py::index_error(absl::StrCat(in.root().name(), ": ", place(), " has ", n, " elements"));
  return static_cast<int>(index);
}

void ListRef::Remove(int index) const {
  if (field->message_type() != nullptr) {
    in.root().LetGo(PathTo(index), in.In(field, index).Get());
    in.root().Move(in.path(), field, [index](int i) { return i > index ? i - 1 : i; });
  }
  Message& message = in.Change();
  for (int i = index; i + 1 < size(); ++i) message.GetReflection()->SwapElements(&message, field, i, i + 1);
  message.GetReflection()->RemoveLast(&message, field);
}

void ListRef::LastTo(int index) const {
  const int last = size() - 1;
  if (field->message_type() != nullptr)
    in.root().Move(in.path(), field, [=](int i) { return i == last ? index : i >= index ? i + 1 : i; });
  Message& message = in.Change();
  for (int i = last; i > index; --i) message.GetReflection()->SwapElements(&message, field, i - 1, i);
}

void ListRef::Clear() const {
  for (int i = 0; i < size() && field->message_type() != nullptr; ++i)
    in.root().LetGo(PathTo(i), in.In(field, i).Get());
  Message& message = in.Change();
  message.GetReflection()->ClearField(&message, field);
}

}  // namespace chakra::python
