#include <map>

#include "absl/strings/str_cat.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"
#include "trace/import/linked/linker.h"
#include "trace/io/printable_message.h"

namespace chakra::pytorch {
namespace {

constexpr int kRows = 16;

std::string Base(const std::string& path) {
  const size_t slash = path.rfind('/');
  return path.empty() ? "-" : path.substr(slash == path.npos ? 0 : slash + 1);
}

std::string Ranks(const proto::ConversionReport& r, TextPage* page) {
  TextTable table({"rank", "host trace", "device trace", "paired", "kernels", "launched", "nodes", "comm",
                   "bytes", "window"},
                  {false, true, true, false, false, false, false, false, false, false});
  for (int i = 0; i < std::min(r.ranks_size(), kRows); ++i) {
    const proto::RankConversion& x = r.ranks(i);
    table.Add({std::to_string(x.rank()), Shorten(Base(x.host_file()), 24, "-"),
               Shorten(Base(x.device_file()), 32, "-"),
               x.pairing().empty()
                   ? "-"
                   : absl::StrCat(FormatCount(x.paired()), "/", FormatCount(x.paired() + x.host_unpaired())),
               FormatCount(x.device_events()), FormatCount(x.launched()), FormatCount(x.nodes()),
               absl::StrCat(FormatCount(x.comm_nodes()), "/", FormatCount(x.comm_calls())),
               FormatBytes(x.comm_node_bytes()), FormatTime(Time::Nanos(x.window_ns()))});
  }
  std::string out = table.Print(page);
  if (r.ranks_size() > kRows)
    absl::StrAppend(&out, "  ... and ", r.ranks_size() - kRows,
                    " more ranks (all are in --report FILE.json)\n");
  return out;
}

std::string PrintMembers(const proto::GroupConversion& g) {
  constexpr int kListed = 12;
  std::string out;
  for (int i = 0; i < std::min(g.ranks_size(), kListed); ++i)
    absl::StrAppend(&out, i > 0 ? "," : "", g.ranks(i));
  if (g.ranks_size() > kListed) absl::StrAppend(&out, ",... (", g.ranks_size(), ")");
  return out.empty() ? "-" : out;
}

// One line for each group. Groups with the same evidence have it printed once.
std::string GroupLines(const proto::ConversionReport& r, TextPage* page) {
  const std::string peers = r.peers_inferred() == 0
                                ? ""
                                : absl::StrCat("\nPeers of ", FormatCount(r.peers_inferred()),
                                               " sends and receives, inferred: ", r.peer_evidence(), "\n");
  if (r.groups_size() == 0) return peers;
  TextTable table({"group", "ranks", "calls", "how known"}, {true, true, false, true});
  std::map<std::string, std::string> evidence;  // name of the first group with this evidence, by evidence
  std::string said;
  for (int i = 0; i < std::min(r.groups_size(), kRows); ++i) {
    const proto::GroupConversion& g = r.groups(i);
    table.Add({Shorten(g.name(), 32, "-"), PrintMembers(g), FormatCount(g.calls()), g.origin()});
    if (g.origin() == "named") continue;
    const auto [it, fresh] = evidence.try_emplace(g.evidence(), g.name());
    if (fresh) absl::StrAppend(&said, "  ", g.name(), ": ", g.evidence(), "\n");
  }
  std::string out = absl::StrCat("\nGroups\n", table.Print(page));
  if (r.groups_size() > kRows)
    absl::StrAppend(&out, "  ... and ", r.groups_size() - kRows,
                    " more groups (all are in --report FILE.json)\n");
  return out + said + peers;
}

std::string Edges(const proto::ConversionReport& r) {
  std::map<std::string, uint64_t> all;
  for (const proto::RankConversion& x : r.ranks()) {
    for (const auto& [kind, n] : x.edges()) all[kind] += n;
  }
  std::string out = "\nDependencies by kind\n ";
  for (const auto& [kind, n] : all) absl::StrAppend(&out, " ", kind, " ", FormatCount(n), " ");
  return out + "\n";
}

std::string Graphs(const proto::ConversionReport& r) {
  uint64_t kernels = 0, joined = 0;
  for (const proto::RankConversion& x : r.ranks()) {
    kernels += x.graph_kernels();
    joined += x.graph_kernels_joined();
  }
  if (kernels == 0) return "";
  return absl::StrCat("\nKernels that graphs launched: ", FormatCount(kernels), ", ", FormatCount(joined),
                      " with an operator from the capture of the graph\n");
}

// One line for each kind of notes, with the number of ranks that have such notes.
std::string Notes(const proto::ConversionReport& r) {
  struct Line {
    uint64_t count = 0;
    int ranks = 0;
    std::string detail;
  };
  std::map<std::string, Line> lines;
  for (const proto::ConversionNote& n : r.notes()) {
    Line& line = lines[n.kind()];
    line.count += n.count();
    ++line.ranks;
    if (line.detail.empty()) line.detail = n.detail();
  }
  std::string out = lines.empty() ? "" : "\nRepaired or left out\n";
  for (const auto& [kind, line] : lines) {
    absl::StrAppend(&out, "  ", FormatCount(line.count), " x ", kind,
                    line.ranks > 1 ? absl::StrCat(" on ", line.ranks, " ranks") : "", ": ", line.detail,
                    "\n");
  }
  return out;
}

}  // namespace

std::string PrintConversion(const proto::ConversionReport& as_read, TextPage* page) {
  const proto::ConversionReport r = PrintableCopy(as_read);
  std::string out = absl::StrCat("PyTorch capture: ", r.ranks_size(),
                                 r.ranks_size() == 1 ? " rank" : " ranks", " of ", r.world_size(), "\n\n");
  out += Ranks(r, page);
  out += GroupLines(r, page);
  out += Edges(r);
  out += Graphs(r);
  out += Notes(r);
  if (r.warnings_size() > 0) out += "\nWarnings\n";
  for (const std::string& w : r.warnings()) absl::StrAppend(&out, "  ", w, "\n");
  if (r.files_left_out_size() > 0) {
    absl::StrAppend(&out, "\n", r.files_left_out_size(),
                    " other files in the folder were left out: ", r.files_left_out(0),
                    r.files_left_out_size() > 1 ? ", ..." : "", "\n");
  }
  return out;
}

}  // namespace chakra::pytorch
