// The comments of fields in the protos. Descriptors of a running program have no comments.
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

namespace chakra::python {

// Sets the file that the build made from the protos with their comments (a FileDescriptorSet). Call before
// the first CommentOf().
void SetCommentsFile(const std::string& path);

// The comments before and after a field, as one line; "": none, or the file cannot be read.
std::string CommentOf(const google::protobuf::FieldDescriptor& field);

}  // namespace chakra::python
