// Congestion control in fabric `packet`, over time and against closed forms and
// published figures:
//   packet_curves FOLDER
// writes packet_dcqcn, packet_hpcc, packet_incast and packet_nscc (.csv, .svg)
// there. Formulas, figures and their sources: bench/README.md.
#include "test/validation/packet_curves.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "test/validation/svg.h"
#include "trace/base/splitmix.h"

namespace chakra {
namespace {

using validation::CurveFlow;
using validation::PacketCurves;

const char* const kColors[] = {"#1f5fa8", "#c2571a", "#3c8a3f", "#7a4aa0",
                               "#a02c4d", "#8a7a1f", "#2a8a8a", "#777"};
constexpr uint64_t kEndless = 1000000000000;

// Linear axes; x from zero.
class Chart {
 public:
  static constexpr double kWidth = 380, kHeight = 250, kTop = 66, kStep = kWidth + 84, kLeft = 64;
  Chart(int column, double x_most, double y_most, double y_least = 0)
      : left_(kLeft + column * kStep), x_most_(x_most), y_least_(y_least), y_most_(y_most) {}

  void Axes(const char* title, const char* x_name, validation::Svg* svg, int x_ticks = 5) const {
    svg->Text(left_, kTop - 30, title, 13, "start", "#111", true);
    for (int i = 0; i <= x_ticks; ++i) {
      const double x = x_most_ * i / x_ticks;
      svg->Line(X(x), kTop, X(x), kTop + kHeight, "#e4e4e4", 1);
      svg->Text(X(x), kTop + kHeight + 15, absl::StrCat(x), 10, "middle");
    }
    for (int i = 0; i <= 5; ++i) {
      const double y = y_least_ + (y_most_ - y_least_) * i / 5;
      svg->Line(left_, Y(y), left_ + kWidth, Y(y), "#e4e4e4", 1);
      svg->Text(left_ - 6, Y(y) + 3.5, absl::StrCat(y), 10, "end");
    }
    svg->Rect(left_, kTop, kWidth, kHeight, "none", "#999");
    svg->Text(left_ + kWidth / 2, kTop + kHeight + 31, x_name, 11, "middle", "#555");
  }
  void Curve(const std::vector<double>& x, const std::vector<double>& y, double x_scale, double y_scale,
             const char* color, validation::Svg* svg) const {
    std::vector<std::pair<double, double>> points;
    for (size_t i = 0; i < y.size() && x[i] * x_scale <= x_most_; ++i) {
      points.push_back({X(x[i] * x_scale), Y(std::min(y[i] * y_scale, y_most_))});
    }
    svg->Curve(points, color, 1.4);
  }
  void Dot(double x, double y, const char* color, validation::Svg* svg) const {
    svg->Circle(X(x), Y(y), 3, "none", color);
  }
  // The i-th entry, `of` in a row.
  void Legend(int i, int of, const std::string& text, const char* color, validation::Svg* svg) const {
    const double x = left_ + kWidth * i / of;
    svg->Line(x, kTop - 14, x + 14, kTop - 14, color, 2.5);
    svg->Text(x + 18, kTop - 10, text, 10, "start");
  }

