#include "replay/report/energy.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/energy/curve.h"
#include "replay/engine/measure/name_times.h"
#include "replay/report/columns.h"
#include "replay/report/row_table.h"
#include "replay/report/training.h"
#include "trace/base/text_table.h"
#include "trace/base/utf8.h"
#include "trace/model/distinct_graphs.h"

namespace chakra {
namespace {

using energy::Bound;
using energy::Femtojoules;
using energy::Part;
using Shares = google::protobuf::RepeatedPtrField<proto::EnergyShare>;

constexpr size_t kOperators = 100;
constexpr int kBuckets = 240;
constexpr int kTextRows = 8;
constexpr char kResting[] = "(devices at rest)";
constexpr char kRunning[] = "(kernels running)";
constexpr char kWaiting[] = "(waiting and polling)";

// A part of the energy, with its range by the range of its constant.
struct EnergyPart {
  std::string name;
  Femtojoules energy = 0;
  double low = 0, high = 0;  // joules; both 0: unknown
};

void AddParts(const std::vector<EnergyPart>& parts, Shares* out) {
  std::vector<Femtojoules> amounts;
  Femtojoules all = 0;
  for (const EnergyPart& p : parts) all += amounts.emplace_back(p.energy);
  const std::vector<int64_t> micro = energy::ToMicrojoules(amounts);
  for (size_t i = 0; i < parts.size(); ++i) {
    proto::EnergyShare& share = *out->Add();
    share.set_name(ToUtf8(parts[i].name));
    share.set_microjoules(micro[i]);
    share.set_share(all > 0 ? static_cast<double>(parts[i].energy) / static_cast<double>(all) : 0);
    share.set_low_joules(parts[i].low);
    share.set_high_joules(parts[i].high);
  }
}

class EnergyWriter {
 public:
  EnergyWriter(const MeteredRun& run, proto::Report* report)
      : run_(run),
        report_(*report),
        out_(*report->mutable_energy()),
        site_(run.constants, run.bill, run.places.nodes, run.bits),
        distinct_(run.traces),
        beside_(site_.Energy(run.meter.energy(), run.makespan)) {}

  void Write() {
    out_.set_device(run_.constants.profile.device());
    out_.set_power_cap_watts(run_.constants.cap_watts);
    out_.set_capped_nodes(run_.capped);
    SumRows();
    AddCauses();
    AddOperators();
    AddCollectives();
    AddPhases();
    AddRanks();
    AddPower();
    AddRange();
    AddConstants();
    AddTokens();
  }

 private:
  // Energy that belongs to no operation: of the devices (Bases()), and of what is outside of the devices
  // (Beside()).
  std::vector<EnergyPart> Bases() const {
    const energy::DeviceLevels levels = energy::LevelsOf(run_.constants);
    const energy::PowerMeter& m = run_.meter;
    const proto::DevicePower& p = run_.constants.profile.power();
    return {Ranged(kResting, energy::EnergyOf(levels.resident, m.resident_ps()), p.resident_watts()),
            Ranged(kRunning, energy::EnergyOf(levels.busy, m.busy_ps()), p.busy_watts()),
            Ranged(kWaiting, energy::EnergyOf(levels.wait, m.wait_ps()), p.wait_watts())};
  }
  std::vector<EnergyPart> Beside() const {
    const auto low = site_.Energy(run_.meter.energy(), run_.makespan, Bound::kLow);
    const auto high = site_.Energy(run_.meter.energy(), run_.makespan, Bound::kHigh);
    const auto part = [&](const char* name, Femtojoules energy::SiteEnergy::*of) {
      return EnergyPart{name, beside_.*of, energy::ToJoules(low.*of), energy::ToJoules(high.*of)};
    };
    return {part("hosts", &energy::SiteEnergy::hosts), part("fans", &energy::SiteEnergy::fans),
            part("power supplies", &energy::SiteEnergy::supplies),
            part("network", &energy::SiteEnergy::network),
            part("cooling and site", &energy::SiteEnergy::cooling)};
  }
  static EnergyPart Ranged(const char* name, Femtojoules energy, const proto::Figure& figure) {
    const double joules = energy::ToJoules(energy);
    if (figure.value() <= 0) return {name, energy, 0, 0};
    return {name, energy, joules * energy::Low(figure) / figure.value(),
            joules * energy::High(figure) / figure.value()};
  }

