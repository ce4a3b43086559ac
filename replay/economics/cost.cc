#include "replay/economics/cost.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/economics/tables.h"
#include "trace/base/did_you_mean.h"

namespace chakra::economics {
namespace {

constexpr double kHoursInYear = 8760;

// An item that is bought.
struct Bought {
  std::string name;
  Range count;
  const proto::Figure* price;  // of one item
  const char* unit;            // the unit of `count`
};

class Coster {
 public:
  Coster(const PricedStep& step, const proto::Prices& prices, const proto::DevicePrice& device, Tree* tree)
      : step_(step), prices_(prices), device_(device), tree_(tree) {}

  proto::CostReport Report() {
    const double hours = step_.seconds / 3600;
    const Range used(prices_.used_share());
    const Range years(prices_.lifetime_years()), interest(prices_.interest_share());
    // The low end has a long life and no interest.
    const Range yearly{YearlyShare(years.high, interest.low), YearlyShare(years.value, interest.value),
                       YearlyShare(years.low, interest.high)};
    const Range of_step = yearly * Range(hours / kHoursInYear) / used;
    Range capital;
    for (const Bought& b : Buys()) {
      const Range price = b.count * Range(*b.price);
      capital += price;
      Add(b.name, price * of_step, price.value);
      details_.push_back({b, of_step.value});
    }
    Add("staff", capital * Range(prices_.staff_share()) * Range(hours / kHoursInYear) / used, 0);
    const Range kilowatts(ProvisionedKilowatts());
    Add("site",
        kilowatts * Range(prices_.site_dollars_per_kw_month()) * Range(12 * hours / kHoursInYear) / used, 0);
    const double kwh = static_cast<double>(step_.energy.microjoules()) / 3.6e12;
    const Range energy{step_.energy.low_joules() / 3.6e6, kwh, step_.energy.high_joules() / 3.6e6};
    Add("electricity", energy * Range(prices_.electricity_dollars_per_kwh()), 0);
    Finish(capital, hours);
    if (tree_ != nullptr) Explain(hours, kilowatts.value, kwh);
    return std::move(out_);
  }

 private:
  struct Detail {
    Bought bought;
    double of_step;
  };

  std::vector<Bought> Buys() const {
    const energy::Bill& bill = step_.bill;
    const bool copper = step_.constants.network.copper_first_hop();
    double gbits = 0, optics = 0;
    int64_t cables = 0;
    for (const energy::LinkBill& l : bill.links) {
      gbits += l.gbits_per_s * static_cast<double>(l.switch_ports);
      optics += 2 * l.gbits_per_s * static_cast<double>(l.links - (copper ? l.first_hop : 0));
      cables += l.links;
    }
    return {{"devices", static_cast<double>(bill.devices), &device_.device_dollars(), "devices"},
            {"hosts", static_cast<double>(bill.nodes), &device_.host_dollars(), "nodes"},
            {"switches", gbits, &prices_.switch_dollars_per_gbps(), "Gb/s of ports"},
            {"optical modules", optics, &prices_.transceiver_dollars_per_gbps(), "Gb/s of modules"},
            {"cables", static_cast<double>(cables), &prices_.cable_dollars(), "cables"},
            {"racks", static_cast<double>(bill.racks), &prices_.rack_dollars(), "racks"}};
  }

  // The rated power of the machines without cooling; colocation is sold by rated power.
  double ProvisionedKilowatts() const {
    const proto::NodePower& node = step_.constants.profile.node();
    const double most = energy::ToWatts(energy::LevelsOf(step_.constants).most);
    const double machines = static_cast<double>(step_.bill.devices) * most +
                            static_cast<double>(step_.bill.nodes) * node.host_watts().value();
    return machines * (1 + node.fans_share().value()) * (1 + node.supply_loss_share().value()) / 1e3;
  }

  void Add(const std::string& name, const Range& dollars, double price) {
    proto::CostShare& part = *out_.add_part();
    part.set_name(name);
    part.set_dollars_per_step(dollars.value);
    part.set_low_dollars_per_step(dollars.low);
    part.set_high_dollars_per_step(dollars.high);
    part.set_price_dollars(price);
    all_ += dollars;
  }

