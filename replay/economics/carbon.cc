#include "replay/economics/carbon.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/economics/act.h"
#include "replay/economics/tables.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

namespace chakra::economics {
namespace {

constexpr double kHoursOfYear = 8760;

class Emitter {
 public:
  Emitter(const PricedStep& step, const proto::Grid& grid, const proto::Embodied& embodied, double start,
          Tree* tree)
      : step_(step), grid_(grid), embodied_(embodied), start_(start), tree_(tree) {
    // If the table does not have the host of the device, uses the host of an H100.
    const proto::Embodied* host = &embodied;
    if (!host->has_host_footprint_kg()) host = EmbodiedOf(grid, "H100-SXM5-80GB");
    host_ = host == nullptr ? &embodied : host;
  }

  absl::StatusOr<proto::CarbonReport> Report() {
    ASSIGN_OR_RETURN(const auto device_act, SumOf(embodied_.part()));
    ASSIGN_OR_RETURN(const auto host_act, SumOf(host_->host_part()));
    const auto devices = static_cast<double>(step_.bill.devices),
               nodes = static_cast<double>(step_.bill.nodes);
    const Range network =
        Range(step_.bill.switch_gbits_per_s()) * Range(grid_.switch_footprint_kg_per_gbps());
    const Range device_kg = Range(devices) * Range(embodied_.footprint_kg());
    const Range host_kg = Range(nodes) * Range(host_->host_footprint_kg());
    const Range of_step = Range(step_.seconds / 3600 / kHoursOfYear) /
                          (Range(grid_.device_years()) * Range(grid_.used_share()));
    out_.set_machine_act_kg(devices * device_act + nodes * host_act + network.value);
    out_.set_machine_footprint_kg(device_kg.value + host_kg.value + network.value);
    const double kwh = static_cast<double>(step_.energy.microjoules()) / 3.6e12;
    const Range energy{step_.energy.low_joules() / 3.6e6, kwh, step_.energy.high_joules() / 3.6e6};
    const Range grams = Intensity();
    Add("electricity, by location", energy * grams * Range(1e-3));
    Add("making devices, by footprints", device_kg * of_step);
    Add("making hosts, by footprints", host_kg * of_step);
    if (network.high > 0) Add("making switches", network * of_step);
    const double market =
        grid_.has_market_grams_per_kwh() ? grid_.market_grams_per_kwh().value() : grams.value;
    out_.set_grid(grid_.region());
    out_.set_grams_per_kwh(grams.value);
    out_.set_market_grams_per_kwh(market);
    out_.set_operational_kg(kwh * grams.value / 1e3);
    out_.set_market_kg(kwh * market / 1e3);
    out_.set_embodied_act_kg(out_.machine_act_kg() * of_step.value);
    out_.set_embodied_footprint_kg(out_.machine_footprint_kg() * of_step.value);
    out_.set_kg(out_.operational_kg() + out_.embodied_footprint_kg());
    if (step_.tokens > 0) out_.set_grams_per_million_tokens(out_.kg() * 1e9 / step_.tokens);
    if (step_.samples > 0) out_.set_grams_per_million_samples(out_.kg() * 1e9 / step_.samples);
    if (tree_ != nullptr) Explain(kwh, of_step.value, device_act, host_act);
    return std::move(out_);
  }

 private:
  absl::StatusOr<double> SumOf(const google::protobuf::RepeatedPtrField<proto::EmbodiedPart>& parts) const {
    double sum = 0;
    for (const proto::EmbodiedPart& part : parts) {
      ASSIGN_OR_RETURN(const auto kg, EmbodiedKg(part, grid_.fab()));
      sum += kg;
    }
    return sum;
  }

  Range Intensity() const {
    if (grid_.hourly_grams_per_kwh_size() == 0) return Range(grid_.grams_per_kwh());
    return Range(MeanIntensity(grid_, start_, step_.seconds));
  }

  void Add(const char* name, const Range& kg) {
    proto::CarbonShare& part = *out_.add_part();
    part.set_name(name);
    part.set_kg(kg.value);
    part.set_low_kg(kg.low);
    part.set_high_kg(kg.high);
  }

