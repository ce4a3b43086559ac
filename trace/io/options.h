// Options of the command line: fields of messages with the declarations of proto/option.proto. The command
// line, the words of sweeps and Python's arguments all fill messages by these declarations.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

class MessageOption {
 public:
  // The options of `type` and of the messages in it: fields that have a help, in order. A repeated message
  // has one option in each element, in the order in which the options were given.
  static std::vector<MessageOption> Of(const google::protobuf::Descriptor& type);

  const std::string& name() const { return name_; }  // "power-cap"; of an argument, "TRACE"
  bool positional() const;
  // With the dashes, as errors name it.
  std::string shown() const { return positional() ? name_ : "--" + name_; }
  const std::string& group() const { return group_; }
  const std::string& help() const;  // {...} is not replaced
  const std::string& value() const;
  // the value if the option is given without one; "": there is none, or the option is a flag
  const std::string& bare() const;
  std::vector<std::string> words() const;       // the valid values; empty: any value
  bool flag() const;                            // may be given without a value
  bool many() const;                            // may be given several times
  bool several() const;                         // takes all words that follow it
  bool in_order() const { return list_ >= 0; }  // keeps its order among the options of its message
  bool reads() const { return reads_; }
  bool often() const;  // many runs need it

  bool Given(const google::protobuf::Message& message) const;
  // The values as texts that Set() accepts; for an option in_order(), those of one of the Elements().
  std::vector<std::string> Values(const google::protobuf::Message& message, int element = 0) const;
  int Elements(const google::protobuf::Message& message) const;
  // Sets the value, or adds one to a list. `message` has the type that was passed to Of(). Errors say that
  // "VALUE" is not valid for the option, without the option's name.
  absl::Status Set(const std::string& value, google::protobuf::Message* message) const;
  // Sets all values of one option, which may be joined: a comma separates numbers.
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
  int list_ = -1;  // index in path_ of a repeated message; -1: there is none
  bool reads_ = false;
};

// Fills `message` by words, as a shell passes them: values, "--name value", "--name=value", flags. "--" ends
// the options. Errors (InvalidArgument) name the option: an unknown option, with the nearest one; a missing
// or invalid value; an option with one value that is given twice.
absl::Status ReadWords(const std::vector<std::string>& words, google::protobuf::Message* message);
// Words from which ReadWords() makes the same message.
std::vector<std::string> PrintWords(const google::protobuf::Message& message);

}  // namespace chakra
