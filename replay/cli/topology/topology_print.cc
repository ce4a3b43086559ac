#include "replay/cli/topology/topology_print.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/topology/measure.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

namespace chakra::cli {
namespace {

size_t Width(const TextPage& page) {
  constexpr size_t kWidth = 80;
  return page.limited() ? std::min(page.width(), kWidth) : kWidth;
}

// Wraps `text`. The first line begins with `begin`, the others with `indent` blanks.
std::string Wrap(absl::string_view begin, absl::string_view text, size_t indent, const TextPage& page) {
  return WrapText(begin, text, std::string(indent, ' '), Width(page));
}

std::string Shape(const proto::VertexGroupReport& g) { return absl::StrJoin(g.shape(), "x"); }

std::string Ratio(double least, double most) {
  if (most == 0) return "-";
  if (most <= least * (1 + 1e-9)) return absl::StrFormat("%.4g:1", most);
  return absl::StrFormat("%.3g-%.3g:1", least, most);
}

std::string RateOrDash(double rate) { return rate == 0 ? "-" : FormatRate(rate); }

std::string Degrees(const proto::VertexGroupReport& g) {
  if (g.least_degree() == g.most_degree()) return absl::StrCat(g.most_degree());
  return absl::StrCat(g.least_degree(), "-", g.most_degree());
}

std::string Distances(const proto::TopologyReport& r) {
  if (r.searched_devices() == 0 || r.devices() < 2) return "-";
  if (r.distances_exact()) {
    return absl::StrFormat("%d links between devices, on average %.4g", r.diameter(), r.average_distance());
  }
  return absl::StrFormat("at least %d links between devices, on average about %.4g (from %d sampled devices)",
                         r.diameter(), r.average_distance(), r.searched_devices());
}

std::string Injection(const proto::TopologyReport& r) {
  if (r.ports() == 0) return "";
  return absl::StrCat("\ninjection   ", FormatRate(r.injection_bytes_per_s()), " a device, in ", r.ports(),
                      r.ports() == 1 ? " port" : " ports");
}

std::string Bisection(const proto::TopologyReport& r) {
  if (r.halving_size() == 0) return "-";
  return absl::StrFormat("at most %s, %.4g %% of what half of the devices can send",
                         FormatRate(r.bisection_bytes_per_s()), 100 * r.bisection_share());
}

std::string Dimensions(const proto::TopologyReport& r, TextPage* page) {
  if (r.dimension_size() == 0) return "";
  TextTable table = TextTable::OfWidths({{"dimension", true, 20},
                                         {"kind", true, 16},
                                         {"size", false, 8},
                                         {"rate", false, 12},
                                         {"latency", false, 10}});
  for (const proto::TopologyDimensionReport& d : r.dimension()) {
    table.Add({d.name(), d.kind(), absl::StrCat(d.size()),
               FormatRate(static_cast<double>(d.bandwidth_bytes_per_s())),
               FormatTime(Time::Picos(d.latency_ps()))});
  }
  return absl::StrCat("\n", table.Print(page));
}

std::string Groups(const proto::TopologyReport& r, TextPage* page) {
  TextTable table = TextTable::OfWidths({{"vertices", true, 16},
                                         {"kind", true, 11},
                                         {"tier", false, 4},
                                         {"count", false, 7},
                                         {"links", false, 6},
                                         {"down", false, 10},
                                         {"up", false, 10},
                                         {"down:up", false, 9}});
  for (const proto::VertexGroupReport& g : r.group()) {
    table.Add({g.name(), g.kind(), absl::StrCat(g.tier()), absl::StrCat(g.count()), Degrees(g),
               RateOrDash(g.down_bytes_per_s()), RateOrDash(g.up_bytes_per_s()),
               Ratio(g.least_oversubscription(), g.most_oversubscription())});
    if (g.shape_size() > 1) table.AddLine(absl::StrCat("  in a grid of ", Shape(g)));
  }
  return absl::StrCat("\n", table.Print(page));
}

std::string Classes(const proto::TopologyReport& r, TextPage* page) {
  TextTable table = TextTable::OfWidths(
      {{"links", true, 24}, {"count", false, 12}, {"rate", false, 12}, {"latency", false, 10}});
  for (const proto::LinkClassReport& c : r.link_class()) {
    table.Add({c.name(), absl::StrCat(c.links()), FormatRate(static_cast<double>(c.bandwidth_bytes_per_s())),
               FormatTime(Time::Picos(c.latency_ps()))});
  }
  return absl::StrCat("\n", table.Print(page));
}

std::string Halvings(const proto::TopologyReport& r, TextPage* page) {
  if (r.halving_size() == 0) return "";
  TextTable table = TextTable::OfWidths(
      {{"halves of the devices", true, 32}, {"between them", false, 14}, {"share", false, 10}});
  for (const proto::HalvingReport& h : r.halving()) {
    table.Add({h.name(), FormatRate(h.bandwidth_bytes_per_s()), absl::StrFormat("%.4g%%", 100 * h.share())});
  }
  return absl::StrCat("\n", table.Print(page),
                      r.halvings_left_out() > 0
                          ? absl::StrCat(r.halvings_left_out(), " more took too long and were left out\n")
                          : "");
}

}  // namespace

std::string PrintNetworkList(const proto::NetworkList& list, TextPage* page) {
  size_t widest = 0;
  for (const proto::NetworkKindReport& k : list.network()) widest = std::max(widest, k.name().size());
  std::string out;
  for (const proto::NetworkKindReport& k : list.network()) {
    const size_t indent = widest + 2;
    out += Wrap(absl::StrFormat("%-*s", indent, k.name()), k.summary(), indent, *page);
    std::vector<std::string> keys;
    for (const proto::NetworkParameterReport& p : k.parameter()) {
      keys.push_back(p.fallback().empty() ? absl::StrCat(p.key(), "=...")
                                          : absl::StrCat(p.key(), "=", p.fallback()));
    }
    if (!keys.empty()) out += Wrap(std::string(indent, ' '), absl::StrJoin(keys, " "), indent, *page);
  }
  out += "\n";
  out += Wrap("Clusters: ", absl::StrJoin(list.cluster(), ", "), 10, *page);
  out += "`chakra-replay topology list NAME` explains one network's parameters.\n";
  return out;
}

std::string PrintNetworkKind(const proto::NetworkKindReport& k, TextPage* page) {
  std::string out = Wrap(absl::StrCat(k.name(), ": "), k.summary(), 2, *page);
  out += Wrap("source: ", k.source(), 8, *page);
  size_t widest = 0;
  for (const proto::NetworkParameterReport& p : k.parameter()) {
    widest = std::max(widest, p.key().size() + 1 + p.fallback().size());
  }
  widest = std::min<size_t>(widest, 24);
  for (const proto::NetworkParameterReport& p : k.parameter()) {
    const std::string key = p.fallback().empty() ? p.key() : absl::StrCat(p.key(), "=", p.fallback());
    out += Wrap(absl::StrFormat("  %-*s  ", widest, key), p.doc(), widest + 4, *page);
  }
  return out;
}

std::string PrintTopology(const proto::TopologyReport& r, TextPage* page) {
  std::string out = absl::StrCat(r.topology(), "\n");
  if (!r.description().empty()) absl::StrAppend(&out, r.description(), "\n");
  uint64_t switches = 0;
  for (const proto::VertexGroupReport& g : r.group()) {
    if (g.kind() == "switch" || g.kind() == "nvswitch") switches += g.count();
  }
  absl::StrAppend(&out, "\ndevices     ", r.devices(), r.devices_forward() ? ", which forward messages" : "",
                  Injection(r), "\nswitches    ", switches, ", ", r.switch_ports(),
                  " ports in use\nlinks       ", r.links(), "\ndiameter    ", Distances(r), "\nbisection   ",
                  Bisection(r), "\n");
  if (r.unreachable_pairs() > 0) {
    absl::StrAppend(&out, "unreachable ", r.unreachable_pairs(),
                    " ordered pairs of devices; see `topology check`\n");
  }
  absl::StrAppend(&out, "memory      ", FormatBytes(r.memory_bytes()), " for the graph\n");
  for (const auto table : {Dimensions, Groups, Classes, Halvings}) out += table(r, page);
  for (const std::string& note : r.note()) absl::StrAppend(&out, "note: ", note, "\n");
  return out;
}

std::string PrintFindings(const proto::TopologyReport& r) {
  std::string out;
  for (const std::string& note : r.note()) absl::StrAppend(&out, "note: ", note, "\n");
  size_t errors = 0;
  for (const proto::TopologyFinding& f : r.finding()) {
    absl::StrAppend(&out, f.severity(), ": ", f.text(), "\n");
    errors += f.severity() == "error" ? 1 : 0;
  }
  const size_t notes = static_cast<size_t>(r.note_size() + r.finding_size()) - errors;
  const std::string reach =
      r.unreachable_pairs() > 0 ? ""
      : r.distances_exact()
          ? "; every device reaches every other"
          : absl::StrCat("; the ", r.searched_devices(), " devices that were sampled reach every other");
  absl::StrAppend(&out, r.topology(), ": ", r.devices(), " devices, ", r.links(), " links, ", errors,
                  errors == 1 ? " error, " : " errors, ", notes, notes == 1 ? " note" : " notes", reach,
                  "\n");
  return out;
}

std::vector<std::string> DrawingFigures(const proto::TopologyReport& r) {
  std::vector<std::string> out;
  if (!r.description().empty()) out.push_back(r.description());
  out.push_back(absl::StrCat(r.devices(), " devices, ", r.links(), " links; diameter ", Distances(r)));
  if (r.halving_size() > 0) out.push_back(absl::StrCat("bisection ", Bisection(r)));
  return out;
}

}  // namespace chakra::cli