  void Explain(double kwh, double of_step, double device_act, double host_act) {
    tree_->Down("kg CO2e a step", out_.kg(), "kg", "sum");
    tree_->Down("electricity, by location", out_.operational_kg(), "kg", "product / 1000");
    tree_->Leaf("energy", kwh, "kWh", "the metered run");
    if (grid_.hourly_grams_per_kwh_size() == 0) {
      tree_->Leaf("intensity", grid_.grams_per_kwh(), "g/kWh");
    } else {
      tree_->Leaf("intensity", out_.grams_per_kwh(), "g/kWh",
                  absl::StrCat("mean of the hours of ", grid_.region()));
    }
    tree_->Up();
    tree_->Down("making the machine, by footprints", out_.embodied_footprint_kg(), "kg", "product");
    tree_->Down("machine", out_.machine_footprint_kg(), "kg", "devices x footprint + nodes x host footprint");
    ExplainCount(embodied_.footprint_kg(), host_->host_footprint_kg());
    tree_->Up();
    ExplainShare(of_step);
    tree_->Up();
    tree_->Up();
    tree_->Down("making the machine, by ACT (not in the sum)", out_.embodied_act_kg(), "kg", "product");
    tree_->Down("machine", out_.machine_act_kg(), "kg", "devices x parts + nodes x parts");
    tree_->Leaf("devices", static_cast<double>(step_.bill.devices), "", "the topology that was simulated");
    ExplainParts("a device", device_act, embodied_.part());
    tree_->Leaf("nodes", static_cast<double>(step_.bill.nodes), "", "the topology that was simulated");
    ExplainParts("a host", host_act, host_->host_part());
    tree_->Up();
    ExplainShare(of_step);
    tree_->Up();
  }

  void ExplainCount(const proto::Figure& device, const proto::Figure& host) {
    tree_->Leaf("devices", static_cast<double>(step_.bill.devices), "", "the topology that was simulated");
    tree_->Leaf("footprint of a device", device, "kg");
    tree_->Leaf("nodes", static_cast<double>(step_.bill.nodes), "", "the topology that was simulated");
    tree_->Leaf("footprint of a host", host, "kg");
  }

  void ExplainParts(const char* name, double kg,
                    const google::protobuf::RepeatedPtrField<proto::EmbodiedPart>& parts) {
    tree_->Down(name, kg, "kg", "sum");
    for (const proto::EmbodiedPart& part : parts)
      tree_->Leaf(part.name(), EmbodiedKg(part, grid_.fab()).value_or(0), "kg", part.source());
    tree_->Up();
  }

  void ExplainShare(double of_step) {
    tree_->Down("share of its life that a step takes", of_step, "", "hours / (8760 x years x used)");
    tree_->Leaf("step", step_.seconds / 3600, "h", "the replay");
    tree_->Leaf("device_years", grid_.device_years(), "years");
    tree_->Leaf("used_share", grid_.used_share(), "");
    tree_->Up();
  }

  const PricedStep& step_;
  const proto::Grid& grid_;
  const proto::Embodied& embodied_;
  const proto::Embodied* host_;
  double start_;
  Tree* tree_;
  proto::CarbonReport out_;
};

}  // namespace

absl::StatusOr<proto::CarbonReport> CarbonOf(const PricedStep& step, const proto::Grid& grid, double start,
                                             Tree* tree) {
  const std::string& name = step.constants.profile.device();
  const proto::Embodied* embodied = EmbodiedOf(grid, name);
  if (embodied == nullptr) {
    std::vector<std::string> known;
    for (const proto::Embodied& e : grid.embodied()) known.push_back(e.device());
    return absl::NotFoundError(absl::StrCat(
        "--grid: the footprint of device \"", name, "\" is unknown; expected embodied { device: \"", name,
        "\" footprint_kg { value: ... } } in a file", SuggestName(name, known)));
  }
  return Emitter(step, grid, *embodied, start, tree).Report();
}

double HoursTimesWattsKwh(double devices, double hours, double watts, double pue) {
  return devices * hours * watts * pue / 1000;
}

}  // namespace chakra::economics
