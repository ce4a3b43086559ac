// Finds errors and suspicious facts in a network.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/topology/measure.h"

namespace chakra {
namespace {

// Rates in Gb/s of ports, and of cables that are split into two or four: Ethernet (IEEE 802.3, up to 1.6T),
// InfiniBand (SDR to XDR at 1x, 2x, 4x).
constexpr double kPortRates[] = {1,  2,  2.5, 5,  8,   10,  14,  16,  20,  25,  28,
                                 32, 40, 50,  56, 100, 112, 128, 200, 400, 800, 1600};

bool IsSwitch(VertexKind kind) { return kind == VertexKind::kSwitch; }

std::string FourDigits(double v) { return absl::StrFormat("%.4g", v); }

std::string Names(const NetworkGraph& g, const std::vector<uint32_t>& vertices) {
  std::string out;
  for (size_t i = 0; i < vertices.size() && i < 4; ++i) {
    absl::StrAppend(&out, i == 0 ? "" : ", ", g.VertexName(vertices[i]));
  }
  if (vertices.size() > 4) absl::StrAppend(&out, " and ", vertices.size() - 4, " more");
  return out;
}

void CheckReach(const NetworkGraph& g, const NetworkFigures& f, std::vector<Finding>* out) {
  if (f.distances.unreachable > 0) {
    std::string text = absl::StrCat(
        f.distances.unreachable, " ordered pairs of devices have no path",
        f.distances.exact ? "" : absl::StrCat(" (of those from ", f.distances.devices, " devices)"));
    for (size_t i = 0; i < f.distances.examples.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? ": " : ", ", g.VertexName(f.distances.examples[i].first), " to ",
                      g.VertexName(f.distances.examples[i].second));
    }
    out->push_back({true, std::move(text)});
  }
  if (!f.alone.empty()) {
    out->push_back({true, absl::StrCat(f.alone.size(), f.alone.size() == 1 ? " device has" : " devices have",
                                       " no link: ", Names(g, f.alone))});
  }
}

void CheckRadix(const NetworkGraph& g, int radix, std::vector<Finding>* out) {
  if (radix <= 0) return;
  for (const VertexGroup& group : g.groups()) {
    if (group.kind != VertexKind::kSwitch && group.kind != VertexKind::kNvSwitch) continue;
    std::vector<uint32_t> over;
    uint32_t most = 0;
    for (uint32_t v = group.first; v < group.first + group.count; ++v) {
      most = std::max(most, g.degree(v));
      if (g.degree(v) > static_cast<uint32_t>(radix)) over.push_back(v);
    }
    if (over.empty()) continue;
    out->push_back(
        {true, absl::StrCat(over.size(), over.size() == 1 ? " switch has" : " switches have",
                            " more links than a radix of ", radix, ", up to ", most, ": ", Names(g, over))});
  }
}

// Only links at a switch are network cables; NVLink and similar links have other rates.
void CheckRates(const NetworkGraph& g, std::vector<Finding>* out) {
  std::vector<bool> asked(g.classes().size(), false);
  for (uint32_t arc = 0; arc < g.arcs(); ++arc) {
    if (asked[g.class_of(arc)] || !IsSwitch(g.kind(g.target(arc)))) continue;
    asked[g.class_of(arc)] = true;
    const LinkClass& c = g.link_class(arc);
    const double gbits = static_cast<double>(c.bandwidth.bytes_per_second()) * 8e-9;
    const double* nearest =
        std::min_element(std::begin(kPortRates), std::end(kPortRates), [gbits](double a, double b) {
          return std::abs(std::log(a / gbits)) < std::abs(std::log(b / gbits));
        });
    if (std::abs(*nearest - gbits) <= 1e-6 * gbits) continue;
    std::string text = absl::StrCat(
        "links \"", c.name, "\" have ", FourDigits(gbits), " Gb/s (", FourDigits(gbits / 8),
        " GB/s); Ethernet and InfiniBand have no such rate; the nearest is ", FourDigits(*nearest), " Gb/s");
    const auto is_port = [](double v) {
      return std::any_of(std::begin(kPortRates), std::end(kPortRates),
                         [v](double p) { return std::abs(p - v) <= 1e-6 * p; });
    };
    if (is_port(gbits / 8)) absl::StrAppend(&text, "; is it Gb/s, written as GB/s?");
    if (is_port(gbits * 8)) absl::StrAppend(&text, "; is it GB/s, written as Gb/s?");
    out->push_back({false, std::move(text)});
  }
}

void CheckEvenness(const NetworkFigures& f, std::vector<Finding>* out) {
  for (const GroupFigures& g : f.groups) {
    if (!IsSwitch(g.kind) || g.most_ratio <= g.least_ratio * (1 + 1e-9)) continue;
    out->push_back(
        {false, absl::StrCat("switches \"", g.name, "\" differ: bandwidth down to bandwidth up is ",
                             FourDigits(g.least_ratio), " to ", FourDigits(g.most_ratio))});
  }
}

}  // namespace

std::vector<Finding> CheckNetwork(const NetworkGraph& graph, const NetworkFigures& figures,
                                  const CheckOptions& options) {
  std::vector<Finding> out;
  CheckReach(graph, figures, &out);
  CheckRadix(graph, options.radix, &out);
  CheckRates(graph, &out);
  CheckEvenness(figures, &out);
  std::stable_sort(out.begin(), out.end(),
                   [](const Finding& a, const Finding& b) { return a.error > b.error; });
  return out;
}

}  // namespace chakra