 private:
  double X(double x) const { return left_ + kWidth * x / x_most_; }
  double Y(double y) const { return kTop + kHeight * (y_most_ - y) / (y_most_ - y_least_); }
  double left_, x_most_, y_least_, y_most_;
};

struct Drawing {
  std::string name, csv;
  validation::Svg svg;
  int columns = 0;
  double height = Chart::kTop + Chart::kHeight + 48;
};

// Runs a case; ends the program if its options are not valid.
PacketCurves Run(const Topology& topology, const std::string& options, const std::vector<CurveFlow>& flows,
                 Time step, Time end) {
  auto curves = validation::RunCurves(topology, options, flows, step, end);
  if (curves.ok()) return *std::move(curves);
  absl::FPrintF(stderr, "packet_curves: %s: %s\n", options, curves.status().ToString());
  std::exit(1);
}

// Replaces each `many` samples by their mean.
void Thin(size_t many, PacketCurves* c) {
  const auto thin = [many](std::vector<double>* v, bool last) {
    std::vector<double> out;
    for (size_t i = 0; i + many <= v->size(); i += many) {
      double sum = 0;
      for (size_t k = i; k < i + many; ++k) sum += (*v)[k];
      out.push_back(last ? (*v)[i + many - 1] : sum / static_cast<double>(many));
    }
    v->swap(out);
  };
  for (std::vector<double>& r : c->rates) thin(&r, false);
  thin(&c->used, false);
  thin(&c->queued, false);
  thin(&c->us, true);
}

void AppendCsv(const std::string& name, const PacketCurves& c, std::string* csv) {
  for (size_t i = 0; i < c.us.size(); ++i) {
    absl::StrAppendFormat(csv, "\"%s\",%.1f,%.0f,%.4f", name, c.us[i], c.queued[i], c.used[i]);
    for (const std::vector<double>& r : c.rates) absl::StrAppendFormat(csv, ",%.4f", r[i]);
    absl::StrAppend(csv, "\n");
  }
}

// One cut and the rates after it, twice: closed forms of SIGCOMM 2015.
void DcqcnClosedForms(Drawing* d) {
  const double timer = 55, g = 1.0 / 256;
  const std::vector<CurveFlow> flows = {
      {1, 0, kEndless, Time::Zero()}, {2, 0, 40000, Time::Micros(200)}, {2, 0, 40000, Time::Micros(6000)}};
  PacketCurves c = Run(validation::CurveStar(3, 40, Time::Micros(1)),
                       "mtu=1000B,header=48B,ecn_low=5KB,ecn_high=5KB,ecn_probability=1,transport=dcqcn",
                       flows, Time::Micros(5), Time::Micros(7000));
  const Chart chart(d->columns++, 7, 1);
  chart.Axes("DCQCN, cut once at 0.2 and 6 ms: share of 40 Gb/s", "ms", &d->svg, 7);
  chart.Legend(0, 2, "rate, mean of 20 us", kColors[0], &d->svg);
  chart.Legend(1, 2, "closed form at each timer", kColors[1], &d->svg);
  double alpha = 1, worst = 0;
  for (const double from : {200.0, 6000.0}) {
    double cut = from;
    for (size_t i = 0; i < c.us.size() && cut == from; ++i) {
      if (c.us[i] > from && c.rates[0][i] < 0.97) cut = c.us[i] - 5;
    }
    if (from > 200) alpha = std::pow(1 - g, std::floor((from - 200) / timer));
    for (int stage = 0; stage <= 5; ++stage) {
      const double at = cut + timer * (stage + 0.5);
      const double form = 1 - alpha / 2 * std::pow(0.5, stage);
      const double here = c.Mean(c.rates[0], at - 20, at + 20);
      worst = std::max(worst, std::abs(here / form - 1));
      chart.Dot(at / 1000, form, kColors[1], &d->svg);
      absl::PrintF("dcqcn closed form, %.0f us, stage %d: %.4f, here %.4f\n", from, stage, form, here);
    }
  }
  absl::PrintF("dcqcn closed forms: off by at most %.2f %%\n", 100 * worst);
  Thin(4, &c);
  chart.Curve(c.us, c.rates[0], 1e-3, 1, kColors[0], &d->svg);
  c.rates.resize(2);
  AppendCsv("closed form", c, &d->csv);
}

void DcqcnTwoFlows(const char* name, const char* title, int gbits, const std::string& options, Drawing* d) {
  const std::vector<CurveFlow> flows = {{1, 0, kEndless, Time::Zero()}, {2, 0, kEndless, Time::Micros(5000)}};
  PacketCurves c = Run(validation::CurveStar(3, gbits, Time::Micros(1)),
                       absl::StrCat("mtu=1000B,header=48B,buffer=12MB,flow_control=pfc,", options), flows,
                       Time::Micros(50), Time::Micros(60000));
  Thin(10, &c);
  const Chart chart(d->columns++, 60, 1);
  chart.Axes(title, "ms", &d->svg, 6);
  for (int f = 0; f < 2; ++f) {
    chart.Legend(f, 3, absl::StrCat("flow ", f + 1), kColors[f], &d->svg);
    chart.Curve(c.us, c.rates[static_cast<size_t>(f)], 1e-3, 1, kColors[f], &d->svg);
  }
  chart.Legend(2, 3, "queue, MB", "#999", &d->svg);
  chart.Curve(c.us, c.queued, 1e-3, 1e-6, "#999", &d->svg);
  for (const double from : {10000.0, 20000.0, 40000.0}) {
    const std::vector<double> rates = {c.Mean(c.rates[0], from, from + 20000),
                                       c.Mean(c.rates[1], from, from + 20000)};
    absl::PrintF("dcqcn %s, 20 ms from %.0f ms: %.4f %.4f of %.4f used, Jain %.4f, queue %.0f B\n", name,
                 from / 1000, rates[0], rates[1], c.Mean(c.used, from, from + 20000),
                 validation::JainIndex(rates), c.Mean(c.queued, from, from + 20000));
  }
  AppendCsv(name, c, &d->csv);
}

Drawing DrawDcqcn() {
  Drawing d;
  d.name = "packet_dcqcn";
  d.csv = "run,us,queue_bytes,used,flow1,flow2\n";
  DcqcnClosedForms(&d);
  DcqcnTwoFlows("paper", "DCQCN, paper's constants: shares of 40 Gb/s", 40,
                "ecn_low=5KB,ecn_high=200KB,ecn_probability=0.01,transport=dcqcn", &d);
  DcqcnTwoFlows("nic", "DCQCN, set=nic: shares of 100 Gb/s", 100, "transport=(dcqcn:set=nic)", &d);
  return d;
}

void HpccFixedPoint(Drawing* d) {
  const Chart chart(d->columns++, 50, 1, 0.9);
  chart.Axes("HPCC, N flows: utilisation of the bottleneck", "N", &d->svg);
  chart.Legend(0, 2, "here", kColors[0], &d->svg);
  chart.Legend(1, 2, "0.95 + 80 N / 162,500", kColors[1], &d->svg);
  std::vector<double> x, y;
  for (int n = 1; n <= 50; ++n) {
    x.push_back(n);
    y.push_back(0.95 + 80 * n / validation::kHpccBdp);
  }
  chart.Curve(x, y, 1, 1, kColors[1], &d->svg);
  for (const int n : {1, 2, 5, 10, 20, 30, 40, 50}) {
    const PacketCurves c = Run(validation::HpccStar(n + 1), absl::StrCat(validation::kHpccOptions, "hpcc"),
                               validation::Incast(n, kEndless), Time::Micros(13), Time::Micros(8000));
    std::vector<double> rates;
    for (const auto& r : c.rates) rates.push_back(c.Mean(r, 6000, 8000));
    const double used = c.Mean(c.used, 6000, 8000), form = y[static_cast<size_t>(n - 1)];
    chart.Dot(n, used, kColors[0], &d->svg);
    absl::PrintF("hpcc N=%d: %.4f used, closed form %.4f (%+.2f %%), Jain %.4f, queue %.0f B\n", n, used,
                 form, 100 * (used / form - 1), validation::JainIndex(rates), c.Mean(c.queued, 6000, 8000));
    absl::StrAppendFormat(&d->csv, "fixed point of %d,8000,%.0f,%.4f,,,,\n", n, c.Mean(c.queued, 6000, 8000),
                          used);
  }
}

// Four flows join one after the other. Their sizes let them leave in the same
// order on a fair network.
void HpccJoinAndLeave(Drawing* d) {
  const double shares[] = {1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4, 1.0 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 3,
                           1.0 / 3 + 1.0 / 4 + 1.0 / 3 + 1.0 / 2, 1.0 / 4 + 1.0 / 3 + 1.0 / 2 + 1};
  const double a_ms = 12.5e6 * 0.95 * 1000 / 1090;  // payload at the target utilisation
  std::vector<CurveFlow> flows;
  for (int f = 0; f < 4; ++f) {
    flows.push_back({f + 1, 0, static_cast<uint64_t>(shares[f] * a_ms), Time::Micros(1000 * f)});
  }
  PacketCurves c = Run(validation::HpccStar(5), absl::StrCat(validation::kHpccOptions, "(hpcc:flows=4)"),
                       flows, Time::Micros(5), Time::Micros(7400));
  for (int f = 0; f < 4; ++f) {
    absl::PrintF("hpcc flow %d leaves at %.0f us, fair at 0.95: %d us\n", f + 1,
                 c.received[static_cast<size_t>(f)], 4000 + 1000 * f);
  }
  Thin(4, &c);
  const Chart rates(d->columns++, 7, 1);
  rates.Axes("HPCC, flows join and leave: share of 100 Gb/s", "ms", &d->svg, 7);
  for (int f = 0; f < 4; ++f) {
    rates.Legend(f, 4, absl::StrCat("flow ", f + 1), kColors[f], &d->svg);
    rates.Curve(c.us, c.rates[static_cast<size_t>(f)], 1e-3, 1, kColors[f], &d->svg);
  }
  const Chart queue(d->columns++, 7, 200);
  queue.Axes("The same: queue of the bottleneck, KB", "ms", &d->svg, 7);
  queue.Curve(c.us, c.queued, 1e-3, 1e-3, kColors[0], &d->svg);
  AppendCsv("join and leave", c, &d->csv);
}

Drawing DrawHpcc() {
  Drawing d;
  d.name = "packet_hpcc";
  d.csv = "run,us,queue_bytes,used,flow1,flow2,flow3,flow4\n";
  HpccFixedPoint(&d);
  HpccJoinAndLeave(&d);
  return d;
}

// 16 senders, 1 MB each, through a switch of 16 MB.
Drawing DrawIncasts() {
  Drawing d;
  d.name = "packet_incast";
  d.csv = "run,us,queue_bytes,used\n";
  struct Case {
    const char *name, *transport;
  };
  const Case cases[] = {{"window", "window"},
                        {"DCQCN with a window", "(dcqcn:set=nic,window=bdp)"},
                        {"DCTCP", "dctcp"},
                        {"HPCC", "hpcc"},
                        {"NSCC", "nscc"},
                        {"Swift", "swift"},
                        {"TIMELY", "(timely:set=hpcc)"},
                        {"DCQCN", "(dcqcn:set=nic)"}};
  constexpr int kSenders = 16;
  constexpr uint64_t kBytes = 1000000, kWire = kBytes + 1000 * 48;
  const double bound = (kSenders * kWire + 1048) / 12.5e3 + 2;
  const Topology star = validation::CurveStar(kSenders + 1, 100, Time::Micros(1));
  const Chart queues(0, 2000, 12), low(1, 2000, 1.2);
  d.columns = 3;
  queues.Axes("16 to 1, 1 MB each: queue of the bottleneck, MB", "us", &d.svg);
  low.Axes("The same, up to 1.2 MB", "us", &d.svg);
  const double x = Chart::kLeft + 2 * Chart::kStep;
  const auto row = [&](int i, const std::vector<std::string>& cells, const char* color) {
    const double columns[] = {20, 230, 290, 340, 410};
    const double y = Chart::kTop + 20 + 24 * i;
    for (size_t k = 0; k < cells.size(); ++k) {
      d.svg.Text(x + columns[k], y, cells[k], 12, k == 0 ? "start" : "end", color);
    }
    if (i > 0) d.svg.Line(x, y - 4, x + 14, y - 4, color, 2.5);
  };
  row(0, {"", "received, us", "extra", "pauses", "queue"}, "#555");
  int i = 0;
  for (const Case& of : cases) {
    PacketCurves c =
        Run(star, absl::StrCat("mtu=1000B,header=48B,buffer=16MB,flow_control=pfc,transport=", of.transport),
            validation::Incast(kSenders, kBytes), Time::Micros(5), Time::Micros(20000));
    const std::string extra = absl::StrFormat("%+.1f %%", 100 * (c.Last() / bound - 1));
    const std::string most = absl::StrFormat("%.2f MB", static_cast<double>(c.most_queued) / 1e6);
    absl::PrintF("incast %-20s %.1f us, %s, pauses %d, %s; dropped %d, sent again %d\n", of.name, c.Last(),
                 extra, c.counters.pauses, most, c.counters.drops, c.counters.again);
    c.rates.clear();
    const char* const color = kColors[i++];
    queues.Curve(c.us, c.queued, 1, 1e-6, color, &d.svg);
    low.Curve(c.us, c.queued, 1, 1e-6, color, &d.svg);
    row(i, {of.name, absl::StrFormat("%.1f", c.Last()), extra, absl::StrCat(c.counters.pauses), most}, color);
    AppendCsv(of.name, c, &d.csv);
  }
  d.svg.Text(x + 20, Chart::kTop + 20 + 24 * (i + 1), absl::StrFormat("the last link alone: %.1f", bound), 12,
             "start");
  return d;
}

// A random permutation without fixed points (Sattolo 1986), SplitMix64.
std::vector<CurveFlow> Permutation(int hosts, uint64_t bytes, uint64_t seed) {
  std::vector<int> to(static_cast<size_t>(hosts));
  for (int i = 0; i < hosts; ++i) to[static_cast<size_t>(i)] = i;
  for (size_t i = to.size() - 1; i > 0; --i) std::swap(to[i], to[NextSplitMix(&seed) % i]);
  std::vector<CurveFlow> flows;
  for (int i = 0; i < hosts; ++i) flows.push_back({i, to[static_cast<size_t>(i)], bytes, Time::Zero()});
  return flows;
}

// Against uet-htsim's regression values: the time when the last sender has all acknowledgements.
Drawing DrawNscc() {
  struct Case {
    const char* name;
    double published;
    std::vector<CurveFlow> flows;
    const char* transport;
  };
  constexpr uint64_t kTwo = 2000000;
  const Case cases[] = {
      {"2 MB, idle", 176.2, {{1023, 0, kTwo, Time::Zero()}}, "nscc"},
      {"15 to 1, 2 MB", 2478.5, validation::Incast(15, kTwo), "nscc"},
      {"127 to 1, 2 MB", 21029, validation::Incast(127, kTwo), "nscc"},
      {"1023 to 1, 100 KB", 10556, validation::Incast(1023, 100000), "nscc"},
      {"permutation, oblivious", 212.8, Permutation(1024, kTwo, 1), "(nscc:lb=oblivious),paths=128"},
      {"permutation, bitmap", 200.5, Permutation(1024, kTwo, 1), "(nscc:lb=bitmap),paths=128"},
      {"permutation, REPS", 198.2, Permutation(1024, kTwo, 1), "(nscc:lb=reps),paths=128"},
  };
  Drawing d;
  d.name = "packet_nscc";
  d.csv = "case,published_us,here_us,ratio\n";
  d.columns = 2;
  const auto topology = validation::CurveNetwork(validation::kNsccNetwork, 1024);
  if (!topology.ok()) std::exit(1);
  constexpr double kLeft = 190, kUnit = 36;  // pixels; of a percent
  const double middle = kLeft + 10 * kUnit;
  d.svg.Text(24, 34, "NSCC, 1,024 hosts at 100 Gb/s: the last completion, against uet-htsim's", 16, "start",
             "#111", true);
  d.height = 70 + 26 * std::size(cases) + 50;
  for (int percent = -10; percent <= 10; percent += 5) {
    const double x = middle + percent * kUnit;
    d.svg.Line(x, 60, x, d.height - 50, percent == 0 ? "#555" : "#ccc", 1);
    d.svg.Text(x, d.height - 34, absl::StrFormat("%+d %%", percent), 10, "middle");
  }
  double y = 78;
  for (const Case& c : cases) {
    const PacketCurves run = Run(*topology, absl::StrCat(validation::kNsccOptions, c.transport), c.flows,
                                 Time::Zero(), Time::Micros(100000));
    const double here = run.Last() + validation::kNsccAckUs, ratio = here / c.published;
    absl::PrintF(
        "nscc %-24s published %9.1f us, here %9.1f (%+.1f %%); trimmed %d, dropped %d, timeouts %d\n", c.name,
        c.published, here, 100 * (ratio - 1), run.counters.trims, run.counters.drops, run.counters.timeouts);
    absl::StrAppendFormat(&d.csv, "\"%s\",%.1f,%.1f,%.4f\n", c.name, c.published, here, ratio);
    const double x = middle + kUnit * std::clamp(100 * (ratio - 1), -10.0, 10.0);
    d.svg.Text(24, y + 4, c.name, 12, "start");
    d.svg.Line(middle, y, x, y, kColors[0], 2);
    d.svg.Circle(x, y, 4, kColors[0], kColors[0]);
    d.svg.Text(x + (ratio < 1 ? -10 : 10), y + 4, absl::StrFormat("%.1f / %.1f us", here, c.published), 10,
               ratio < 1 ? "end" : "start");
    y += 26;
  }
  return d;
}

bool Write(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (!out) absl::FPrintF(stderr, "packet_curves: %s cannot be written\n", path);
  return static_cast<bool>(out);
}

}  // namespace
}  // namespace chakra

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "packet_curves FOLDER\n");
    return 2;
  }
  bool written = true;
  for (auto* const make : {chakra::DrawDcqcn, chakra::DrawHpcc, chakra::DrawIncasts, chakra::DrawNscc}) {
    const chakra::Drawing d = make();
    const std::string base = absl::StrCat(argv[1], "/", d.name);
    const double width = chakra::Chart::kLeft + d.columns * chakra::Chart::kStep;
    written = written && chakra::Write(base + ".csv", d.csv) &&
              chakra::Write(base + ".svg", d.svg.Finish(width, d.height));
  }
  return written ? 0 : 1;
}
