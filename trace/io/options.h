// Options of the command line: fields that say in proto/option.proto what an option of their name takes. The
// command line, the words of sweeps and Python's arguments all fill a message by these.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

class MessageOption {
 public:
  // Fields of `type` and of the messages in it that have a help, in order. A message that is repeated holds
  // one option in each element, in the order in which they were given.
  static std::vector<MessageOption> Of(const google::protobuf::Descriptor& type);

  const std::string& name() const { return name_; }  // "power-cap"; of what has no name in words, "TRACE"
  bool positional() const;
  // With the dashes, as errors call it.
  std::string shown() const { return positional() ? name_ : "--" + name_; }
  const std::string& group() const { return group_; }
  const std::string& help() const;  // with {...} not filled in
  const std::string& value() const;
  const std::string& bare() const;              // the value where it stands alone; "": a flag has none
  std::vector<std::string> words() const;       // what it may be; empty: anything
  bool flag() const;                            // may stand alone
  bool many() const;                            // may be given several times
  bool several() const;                         // takes all words that follow
  bool in_order() const { return list_ >= 0; }  // with others of its message
  bool reads() const { return reads_; }
  bool often() const;  // most runs may need it

  bool Given(const google::protobuf::Message& message) const;
  // As texts that Set() takes; of an option in_order() those of one of the Elements().
  std::vector<std::string> Values(const google::protobuf::Message& message, int element = 0) const;
  int Elements(const google::protobuf::Message& message) const;
  // Sets the value, or adds one. `message` is of the type that Of() was asked for. Errors: "VALUE" is not
  // what the option takes, without the option's name.
  absl::Status Set(const std::string& value, google::protobuf::Message* message) const;
  // The same for all values of one option, as a list or one by one; a comma separates numbers.
  absl::Status SetAll(const std::vector<std::string>& values, google::protobuf::Message* message) const;

 private:
  static void Add(const google::protobuf::Descriptor& type, const MessageOption& outer,
                  std::vector<MessageOption>* out);
  const google::protobuf::FieldDescriptor& field() const { return *path_.back(); }
  const google::protobuf::Message& Holder(const google::protobuf::Message& message, size_t depth,
                                          int element) const;
  std::vector<std::string> ValuesOf(const google::protobuf::Message& inner) const;

  std::vector<const google::protobuf::FieldDescriptor*> path_;  // from the message to the field
  std::string name_, group_;
  int list_ = -1;  // where in path_ a message is repeated
  bool reads_ = false;
};

// Fills `message` by words as a shell hands them over: values, "--name value", "--name=value", flags. "--"
// ends the options. Errors (InvalidArgument) name the option: an unknown one, with the nearest; a value that
// is missing or not what the option takes; an option that is given twice and takes one value.
absl::Status ReadWords(const std::vector<std::string>& words, google::protobuf::Message* message);
// Words that ReadWords() makes the same message of.
std::vector<std::string> PrintWords(const google::protobuf::Message& message);

}  // namespace chakra
