// The growth of fabric `fluid`'s time with flows, links and ranks:
//   fluid_growth FOLDER [SECONDS]
// writes FOLDER/fluid_growth.csv and FOLDER/fluid_growth.svg, and prints the
// exponents of time in ranks and in flows. A pattern has no larger point after
// one that took more than SECONDS (10).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/measure.h"
#include "test/peers/sends.h"
#include "test/validation/svg.h"

namespace chakra {
namespace {

using peers::Send;

struct Pattern {
  const char* name;
  const char* color;
  std::vector<int> ranks;
  absl::StatusOr<Topology> (*topology)(int ranks);
  std::vector<Send> (*messages)(int ranks);
};

struct Point {
  size_t pattern;
  int ranks;
  uint64_t links, flows;
  double seconds;
};

absl::StatusOr<Topology> Star(int ranks) {
  return peers::OneDimension(TopologyDimension::Kind::kSwitch, ranks, Time::Nanos(500));
}
absl::StatusOr<Topology> Ring(int ranks) {
  return peers::OneDimension(TopologyDimension::Kind::kRing, ranks, Time::Nanos(500));
}
absl::StatusOr<Topology> FatTree(int ranks) {
  auto network = BuildNetwork({"fat_tree", {}}, ranks);
  if (!network.ok()) return network.status();
  TopologyDimension d;
  d.kind = TopologyDimension::Kind::kNetwork;
  d.size = ranks;
  d.name = "d";
  d.network = std::make_shared<const Network>(*std::move(network));
  return Topology::Make({d});
}

std::vector<Send> AllToAll(int ranks, uint64_t spread) {
  std::mt19937_64 random(1);
  std::vector<Send> out;
  for (int s = 0; s < ranks; ++s) {
    for (int d = 0; d < ranks; ++d) {
      if (s != d) out.push_back({s, d, (1 << 20) + random() % spread, Time::Zero()});
    }
  }
  return out;
}
std::vector<Send> EqualSizes(int ranks) { return AllToAll(ranks, 1); }
std::vector<Send> RandomSizes(int ranks) { return AllToAll(ranks, 1 << 20); }

std::vector<Send> RingSteps(int ranks) {
  std::vector<Send> out;
  for (int r = 0; r < ranks; ++r) out.push_back({r, (r + 1) % ranks, 1 << 20, Time::Zero(), 100});
  return out;
}

// Each rank sends to one other, eight times, in a random permutation; sizes differ.
std::vector<Send> Permutation(int ranks) {
  std::mt19937_64 random(1);
  std::vector<int> to(static_cast<size_t>(ranks));
  for (int r = 0; r < ranks; ++r) to[static_cast<size_t>(r)] = r;
  for (size_t i = to.size() - 1; i > 0; --i) std::swap(to[i], to[random() % (i + 1)]);
  std::vector<Send> out;
  for (int r = 0; r < ranks; ++r) {
    const int d = to[static_cast<size_t>(r)];
    if (d != r) out.push_back({r, d, (1 << 20) + random() % (1 << 20), Time::Zero(), 8});
  }
  return out;
}

// In the order of the legend.
std::vector<Pattern> Patterns() {
  return {
      {"all-to-all on a switch, equal sizes", "#1f5fa8", {32, 64, 128, 256, 512, 1024}, Star, EqualSizes},
      {"all-to-all on a switch, random sizes", "#c2571a", {16, 32, 64, 128, 256, 512}, Star, RandomSizes},
      {"ring, 100 steps", "#3c8a3f", {16, 64, 256, 1024, 4096, 16384}, Ring, RingSteps},
      {"all-to-all on a fat tree, equal sizes",
       "#7a4aa0",
       {32, 64, 128, 256, 512, 1024},
       FatTree,
       EqualSizes},
      {"fat tree, permutation of random sizes, 8 times",
       "#a02c4d",
       {64, 256, 1024, 4096, 16384},
       FatTree,
       Permutation},
  };
}

absl::StatusOr<std::vector<Point>> Measure(const std::vector<Pattern>& patterns, double limit) {
  std::vector<Point> points;
  for (size_t p = 0; p < patterns.size(); ++p) {
    for (const int ranks : patterns[p].ranks) {
      const auto topology = patterns[p].topology(ranks);
      if (!topology.ok()) return topology.status();
      const std::vector<Send> messages = patterns[p].messages(ranks);
      uint64_t flows = 0;
      for (const Send& m : messages) flows += static_cast<uint64_t>(m.times);
      std::vector<double> seconds;
      do {
        seconds.push_back(0);
        const std::vector<double> received = peers::RunFluid(*topology, {}, messages, &seconds.back());
        if (*std::min_element(received.begin(), received.end()) < 0) {
          return absl::InternalError(absl::StrCat(patterns[p].name, ": a flow never ended"));
        }
      } while (seconds.size() < 3 && seconds[0] < 1);
      points.push_back({p, ranks, topology->links(), flows, Median(seconds)});
      absl::PrintF("%-48s %6d ranks %8d links %9d flows %10.4f s\n", patterns[p].name, ranks,
                   topology->links(), flows, points.back().seconds);
      if (points.back().seconds > limit) break;
    }
  }
  return points;
}

// The slope of log(seconds) over log(x), by least squares over a pattern's last four sizes.
double Exponent(const std::vector<Point>& points, size_t pattern, double (*x)(const Point&)) {
  std::vector<std::pair<double, double>> logs;
  for (const Point& p : points) {
    if (p.pattern == pattern) logs.push_back({std::log(x(p)), std::log(p.seconds)});
  }
  if (logs.size() > 4) logs.erase(logs.begin(), logs.end() - 4);
  double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
  for (const auto& [lx, ly] : logs) {
    mean_x += lx / static_cast<double>(logs.size());
    mean_y += ly / static_cast<double>(logs.size());
  }
  for (const auto& [lx, ly] : logs) {
    xy += (lx - mean_x) * (ly - mean_y);
    xx += (lx - mean_x) * (lx - mean_x);
  }
  return xx > 0 ? xy / xx : 0;
}

void PrintExponents(const std::vector<Pattern>& patterns, const std::vector<Point>& points) {
  for (size_t p = 0; p < patterns.size(); ++p) {
    absl::PrintF("%-48s time ~ ranks^%.2f ~ flows^%.2f\n", patterns[p].name,
                 Exponent(points, p, [](const Point& at) { return static_cast<double>(at.ranks); }),
                 Exponent(points, p, [](const Point& at) { return static_cast<double>(at.flows); }));
  }
}

// A panel with two logarithmic axes of whole decades.
class Panel {
 public:
  using Value = double (*)(const Point&);
  Panel(const std::vector<Point>& points, Value x, Value y, double left, double top)
      : x_(x), y_(y), left_(left), top_(top) {
    for (const Point& p : points) {
      x0_ = std::min(x0_, std::floor(std::log10(x(p))));
      x1_ = std::max(x1_, std::ceil(std::log10(x(p))));
      y0_ = std::min(y0_, std::floor(std::log10(y(p))));
      y1_ = std::max(y1_, std::ceil(std::log10(y(p))));
    }
  }

