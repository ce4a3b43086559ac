#include "replay/python/comments.h"

#include <google/protobuf/descriptor.pb.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/io/file.h"

namespace chakra::python {
namespace {

using google::protobuf::DescriptorPool;

// Needs the GIL, as SetCommentsFile() does.
std::string& CommentsFile() {
  static auto* const path = new std::string();
  return *path;
}

std::unique_ptr<DescriptorPool> ReadPool() {
  auto pool = std::make_unique<DescriptorPool>();
  const absl::StatusOr<std::string> bytes = ReadFile(CommentsFile());
  google::protobuf::FileDescriptorSet files;
  if (!bytes.ok() || !files.ParseFromString(*bytes)) return pool;
  for (const auto& file : files.file()) pool->BuildFile(file);
  return pool;
}

}  // namespace

void SetCommentsFile(const std::string& path) { CommentsFile() = path; }

std::string CommentOf(const google::protobuf::FieldDescriptor& field) {
  static const DescriptorPool* const kPool = ReadPool().release();
  const auto* type = kPool->FindMessageTypeByName(field.containing_type()->full_name());
  const auto* commented = type == nullptr ? nullptr : type->FindFieldByName(field.name());
  google::protobuf::SourceLocation at;
  if (commented == nullptr || !commented->GetSourceLocation(&at)) return "";
  const std::string text = absl::StrCat(at.leading_comments, " ", at.trailing_comments);
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty()), " ");
}

}  // namespace chakra::python
