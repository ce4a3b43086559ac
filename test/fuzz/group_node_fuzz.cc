// Texts of process_group:init metadata nodes, by themselves and inside a trace.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/et_def.pb.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/import/reader.h"
#include "trace/model/groups.h"

FUZZ_TARGET(group_node_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto groups = chakra::ParseGroupNode(text, "fuzz.et: rank 0, node 1");
  Require(groups.ok() || !groups.status().message().empty(), "an error says what is wrong");

  std::string et;
  chakra::EtWriter writer(&et, chakra::Compression::kNone);
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version("0.0.4");
  ChakraProtoMsg::Node node;
  node.set_id(1);
  node.set_name("## process_group:init ##");
  node.set_type(ChakraProtoMsg::METADATA_NODE);
  node.mutable_inputs()->set_values(std::string(text));
  if (!writer.AddMetadata(metadata).ok() || !writer.AddNode(node).ok() || !writer.Finish().ok()) return 0;
  const auto set = chakra::ReadTraceSet({chakra::fuzz::Folder().Write("w.et", et)}, chakra::ReadOptions());
  Require(set.ok(), "a group node that cannot be read is a repair");
  Require(set->groups == (groups.ok() ? *groups : chakra::Groups()), "the trace has the groups of its node");
  Require(groups.ok() || set->ranks[0].repairs.size() == 1, "what was not read is in the repairs");
  return 0;
}