  // Adds the energy of the devices by cause, then the energy outside of the devices.
  void AddCauses() {
    const proto::DevicePower& p = run_.constants.profile.power();
    std::vector<EnergyPart> parts = Bases();
    parts[0].name = "devices at rest";
    parts[1].name = "kernels running";
    parts[2].name = "waiting and polling";
    parts.push_back(Ranged("matrix units", run_.meter.PartEnergy(Part::kTensor), p.tensor_watts()));
    parts.push_back(Ranged("instructions", run_.meter.PartEnergy(Part::kIssue), p.issue_watts()));
    parts.push_back(Ranged("device memory", run_.meter.PartEnergy(Part::kMemory), p.memory_watts()));
    parts.push_back(
        Ranged("moving data between devices", run_.meter.PartEnergy(Part::kLink), p.link_watts()));
    parts.push_back(
        Ranged("copies to and from other memory", run_.meter.PartEnergy(Part::kCopy), p.copy_watts()));
    for (EnergyPart& part : Beside()) parts.push_back(std::move(part));
    AddParts(parts, out_.mutable_cause());
  }

  // Sums the energy of each row, by graph.
  void SumRows() {
    for (size_t g = 0; g < distinct_.graphs.size(); ++g) {
      std::vector<Femtojoules>& rows = rows_.emplace_back(distinct_.graphs[g]->size());
      for (uint32_t row = 0; row < rows.size(); ++row) rows[row] = run_.meter.RowEnergy(g, row);
    }
  }

  // Adds the energy of rows, grouped by `name(graph, key)`, where `key(graph, row)` is the key of a row. The
  // largest come first, at most kOperators. Energy that belongs to no row comes last.
  template <typename KeyOf, typename NameOf>
  void AddRows(const KeyOf& key, const NameOf& name, Shares* out) {
    std::map<std::string, Femtojoules> sums;
    for (size_t g = 0; g < rows_.size(); ++g) {
      std::vector<Femtojoules> by_key;
      for (uint32_t row = 0; row < rows_[g].size(); ++row) {
        const size_t k = key(g, row);
        if (k >= by_key.size()) by_key.resize(k + 1);
        by_key[k] += rows_[g][row];
      }
      for (size_t k = 0; k < by_key.size(); ++k) {
        if (by_key[k] != 0) sums[name(g, k)] += by_key[k];
      }
    }
    std::vector<EnergyPart> parts;
    for (auto& [of, e] : sums) parts.push_back({of, e, 0, 0});
    std::stable_sort(parts.begin(), parts.end(),
                     [](const EnergyPart& a, const EnergyPart& b) { return a.energy > b.energy; });
    if (parts.size() > kOperators) {
      for (size_t i = kOperators; i < parts.size(); ++i) parts[kOperators - 1].energy += parts[i].energy;
      parts[kOperators - 1].name = "(others)";
      parts.resize(kOperators);
    }
    for (EnergyPart& part : Bases()) parts.push_back({part.name, part.energy, 0, 0});
    for (EnergyPart& part : Beside()) parts.push_back({absl::StrCat("(", part.name, ")"), part.energy, 0, 0});
    AddParts(parts, out);
  }

  void AddOperators() {
    std::set<std::string> names;
    for (size_t g = 0; g < rows_.size(); ++g) {
      const Graph& graph = *distinct_.graphs[g];
      std::vector<bool> seen;
      for (uint32_t row = 0; row < graph.size(); ++row) {
        const uint32_t name = graph.name[row];
        if (name >= seen.size()) seen.resize(name + 1);
        if (!seen[name] && rows_[g][row] != 0) names.insert(std::string(graph.strings.Get(name)));
        seen[name] = seen[name] || rows_[g][row] != 0;
      }
    }
    const bool merge = names.size() > kOperators;
    AddRows([&](size_t g, uint32_t row) { return distinct_.graphs[g]->name[row]; },
            [&](size_t g, size_t name) {
              const absl::string_view text = distinct_.graphs[g]->strings.Get(static_cast<uint32_t>(name));
              return merge ? MergeNumbers(text) : std::string(text);
            },
            out_.mutable_operator_());
  }

