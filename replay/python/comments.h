// What the protos say beside their fields, which descriptors of a running program do not have.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

namespace chakra::python {

// The file that the build made of the protos with their comments (a FileDescriptorSet). Before the first
// CommentOf().
void SetCommentsFile(const std::string& path);

// The comment before a field and that after it, as one line; "": none, or the file cannot be read.
std::string CommentOf(const google::protobuf::FieldDescriptor& field);

}  // namespace chakra::python
