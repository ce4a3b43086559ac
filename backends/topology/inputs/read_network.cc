#include "backends/topology/inputs/read_network.h"

#include <google/protobuf/stubs/logging.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "backends/topology/inputs/assembly.h"
#include "backends/topology/inputs/explicit_graph.h"
#include "backends/topology/inputs/infragraph.h"
#include "backends/topology/inputs/links_file.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"
#include "trace/io/json_value.h"

namespace chakra {
namespace {

// Whether the text has a JSON key `key` anywhere. InfraGraph has none of the keys that callers look for.
bool HasKey(absl::string_view text, absl::string_view key) {
  for (size_t at = text.find(key); at != absl::string_view::npos; at = text.find(key, at + 1)) {
    if (at == 0 || text[at - 1] != '"') continue;
    const absl::string_view rest = text.substr(at + key.size());
    if (!absl::StartsWith(rest, "\"")) continue;
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(rest.substr(1)), ":")) return true;
  }
  return false;
}

bool HasLine(absl::string_view text, absl::string_view word) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, word)) continue;
    const absl::string_view rest = absl::StripLeadingAsciiWhitespace(line.substr(word.size()));
    if (rest.empty() || rest.front() == '{' || rest.front() == ':') return true;
  }
  return false;
}

bool IsText(absl::string_view text) {
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 && !absl::ascii_isspace(u)) return false;
  }
  return ValidUtf8Prefix(text) == text.size();
}

}  // namespace

absl::StatusOr<NetworkFormat> SniffNetwork(absl::string_view text, const std::string& file) {
  const absl::string_view trimmed = absl::StripLeadingAsciiWhitespace(text);
  const auto unknown = [&](absl::string_view what) {
    return BadNetwork(
        file, absl::StrCat(what, "; expected a list of links (\"nodes switches links\" and so on), an ",
                           "InfraGraph (devices, instances, edges) or a graph (vertices, links)"));
  };
  if (trimmed.empty()) return unknown("empty");
  if (trimmed.front() == '{') {
    if (HasKey(text, "vertices")) return NetworkFormat::kExplicit;
    for (const char* key : {"devices", "instances", "infrastructure", "inventory"}) {
      if (HasKey(text, key)) return NetworkFormat::kInfraGraph;
    }
    return unknown("JSON without a known key");
  }
  if (IsText(text)) {
    if (absl::ascii_isdigit(static_cast<unsigned char>(trimmed.front()))) return NetworkFormat::kLinks;
    if (HasLine(text, "vertices")) return NetworkFormat::kExplicit;
    for (const char* key : {"devices", "instances", "infrastructure", "inventory"}) {
      if (HasLine(text, key)) return NetworkFormat::kInfraGraph;
    }
    if (absl::StrContains(text, "vertices {")) return NetworkFormat::kExplicit;
    if (absl::StrContains(text, "instances {")) return NetworkFormat::kInfraGraph;
  }
  google::protobuf::LogSilencer quiet;
  infragraph::Infrastructure infra;
  if (text.size() < 0x7fffffff && infra.ParseFromArray(text.data(), static_cast<int>(text.size())) &&
      infra.instances_size() > 0) {
    return NetworkFormat::kInfraGraph;
  }
  proto::ExplicitGraph graph;
  if (text.size() < 0x7fffffff && graph.ParseFromArray(text.data(), static_cast<int>(text.size())) &&
      graph.vertices_size() > 0) {
    return NetworkFormat::kExplicit;
  }
  return unknown("no known form of a network");
}

absl::StatusOr<ReadNetwork> ReadNetworkFile(absl::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const auto format, SniffNetwork(text, file));
  switch (format) {
    case NetworkFormat::kLinks:
      return ReadLinksFile(text, file);
    case NetworkFormat::kInfraGraph:
      return ReadInfraGraph(text, file);
    case NetworkFormat::kExplicit:
      break;
  }
  return ReadExplicitGraph(text, file);
}

}  // namespace chakra