  void Axes(const char* title, const char* x_name, validation::Svg* svg) const {
    svg->Text(left_, top_ - 10, title, 13, "start", "#111", true);
    for (double e = x0_; e <= x1_; ++e) {
      svg->Line(X(e), top_, X(e), top_ + kHeight, "#e4e4e4", 1);
      svg->Text(X(e), top_ + kHeight + 15, Decade(e), 10, "middle");
    }
    for (double e = y0_; e <= y1_; ++e) {
      svg->Line(left_, Y(e), left_ + kWidth, Y(e), "#e4e4e4", 1);
      svg->Text(left_ - 6, Y(e) + 3.5, Decade(e), 10, "end");
    }
    svg->Rect(left_, top_, kWidth, kHeight, "none", "#999");
    svg->Text(left_ + kWidth / 2, top_ + kHeight + 31, x_name, 11, "middle", "#555");
  }

  void Curve(const std::vector<Point>& points, size_t pattern, const char* color,
             validation::Svg* svg) const {
    const Point* last = nullptr;
    for (const Point& p : points) {
      if (p.pattern != pattern) continue;
      if (last != nullptr)
        svg->Line(At(*last).first, At(*last).second, At(p).first, At(p).second, color, 1.8);
      last = &p;
    }
    for (const Point& p : points) {
      if (p.pattern == pattern) svg->Circle(At(p).first, At(p).second, 3, color, color);
    }
  }

