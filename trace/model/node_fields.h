// Field numbers of the messages in a trace (proto/et_def.proto), for code that writes bytes without building
// a message object for each node.
#pragma once

#include <cstdint>

namespace chakra {

// Fields of Node.
inline constexpr uint32_t kNodeId = 1, kNodeName = 2, kNodeType = 3, kNodeCtrlDeps = 4, kNodeDataDeps = 5,
                          kNodeStart = 6, kNodeDuration = 7, kNodeInputs = 8, kNodeAttr = 10;
// Fields of IOInfo.
inline constexpr uint32_t kIoValues = 1, kIoShapes = 2, kIoTypes = 3;
// Fields of GlobalMetadata.
inline constexpr uint32_t kMetadataAttr = 2;
// Fields of AttributeProto and of its lists.
inline constexpr uint32_t kAttrName = 1, kListValues = 1;

// The value fields of AttributeProto that written attributes use.
enum class ValueField : uint32_t {
  kDouble = 3,
  kInt32 = 7,
  kInt64 = 9,
  kInt64List = 10,
  kUint64 = 13,
  kBool = 27,
  kString = 29,
  kStringList = 30,
};

}  // namespace chakra