  void Finish(const Range& capital, double hours) {
    out_.set_prices(prices_.name());
    out_.set_capital_dollars(capital.value);
    out_.set_dollars_per_step(all_.value);
    out_.set_low_dollars_per_step(all_.low);
    out_.set_high_dollars_per_step(all_.high);
    if (step_.tokens > 0) {
      out_.set_dollars_per_million_tokens(all_.value * 1e6 / step_.tokens);
      out_.set_low_dollars_per_million_tokens(all_.low * 1e6 / step_.tokens);
      out_.set_high_dollars_per_million_tokens(all_.high * 1e6 / step_.tokens);
    }
    if (step_.samples > 0) {
      out_.set_dollars_per_million_samples(all_.value * 1e6 / step_.samples);
      out_.set_low_dollars_per_million_samples(all_.low * 1e6 / step_.samples);
      out_.set_high_dollars_per_million_samples(all_.high * 1e6 / step_.samples);
    }
    const double device_hours = hours * static_cast<double>(step_.bill.devices);
    if (device_hours > 0) out_.set_dollars_per_device_hour(all_.value / device_hours);
    const Range rent = Range(device_.rent_dollars_per_device_hour()) * Range(device_hours);
    out_.set_rented_dollars_per_step(rent.value);
    out_.set_low_rented_dollars_per_step(rent.low);
    out_.set_high_rented_dollars_per_step(rent.high);
    for (proto::CostShare& part : *out_.mutable_part())
      part.set_share(all_.value > 0 ? part.dollars_per_step() / all_.value : 0);
    std::stable_sort(out_.mutable_part()->begin(), out_.mutable_part()->end(),
                     [](const proto::CostShare& a, const proto::CostShare& b) {
                       return a.dollars_per_step() > b.dollars_per_step();
                     });
  }

  void Explain(double hours, double kilowatts, double kwh) {
    tree_->Down("dollars a step", all_.value, "$", "sum");
    for (const proto::CostShare& part : out_.part()) {
      const auto detail = std::find_if(details_.begin(), details_.end(),
                                       [&](const Detail& d) { return d.bought.name == part.name(); });
      tree_->Down(part.name(), part.dollars_per_step(), "$", "product");
      if (detail != details_.end()) {
        tree_->Leaf("count", detail->bought.count.value, detail->bought.unit,
                    "the topology that was simulated");
        tree_->Leaf("price of one", *detail->bought.price, "$");
        ExplainYears(detail->of_step, hours);
      } else if (part.name() == "staff") {
        tree_->Leaf("capital", out_.capital_dollars(), "$", "sum of what is bought");
        tree_->Leaf("staff_share", prices_.staff_share(), "a year");
        ExplainHours(hours);
      } else if (part.name() == "site") {
        tree_->Leaf("provisioned power", kilowatts, "kW",
                    "rated power of devices and hosts, with fans and supplies");
        tree_->Leaf("site_dollars_per_kw_month", prices_.site_dollars_per_kw_month(),
                    "$/kW/month, 12 a year");
        ExplainHours(hours);
      } else {
        tree_->Leaf("energy", kwh, "kWh", "the metered run");
        tree_->Leaf("electricity_dollars_per_kwh", prices_.electricity_dollars_per_kwh(), "$/kWh");
      }
      tree_->Up();
    }
    tree_->Up();
  }

  void ExplainYears(double of_step, double hours) {
    tree_->Down("share of a price that a step costs", of_step, "", "yearly share x years of a step");
    tree_->Leaf("lifetime_years", prices_.lifetime_years(), "years");
    tree_->Leaf("interest_share", prices_.interest_share(),
                "a year; 0: 1 / years, else r / (1 - (1 + r)^-years)");
    ExplainHours(hours);
    tree_->Up();
  }

  void ExplainHours(double hours) {
    tree_->Down("years of a step", hours / kHoursInYear / prices_.used_share().value(), "years",
                "hours / 8760 / used_share");
    tree_->Leaf("step", hours, "h", "the replay");
    tree_->Leaf("used_share", prices_.used_share(), "");
    tree_->Up();
  }

  const PricedStep& step_;
  const proto::Prices& prices_;
  const proto::DevicePrice& device_;
  Tree* tree_;
  proto::CostReport out_;
  Range all_;
  std::vector<Detail> details_;
};

}  // namespace

double YearlyShare(double years, double interest) {
  if (interest <= 0) return 1 / years;
  return interest / (1 - std::pow(1 + interest, -years));
}

absl::StatusOr<proto::CostReport> CostOf(const PricedStep& step, const proto::Prices& prices, Tree* tree) {
  const std::string& name = step.constants.profile.device();
  const proto::DevicePrice* device = PriceOf(prices, name);
  if (device == nullptr) {
    std::vector<std::string> known;
    for (const proto::DevicePrice& d : prices.device()) known.push_back(d.device());
    return absl::NotFoundError(
        absl::StrCat("--prices: device \"", name, "\" has no price; expected device { device: \"", name,
                     "\" device_dollars { value: ... } host_dollars { value: ... } } in a file",
                     SuggestName(name, known)));
  }
  return Coster(step, prices, *device, tree).Report();
}

}  // namespace chakra::economics