  void AddCollectives() {
    constexpr size_t kUnknown = kCollectiveTypes, kMessages = kUnknown + 1, kNone = kMessages + 1;
    AddRows(
        [&](size_t g, uint32_t row) -> size_t {
          const Graph& graph = *distinct_.graphs[g];
          const NodeType type = graph.type[row];
          if (type < NodeType::kSend) return kNone;
          if (type != NodeType::kCollective) return kMessages;
          return std::min<size_t>(graph.comm[graph.payload[row]].type, kUnknown);
        },
        [&](size_t, size_t kind) -> std::string {
          if (kind == kNone) return "(no communication)";
          if (kind == kMessages) return "send_recv";
          return kind == kUnknown ? "(of unknown kind)"
                                  : std::string(Name(static_cast<CollectiveType>(kind)));
        },
        out_.mutable_collective());
  }

  void AddPhases() {
    if (run_.phases == nullptr || run_.phases->empty()) return;
    if (std::any_of(run_.phases->begin(), run_.phases->end(), [](const auto& p) { return p.empty(); }))
      return;
    AddRows([&](size_t g, uint32_t row) { return (*run_.phases)[g][row]; },
            [](size_t, size_t phase) { return std::string(PhaseName(phase)); }, out_.mutable_phase());
  }

  void AddRanks() {
    std::vector<Femtojoules> ranks;
    for (int r = 0; r < report_.rank_size(); ++r)
      ranks.push_back(run_.meter.DeviceEnergy(static_cast<size_t>(r)));
    const std::vector<int64_t> micro = energy::ToMicrojoules(ranks);
    int64_t sum = 0;
    for (int r = 0; r < report_.rank_size(); ++r) {
      report_.mutable_rank(r)->set_energy_microjoules(micro[static_cast<size_t>(r)]);
      report_.mutable_rank(r)->set_peak_watts(energy::ToWatts(run_.meter.DevicePeak(static_cast<size_t>(r))));
      sum += micro[static_cast<size_t>(r)];
    }
    out_.set_device_microjoules(sum);
    out_.set_microjoules(
        static_cast<int64_t>((run_.meter.energy() + beside_.sum()) / energy::kFemtoPerMicro));
  }

  void AddLevel(const char* of, int count, double mean, double peak, double least) {
    proto::PowerLevel& level = *out_.add_level();
    level.set_of(of);
    level.set_count(count);
    level.set_mean_watts(mean);
    level.set_peak_watts(peak);
    level.set_least_watts(least);
  }

  // Levels of nodes or racks, including hosts, fans and power supplies.
  void AddLevels(const char* of, const std::vector<energy::PowerCurve>& curves, double nodes_in_one) {
    energy::SitePower power = site_.NodePower();
    power.rest_watts *= nodes_in_one;
    energy::Milliwatts peak = 0, least = curves.empty() ? 0 : curves[0].least();
    double joules = 0;
    for (const energy::PowerCurve& curve : curves) {
      peak = std::max(peak, curve.peak());
      least = std::min(least, curve.least());
      joules += energy::ToJoules(curve.energy());
    }
    const double mean = joules / Seconds() / static_cast<double>(curves.size());
    AddLevel(of, static_cast<int>(curves.size()), power.of_devices * mean + power.rest_watts, power.Of(peak),
             power.Of(least));
  }

  double Seconds() const { return std::max(1e-12, run_.makespan.seconds()); }

