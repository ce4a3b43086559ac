#include "replay/cli/help/topics.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/packet/transports/any_transport.h"
#include "backends/registry.h"
#include "backends/topology/network.h"
#include "proto/cluster.pb.h"
#include "proto/reliability.pb.h"
#include "proto/workload.pb.h"
#include "replay/cluster/load.h"
#include "trace/base/text_page.h"
#include "trace/io/settings.h"
#include "trace/io/topic.h"

namespace chakra::cli {
namespace {

using google::protobuf::Descriptor;

// "1 to 8" for "a whole number from 1 to 8".
std::string ValuesCell(std::string text) {
  absl::string_view out = text;
  if (!absl::ConsumePrefix(&out, "a whole number from ")) absl::ConsumePrefix(&out, "a whole number ");
  return std::string(out);
}

HelpTopic OfSettings(const Descriptor& type, std::string title, std::string about) {
  HelpTopic topic = {std::string(TopicOf(type)), std::move(title), std::move(about), {}};
  for (SettingDoc& d : DescribeSettings(type))
    topic.rows.push_back(
        {std::move(d.key), std::move(d.fallback), ValuesCell(std::move(d.values)), std::move(d.doc)});
  return topic;
}

HelpTopic OfParameters(absl::string_view name, std::string title, std::string about,
                       const std::vector<Parameter>& parameters) {
  HelpTopic topic = {std::string(name), std::move(title), std::move(about), {}};
  for (const Parameter& p : parameters) topic.rows.push_back({p.key, p.fallback, "", p.doc});
  return topic;
}

HelpTopic OfCluster() {
  HelpTopic topic = {
      "cluster",
      "Keys of --cluster PRESET:key=value,...",
      "A key sets a field of the cluster (proto/cluster.proto). A value may have its unit. --set sets any "
      "field, and counts after the keys. `chakra-replay topology preset` prints the presets.",
      {}};
  for (const OverrideDoc& d : DescribeOverrides())
    topic.rows.push_back({d.key, "", "", absl::StrCat(d.doc, " (", d.field, ")")});
  return topic;
}

HelpTopic OfNetworks() {
  HelpTopic topic = {
      "network",
      "Networks of --network NAME:key=value,...",
      "`chakra-replay help NAME` prints the keys of a network. All networks also take span: all (one network "
      "joins all nodes, the default), rails (one network for each rail) or machine (it replaces all "
      "dimensions of the cluster).",
      {}};
  for (const NetworkKind& kind : NetworkKinds()) topic.rows.push_back({kind.name, "", "", kind.summary});
  return topic;
}

HelpTopic OfTransports() {
  HelpTopic topic = {"transport",
                     "Transports of --packet transport=(NAME:key=value,...)",
                     "`chakra-replay help NAME` prints the keys of a transport.",
                     {}};
  for (const packet::TransportKind& kind : packet::TransportKinds())
    topic.rows.push_back({std::string(kind.name), "", "", std::string(kind.summary)});
  return topic;
}

HelpTopic OfFabrics() {
  HelpTopic topic = {"fabric", "Simulators of messages for --fabric NAME", "", {}};
  for (const FabricKind* kind : Fabrics()) {
    const std::string keys =
        kind->parameters.empty() ? "" : absl::StrCat("; keys: `chakra-replay help ", kind->name, "`");
    topic.rows.push_back({kind->name, "", "", absl::StrCat(kind->help, keys)});
  }
  return topic;
}

// `text` wrapped into the lines of a column.
std::vector<std::string> Cell(absl::string_view text, size_t width) {
  std::string wrapped = WrapText("", text, "", width);
  if (!wrapped.empty()) wrapped.pop_back();
  return absl::StrSplit(wrapped, '\n');
}

// The widths of a table's columns; the last column has the remaining width. 0: there is no such column.
struct Columns {
  size_t key, fallback, values;
  size_t Begin() const { return kGap + Wide(key) + Wide(fallback) + Wide(values); }
  static size_t Wide(size_t column) { return column == 0 ? 0 : column + kGap; }
  static constexpr size_t kGap = 2;
};
// The maximum widths of the two middle columns, the preferred choice first.
constexpr Columns kMost[] = {{0, 13, 17}, {0, 10, 12}, {0, 8, 10}};
constexpr size_t kLeastDoc = 28;

// Whether the text is short enough for a column: at most three lines, and no word wider than the column.
bool Fits(const std::string& text, size_t width) {
  if (text.size() > 3 * width) return false;
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  return std::all_of(words.begin(), words.end(), [&](const std::string& w) { return w.size() <= width; });
}

// Moves texts that do not fit into a column to the end of the sentence.
std::vector<KeyRow> Fitted(std::vector<KeyRow> rows, const Columns& most) {
  for (KeyRow& row : rows) {
    if (!Fits(row.values, most.values)) {
      absl::StrAppend(&row.doc, "; ", row.values);
      row.values.clear();
    }
    if (!Fits(row.fallback, most.fallback)) {
      absl::StrAppend(&row.doc, "; default: ", row.fallback);
      row.fallback.clear();
    }
  }
  return rows;
}

KeyRow HeaderOf() { return {"key", "default", "values", "meaning"}; }

Columns ColumnsOf(const std::vector<KeyRow>& rows, const Columns& most) {
  const KeyRow header = HeaderOf();
  Columns c = {header.key.size(), 0, 0};
  const auto widen = [](const std::string& cell, const std::string& name, size_t limit, size_t* column) {
    if (!cell.empty()) *column = std::max({*column, std::min(cell.size(), limit), name.size()});
  };
  for (const KeyRow& row : rows) {
    c.key = std::max(c.key, row.key.size());
    widen(row.fallback, header.fallback, most.fallback, &c.fallback);
    widen(row.values, header.values, most.values, &c.values);
  }
  return c;
}

void AddRow(const KeyRow& row, const Columns& c, size_t width, std::string* out) {
  const std::pair<std::vector<std::string>, size_t> cells[] = {{{row.key}, c.key},
                                                               {Cell(row.fallback, c.fallback), c.fallback},
                                                               {Cell(row.values, c.values), c.values},
                                                               {Cell(row.doc, width - c.Begin()), width}};
  size_t lines = 0;
  for (const auto& [cell, size] : cells) lines = std::max(lines, cell.size());
  for (size_t i = 0; i < lines; ++i) {
    std::string line(Columns::kGap, ' ');
    for (const auto& [cell, size] : cells) {
      std::string text = i < cell.size() ? cell[i] : "";
      text.resize(Columns::Wide(size), ' ');
      line += text;
    }
    absl::StrAppend(out, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
}

// The rows as a table; "": the page is too narrow for a table.
std::string Table(const std::vector<KeyRow>& rows, size_t width) {
  std::string out;
  for (const Columns& most : kMost) {
    const std::vector<KeyRow> fitted = Fitted(rows, most);
    const Columns c = ColumnsOf(fitted, most);
    if (c.Begin() + kLeastDoc > width) continue;
    if (c.fallback + c.values > 0) AddRow(HeaderOf(), c, width, &out);
    for (const KeyRow& row : fitted) AddRow(row, c, width, &out);
    return out;
  }
  return out;
}

std::string List(const std::vector<KeyRow>& rows, size_t width) {
  std::string out;
  for (const KeyRow& row : rows) {
    const std::string text = absl::StrCat(row.doc, row.values.empty() ? "" : "; ", row.values,
                                          row.fallback.empty() ? "" : "; default: ", row.fallback);
    absl::StrAppend(&out, "  ", row.key, "\n", WrapText("      ", text, "      ", width));
  }
  return out;
}

}  // namespace

std::vector<HelpTopic> HelpTopics() {
  const std::string model =
      "NAME:key=value,... changes a preset (`chakra-replay generate --list`), a config.json of HuggingFace "
      "or a file of a "
      "framework; key=value,... alone is a whole model. A list has + for a comma.";
  return {
      OfSettings(*proto::Model::descriptor(), "Keys of --model", model),
      OfSettings(*proto::Parallel::descriptor(), "Keys of --parallel", "The ranks are tp * cp * dp * pp."),
      OfSettings(*proto::Training::descriptor(), "Keys of --training", ""),
      OfCluster(),
      OfNetworks(),
      OfSettings(*proto::Routing::descriptor(), "Keys of --routing POLICY:key=value,...",
                 "Policies: ecmp, destination, flowlet, spray, valiant and ugal; see backends/README.md."),
      OfSettings(*proto::LinkFault::descriptor(), "Keys of --fault KIND:key=value,...",
                 "Kinds: down, slow (bandwidth=SHARE) and lossy (loss=SHARE)."),
      OfSettings(*proto::PacketNetwork::descriptor(), "Keys of --packet",
                 "Sizes are in bytes, or have B, KB, MB, GB, KiB, MiB or GiB; times have their unit."),
      OfTransports(),
      OfSettings(*proto::PacketChoice::descriptor(), "Keys of --mixed",
                 "Messages that --fabric mixed sends as packets: those that meet all keys that are given. In "
                 "patterns * is "
                 "any characters and ? is one."),
      OfFabrics(),
      OfSettings(*proto::Checkpoint::descriptor(), "Keys of --checkpoint", "")};
}

std::vector<HelpTopic> HelpSubtopics() {
  std::vector<HelpTopic> out;
  for (const NetworkKind& kind : NetworkKinds())
    out.push_back(OfParameters(kind.name, absl::StrCat("Keys of --network ", kind.name, ":..."),
                               absl::StrCat(kind.summary, " (", kind.source, ")."), kind.parameters));
  for (const packet::TransportKind& kind : packet::TransportKinds())
    out.push_back(OfParameters(kind.name, absl::StrCat("Keys of --packet transport=(", kind.name, ":...)"),
                               absl::StrCat(kind.summary, " (", kind.source, ")."), kind.parameters));
  for (const FabricKind* kind : Fabrics()) {
    if (kind->parameters.empty()) continue;
    out.push_back(OfParameters(kind->name, absl::StrCat("Keys of --fabric ", kind->name, ":..."),
                               absl::StrCat(kind->help, "."), kind->parameters));
  }
  return out;
}

std::optional<HelpTopic> FindTopic(absl::string_view name) {
  for (const std::vector<HelpTopic>& topics : {HelpTopics(), HelpSubtopics()}) {
    for (const HelpTopic& topic : topics) {
      if (topic.name == name) return topic;
    }
  }
  return std::nullopt;
}

std::string PrintTopic(const HelpTopic& topic, size_t width) {
  const std::string about =
      topic.about.empty() ? "" : absl::StrCat("\n", WrapText("", topic.about, "", width));
  const std::string table = Table(topic.rows, width);
  return absl::StrCat(WrapText("", topic.title, "", width), about, "\n",
                      table.empty() ? List(topic.rows, width) : table);
}

}  // namespace chakra::cli
