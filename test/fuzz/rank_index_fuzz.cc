// Indices of ranks that share files, text or JSON: any bytes give a consistent index or an error that names
// the file.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/et/rank_index.h"
#include "trace/io/proto_io.h"

FUZZ_TARGET(rank_index_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  chakra::proto::RankIndex message;
  if (!chakra::ParseMessage(text, "fuzz.ranks.json", &message).ok()) return 0;
  if (message.ranks() > 4096) message.set_ranks(4096);
  const auto index = chakra::RankIndex::Make(message, "fuzz.ranks.json");
  if (!index.ok()) {
    Require(absl::StartsWith(index.status().message(), "fuzz.ranks.json: "), "an error names the file");
    return 0;
  }
  for (int r = 0; r < index->ranks(); ++r) {
    const size_t graph = index->GraphOf(r);
    Require(graph < index->graphs(), "a rank has a graph");
    Require(index->GraphOf(index->SymmetricTo(r)) == graph, "symmetric ranks have one graph");
    Require(index->RankFor(r, index->OwnerOf(graph)) == r, "a rank stands in place of the file's own");
    const auto& of = message.graph(static_cast<int>(graph));
    for (const auto& place : of.group()) {
      const auto group = index->groups().find(index->GroupFor(r, place.group()));
      Require(group != index->groups().end(), "what stands in place of a group is a group");
      Require(std::count(group->second.begin(), group->second.end(), r) == 1, "and has the rank");
    }
    for (const auto& place : of.peer()) {
      const int other = index->RankFor(r, place.rank());
      Require(other >= 0 && other < index->ranks() && other != r, "a rank communicates with another");
    }
  }
  return 0;
}