  void AddPower() {
    const energy::PowerMeter& m = run_.meter;
    const energy::PowerCurve& whole = m.whole();
    const energy::SitePower all = site_.AllPower(run_.makespan), node = site_.NodePower();
    const double devices = energy::ToJoules(m.energy()) / Seconds();
    const auto ranks = static_cast<size_t>(report_.rank_size());
    energy::Milliwatts peak = 0, least = ranks == 0 ? 0 : m.DeviceLeast(0);
    for (size_t r = 0; r < ranks; ++r) {
      peak = std::max(peak, m.DevicePeak(r));
      least = std::min(least, m.DeviceLeast(r));
    }
    AddLevel("device", static_cast<int>(ranks), devices / static_cast<double>(std::max<size_t>(1, ranks)),
             energy::ToWatts(peak), energy::ToWatts(least));
    AddLevels("node", m.nodes(), 1);
    AddLevels("rack", m.racks(), static_cast<double>(run_.places.nodes) / std::max(1u, run_.places.racks));
    AddLevel("all devices", 1, devices, energy::ToWatts(whole.peak()), energy::ToWatts(whole.least()));
    out_.set_mean_watts(all.of_devices * devices + all.rest_watts);
    out_.set_peak_watts(all.Of(whole.peak()));
    out_.set_least_watts(all.Of(whole.least()));
    AddLevel("site", 1, out_.mean_watts(), out_.peak_watts(), out_.least_watts());
    out_.set_p99_watts(all.Of(PowerBelow(whole, 0.99)));
    out_.set_swing_10ms_watts(all.of_devices * energy::ToWatts(SwingWithin(whole, Time::Micros(10000))));
    out_.set_swing_1s_watts(all.of_devices * energy::ToWatts(SwingWithin(whole, Time::Micros(1000000))));
    out_.set_node_watts(node.of_devices * devices / std::max(1u, run_.places.nodes) + node.rest_watts);
    for (const double watts : MeanOfBuckets(whole, kBuckets))
      out_.add_watts(static_cast<float>(all.of_devices * watts + all.rest_watts));
    out_.set_bucket_ps((run_.makespan.picos() + kBuckets - 1) / kBuckets);
    out_.set_nodes(static_cast<int>(run_.places.nodes));
    out_.set_racks(static_cast<int>(run_.places.racks));
    out_.set_switch_ports(run_.bill.switch_ports());
    out_.set_transceivers(run_.bill.switch_transceivers(run_.constants.network.copper_first_hop()));
  }

  // The range with all constants at their minimum or maximum. Devices draw at most their rated power.
  void AddRange() {
    double low = 0, high = 0;
    for (int i = 0; i < 7; ++i) {
      low += out_.cause(i).low_joules();
      high += out_.cause(i).high_joules();
    }
    const double rated =
        energy::ToWatts(energy::LevelsOf(run_.constants).most) * Seconds() * report_.rank_size();
    high = std::max(std::min(high, rated), energy::ToJoules(run_.meter.energy()));
    const auto site = [&](double devices, Bound bound) {
      const auto fj = static_cast<Femtojoules>(devices * 1e15);
      return devices + energy::ToJoules(site_.Energy(fj, run_.makespan, bound).sum());
    };
    out_.set_low_joules(site(low, Bound::kLow));
    out_.set_high_joules(site(high, Bound::kHigh));
  }

  void AddConstants() {
    for (const energy::NamedFigure& f : energy::FiguresOf(run_.constants)) {
      proto::EnergyConstant& c = *out_.add_constant();
      c.set_name(f.name);
      c.set_value(f.figure->value());
      c.set_low(energy::Low(*f.figure));
      c.set_high(energy::High(*f.figure));
      c.set_source(f.figure->source());
      c.set_date(f.figure->date());
    }
  }

  void AddTokens() {
    const double tokens = report_.training().tokens(),
                 joules = static_cast<double>(out_.microjoules()) * 1e-6;
    if (joules <= 0) return;
    if (const double samples = report_.training().samples(); samples > 0) {
      out_.set_joules_per_sample(joules / samples);
      out_.set_samples_per_joule(samples / joules);
    }
    if (tokens <= 0) return;
    out_.set_joules_per_token(joules / tokens);
    out_.set_tokens_per_joule(tokens / joules);
  }