  static constexpr double kWidth = 330, kHeight = 290;

 private:
  static std::string Decade(double e) {
    if (e < -3 || e > 3) return absl::StrFormat("1e%.0f", e);
    return absl::StrCat(std::pow(10, e));
  }
  double X(double e) const { return left_ + kWidth * (e - x0_) / std::max(1.0, x1_ - x0_); }
  double Y(double e) const { return top_ + kHeight * (1 - (e - y0_) / std::max(1.0, y1_ - y0_)); }
  std::pair<double, double> At(const Point& p) const { return {X(std::log10(x_(p))), Y(std::log10(y_(p)))}; }

  Value x_, y_;
  double left_, top_, x0_ = 99, x1_ = -99, y0_ = 99, y1_ = -99;
};

std::string Plot(const std::vector<Pattern>& patterns, const std::vector<Point>& points) {
  const auto flows = [](const Point& p) { return static_cast<double>(p.flows); };
  const auto links = [](const Point& p) { return static_cast<double>(p.links); };
  const auto ranks = [](const Point& p) { return static_cast<double>(p.ranks); };
  const auto seconds = [](const Point& p) { return p.seconds; };
  const auto each = [](const Point& p) { return p.seconds * 1e6 / static_cast<double>(p.flows); };
  constexpr double kTop = 150, kStep = Panel::kWidth + 80, kLeft = 64;
  validation::Svg svg;
  svg.Text(24, 34, "Fabric fluid: what flows, links and ranks cost", 20, "start", "#111", true);
  const Panel panels[] = {{points, flows, seconds, kLeft, kTop},
                          {points, links, each, kLeft + kStep, kTop},
                          {points, ranks, each, kLeft + 2 * kStep, kTop}};
  panels[0].Axes("seconds of one core", "flows", &svg);
  panels[1].Axes("microseconds a flow", "links of the topology", &svg);
  panels[2].Axes("microseconds a flow", "ranks", &svg);
  for (size_t p = 0; p < patterns.size(); ++p) {
    const double x = 24 + 420 * static_cast<double>(p % 3), y = 62 + 22 * static_cast<double>(p / 3);
    svg.Line(x, y, x + 24, y, patterns[p].color, 2.5);
    svg.Text(x + 32, y + 4, patterns[p].name, 12, "start");
    for (const Panel& panel : panels) panel.Curve(points, p, patterns[p].color, &svg);
  }
  return svg.Finish(kLeft + 3 * kStep - 40, kTop + Panel::kHeight + 48);
}

std::string Csv(const std::vector<Pattern>& patterns, const std::vector<Point>& points) {
  std::string out = "pattern,ranks,links,flows,seconds\n";
  for (const Point& p : points) {
    absl::StrAppendFormat(&out, "\"%s\",%d,%d,%d,%.6f\n", patterns[p.pattern].name, p.ranks, p.links, p.flows,
                          p.seconds);
  }
  return out;
}

bool Write(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) absl::FPrintF(stderr, "fluid_growth: %s cannot be written\n", path);
  return static_cast<bool>(out);
}

}  // namespace
}  // namespace chakra

int main(int argc, char** argv) {
  const double limit = argc > 2 ? std::atof(argv[2]) : 10;
  if (argc < 2 || argc > 3 || !(limit > 0)) {
    std::fprintf(stderr, "fluid_growth FOLDER [SECONDS]\n");
    return 2;
  }
  const auto patterns = chakra::Patterns();
  const auto points = chakra::Measure(patterns, limit);
  if (!points.ok()) {
    absl::FPrintF(stderr, "fluid_growth: %s\n", points.status().ToString());
    return 1;
  }
  chakra::PrintExponents(patterns, *points);
  const std::string base = absl::StrCat(argv[1], "/fluid_growth");
  const bool written = chakra::Write(base + ".csv", chakra::Csv(patterns, *points)) &&
                       chakra::Write(base + ".svg", chakra::Plot(patterns, *points));
  return written ? 0 : 1;
}
