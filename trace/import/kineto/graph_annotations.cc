#include "trace/import/kineto/graph_annotations.h"

#include <simdjson.h>

#include <deque>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/import/kineto/kineto_comm.h"
#include "trace/import/kineto/kineto_event.h"
#include "trace/import/kineto/kineto_notes.h"
#include "trace/io/compressed_file.h"

namespace chakra::pytorch {
namespace {

using kineto::Arg;
using kineto::EventTokens;

// The annotations of one node, in the form of the arguments of an event. `texts` owns the texts that the
// result points to.
EventTokens TokensOf(const simdjson::dom::element& entries, std::deque<std::string>* texts) {
  EventTokens tokens;
  simdjson::dom::array list;
  if (entries.get(list) != simdjson::SUCCESS) return tokens;
  for (const simdjson::dom::element entry : list) {
    simdjson::dom::object fields;
    if (entry.get(fields) != simdjson::SUCCESS) continue;  // a text: the name of a part of the program
    for (const auto& field : fields) {
      Arg arg;
      if (!kineto::FindArg(absl::string_view(field.key.data(), field.key.size()), &arg)) continue;
      texts->push_back(simdjson::minify(field.value));
      tokens.args[static_cast<int>(arg)] = texts->back();
      tokens.seen |= uint64_t{1} << static_cast<int>(arg);
    }
  }
  return tokens;
}

}  // namespace

bool NamedAsGraphAnnotations(absl::string_view path, int* rank) {
  constexpr absl::string_view kBegin = "kernel_annotations_rank";
  absl::string_view name = WithoutCompression(path.substr(path.rfind('/') + 1));
  if (!absl::StartsWith(name, kBegin) || !absl::EndsWith(name, ".json")) return false;
  name.remove_prefix(kBegin.size());
  size_t digits = 0;
  while (digits < name.size() && absl::ascii_isdigit(static_cast<unsigned char>(name[digits]))) ++digits;
  return absl::SimpleAtoi(name.substr(0, digits), rank);
}

absl::Status AnnotateGraphs(absl::string_view json, absl::string_view file, DeviceTrace* trace) {
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": ", what,
                     "; expected the annotations of CUDA graphs that torch.cuda writes: "
                     "{\"<number of a node>\": [{...}], ...}"));
  };
  simdjson::dom::parser parser;
  simdjson::dom::object nodes;
  const simdjson::padded_string padded(json.data(), json.size());
  if (const auto error = parser.parse(padded).get(nodes); error != simdjson::SUCCESS)
    return wrong(simdjson::error_message(error));
  std::deque<std::string> texts;
  absl::flat_hash_map<int64_t, CommCall> call_of;
  kineto::Notes notes;
  for (const auto& node : nodes) {
    int64_t number = 0;
    const absl::string_view key(node.key.data(), node.key.size());
    if (!absl::SimpleAtoi(key, &number) || number <= 0)
      return wrong(absl::StrCat("\"", key.substr(0, 40), "\" is not the number of a node"));
    if (!node.value.is_array()) return wrong(absl::StrCat("node ", number, " has no list"));
    const EventTokens tokens = TokensOf(node.value, &texts);
    if (tokens.has(Arg::kCollective) || (tokens.has(Arg::kInElems) && tokens.has(Arg::kDtype)))
      call_of.emplace(number, kineto::ReadComm(tokens, &notes));
  }
  for (const GraphNodeOf& node : trace->graph_nodes) {
    const auto call = call_of.find(node.node);
    DeviceExtra& extra = trace->device[node.extra];
    if (call == call_of.end() || extra.comm != kNoRow) continue;
    extra.comm = static_cast<uint32_t>(trace->comms.size());
    trace->comms.push_back(call->second);
  }
  for (Repair& note : notes.Take(file, trace->rank)) trace->repairs.push_back(std::move(note));
  return absl::OkStatus();
}

}  // namespace chakra::pytorch