  const MeteredRun& run_;
  proto::Report& report_;
  proto::EnergyReport& out_;
  energy::Site site_;
  DistinctGraphs distinct_;
  energy::SiteEnergy beside_;
  std::vector<std::vector<Femtojoules>> rows_;  // by graph
};

std::string Kilo(double watts) {
  if (watts >= 1e6) return absl::StrFormat("%.4g MW", watts / 1e6);
  return watts >= 1e3 ? absl::StrFormat("%.4g kW", watts / 1e3) : absl::StrFormat("%.4g W", watts);
}

std::string PrintShares(const char* title, const Shares& shares, bool all, TextPage* page) {
  RowTable<proto::EnergyShare> table;
  table.Title("name", title);
  int shown = 0;
  for (const proto::EnergyShare& s : shares) {
    if (s.microjoules() == 0) continue;
    if (!all && (s.name()[0] == '(' || shown == kTextRows)) continue;
    table.Add(s);
    ++shown;
  }
  return shown == 0 ? "" : absl::StrCat("\n", table.Print(page));
}

}  // namespace

void AddEnergy(const MeteredRun& run, proto::Report* report) { EnergyWriter(run, report).Write(); }

void ExplainEnergy(const proto::EnergyReport& e, economics::Tree* tree) {
  const auto constant = [&](const char* name) {
    for (const proto::EnergyConstant& c : e.constant()) {
      if (c.name() == name)
        tree->Leaf(name, c.value(), "", c.source() + (c.date().empty() ? "" : ", " + c.date()));
    }
  };
  static constexpr const char* kConstants[][2] = {{"devices at rest", "resident_watts"},
                                                  {"kernels running", "busy_watts"},
                                                  {"waiting and polling", "wait_watts"},
                                                  {"matrix units", "tensor_watts"},
                                                  {"device memory", "memory_watts"},
                                                  {"moving data between devices", "link_watts"},
                                                  {"hosts", "host_watts"},
                                                  {"fans", "fans_share"},
                                                  {"power supplies", "supply_loss_share"},
                                                  {"network", "switch_watts_per_gbps"},
                                                  {"network", "transceiver_watts_per_gbps"},
                                                  {"cooling and site", "pue"}};
  tree->Down("energy", static_cast<double>(e.microjoules()) * 1e-6, "J", "sum");
  for (const proto::EnergyShare& cause : e.cause()) {
    if (cause.microjoules() == 0) continue;
    tree->Down(cause.name(), static_cast<double>(cause.microjoules()) * 1e-6, "J",
               "power x time over all of them, or a share of the lines above");
    for (const auto& [name, of] : kConstants) {
      if (cause.name() == name) constant(of);
    }
    tree->Up();
  }
  tree->Up();
}

std::string PrintEnergy(const proto::Report& report, TextPage* page) {
  if (!report.has_energy()) return "";
  const proto::EnergyReport& e = report.energy();
  std::string out = absl::StrFormat(
      "\nEnergy (constants of %s)\n  energy   %s, from %s to %s by the ranges of the constants; %.4g kWh\n",
      e.device(), FormatEnergy(e.microjoules()), FormatEnergy(static_cast<int64_t>(e.low_joules() * 1e6)),
      FormatEnergy(static_cast<int64_t>(e.high_joules() * 1e6)),
      static_cast<double>(e.microjoules()) / 3.6e12);
  absl::StrAppend(&out, "  power    mean ", Kilo(e.mean_watts()), ", peak ", Kilo(e.peak_watts()),
                  ", 99 % of the time below ", Kilo(e.p99_watts()), ", least ", Kilo(e.least_watts()),
                  "\n  swings   ", Kilo(e.swing_10ms_watts()), " within 10 ms, ", Kilo(e.swing_1s_watts()),
                  " within 1 s\n");
  absl::StrAppend(&out, "  a node   ", Kilo(e.node_watts()), " at its plug, ",
                  FormatCount(static_cast<uint64_t>(e.nodes())), " nodes in ",
                  FormatCount(static_cast<uint64_t>(e.racks())), " racks, ",
                  FormatCount(static_cast<uint64_t>(e.switch_ports())), " ports of switches between them\n");
  if (e.power_cap_watts() > 0) {
    absl::StrAppendFormat(&out, "  cap      %g W a device: it slows %s operations\n", e.power_cap_watts(),
                          FormatCount(e.capped_nodes()));
  }
  if (e.joules_per_token() > 0) {
    absl::StrAppendFormat(&out, "  tokens   %.4g J a token, %.4g tokens a J\n", e.joules_per_token(),
                          e.tokens_per_joule());
  }
  if (e.has_joules_per_sample()) {
    absl::StrAppendFormat(&out, "  samples  %.4g J a sample, %.4g samples a J\n", e.joules_per_sample(),
                          e.samples_per_joule());
  }
  RowTable<proto::PowerLevel> levels;
  for (const char* column : {"mean_watts", "peak_watts", "least_watts"}) {
    const auto* field = proto::PowerLevel::descriptor()->FindFieldByName(column);
    levels.Show(column, [field](const proto::PowerLevel& l) { return Kilo(NumberIn(l, *field)); });
  }
  for (const proto::PowerLevel& l : e.level()) levels.Add(l);
  return absl::StrCat(out, "\n", levels.Print(page), PrintShares("energy by cause", e.cause(), true, page),
                      PrintShares("by operator", e.operator_(), false, page),
                      PrintShares("by collective", e.collective(), false, page),
                      PrintShares("by phase", e.phase(), false, page));
}

}  // namespace chakra
