#include "backends/registry.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"

// One line for each fabric: the function that returns its FabricKind.
#define CHAKRA_FABRICS(FABRIC) \
  FABRIC(AnalyticalKind)       \
  FABRIC(FifoKind)             \
  FABRIC(LogGpsKind)           \
  FABRIC(FluidKind)            \
  FABRIC(PacketKind)           \
  FABRIC(MixedKind)

namespace chakra {

#define CHAKRA_DECLARE(kind) const FabricKind& kind();
CHAKRA_FABRICS(CHAKRA_DECLARE)
#undef CHAKRA_DECLARE

namespace {

absl::Status CheckSets(const FabricKind& kind, const FabricOptions& options, const FabricKinds& fabrics) {
  const auto has = [](const std::vector<const OptionSet*>& sets, const OptionSet* set) {
    return std::find(sets.begin(), sets.end(), set) != sets.end();
  };
  for (const OptionSet* set : options.asked()) {
    if (has(kind.takes, set) || has(kind.ignores, set)) continue;
    return RefusedByFabric(kind.name, absl::StrCat(set->what, " ", set->are, " for ",
                                                   Listed(FabricsThatTake(*set, fabrics)), set->also));
  }
  return absl::OkStatus();
}

absl::Status CheckLinks(const FabricKind& kind, const FabricOptions& options, const FabricKinds& fabrics) {
  const auto bad = [&](absl::string_view what) { return RefusedByFabric(kind.name, what); };
  const std::string follow = Listed(FabricsThatFollowLinks(fabrics));
  if (!kind.follows_links && !options.changes.empty()) {
    return bad(absl::StrCat("links that fail or lose packets (--fault) are for ", follow));
  }
  for (const LinkChange& c : options.changes) {
    if (!(c.bandwidth >= 0 && c.bandwidth <= 1)) {
      return bad(absl::StrCat("a link that has ", c.bandwidth, " of its bandwidth; expected 0 to 1"));
    }
    if (!(c.loss >= 0 && c.loss < 1)) {
      return bad(absl::StrCat("a link that loses ", c.loss, " of its packets; expected >= 0 and < 1"));
    }
  }
  if (!kind.follows_links && options.link_series) {
    return bad(absl::StrCat("links followed over time (--link-series) are for ", follow));
  }
  return absl::OkStatus();
}

absl::Status Check(const FabricKind& kind, const Topology& topology, const FabricOptions& options,
                   const FabricKinds& fabrics) {
  RETURN_IF_ERROR(CheckSets(kind, options, fabrics));
  RETURN_IF_ERROR(CheckLinks(kind, options, fabrics));
  if (options.threads < 1 || options.threads > 4096) {
    return RefusedByFabric(kind.name,
                           absl::StrCat("threads is ", options.threads, "; expected 1 to 4096, as ",
                                        options.threads < 1 ? 1 : 4096));
  }
  return kind.check == nullptr ? absl::OkStatus() : kind.check(topology, options);
}

// The prices of fabric `analytical`, for a fabric without its own. Messages on that fabric may take longer.
class PlainPrices final : public PathPrices {
 public:
  PlainPrices(const Topology& topology, const RoutingOptions& routing) {
    FabricOptions options;
    options.routing = routing;
    fabric_ = AnalyticalKind().make(topology, options);
    prices_ = dynamic_cast<const PathPrices*>(fabric_.get());
  }
  FlowCost Cost(int src, int dst, uint64_t bytes) const override { return prices_->Cost(src, dst, bytes); }
  std::vector<LinkCost> CostByLinks(int src, int dst, uint64_t bytes) const override {
    return prices_->CostByLinks(src, dst, bytes);
  }

 private:
  std::unique_ptr<Fabric> fabric_;
  const PathPrices* prices_;
};

// `options` with the parameters in `text`, which is NAME:key=value,...
absl::StatusOr<FabricOptions> WithParameters(const FabricKind& kind, absl::string_view text,
                                             const FabricOptions& options) {
  if (text == kind.name) return options;
  if (kind.parameters.empty()) {
    return RefusedByFabric(kind.name,
                           absl::StrCat("\"", text, "\" has parameters, and ", kind.name, " takes none"));
  }
  ASSIGN_OR_RETURN(NetworkSpec spec, ParseNetworkSpec(text));
  const absl::string_view topic = FindFabric(kind.name) == &kind ? kind.name : "";
  ASSIGN_OR_RETURN(const Parameters parameters,
                   Parameters::Make(std::move(spec), kind.parameters, {}, topic));
  FabricOptions with = options;
  RETURN_IF_ERROR(kind.read == nullptr ? absl::OkStatus() : kind.read(parameters, &with));
  return with;
}

absl::Status Unknown(absl::string_view name, const FabricKinds& fabrics) {
  const auto nearest =
      std::min_element(fabrics.begin(), fabrics.end(), [&](const FabricKind* a, const FabricKind* b) {
        return EditDistance(name.substr(0, 64), a->name) < EditDistance(name.substr(0, 64), b->name);
      });
  return absl::InvalidArgumentError(absl::StrCat("unknown fabric \"", name, "\"; did you mean \"",
                                                 (*nearest)->name,
                                                 "\"? Known: ", absl::StrJoin(NamesOf(fabrics), ", ")));
}

}  // namespace

const FabricKinds& Fabrics() {
#define CHAKRA_LIST(kind) &kind(),
  static const FabricKinds* const fabrics = new FabricKinds{CHAKRA_FABRICS(CHAKRA_LIST)};
#undef CHAKRA_LIST
  return *fabrics;
}

absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(absl::string_view name, const Topology& topology,
                                                   const FabricOptions& options, const FabricKinds& fabrics) {
  const FabricKind* const kind = FindFabric(name, fabrics);
  if (kind == nullptr) return Unknown(name, fabrics);
  ASSIGN_OR_RETURN(const FabricOptions with, WithParameters(*kind, name, options));
  RETURN_IF_ERROR(Check(*kind, topology, with, fabrics));
  return kind->make(topology, with);
}

absl::StatusOr<std::unique_ptr<Machine>> MakeMachine(absl::string_view name, const Topology& topology,
                                                     const FabricOptions& options,
                                                     const FabricKinds& fabrics) {
  ASSIGN_OR_RETURN(std::unique_ptr<Fabric> fabric, MakeFabric(name, topology, options, fabrics));
  std::unique_ptr<PathPrices> prices;
  if (dynamic_cast<const PathPrices*>(fabric.get()) == nullptr) {
    prices = std::make_unique<PlainPrices>(topology, options.routing);
  }
  return std::make_unique<Machine>(topology, std::move(fabric), std::move(prices));
}

const FabricKind* FindFabric(absl::string_view name, const FabricKinds& fabrics) {
  name = name.substr(0, name.find(':'));
  const auto found = std::find_if(fabrics.begin(), fabrics.end(),
                                  [&](const FabricKind* kind) { return name == kind->name; });
  return found == fabrics.end() ? nullptr : *found;
}

std::vector<std::string> NamesOf(const FabricKinds& fabrics) {
  std::vector<std::string> names;
  for (const FabricKind* kind : fabrics) names.emplace_back(kind->name);
  return names;
}

std::vector<std::string> FabricNames() { return NamesOf(Fabrics()); }

FabricKinds FabricsThatTake(const OptionSet& set, const FabricKinds& fabrics) {
  FabricKinds take;
  std::copy_if(fabrics.begin(), fabrics.end(), std::back_inserter(take), [&](const FabricKind* kind) {
    return std::find(kind->takes.begin(), kind->takes.end(), &set) != kind->takes.end();
  });
  return take;
}

FabricKinds FabricsThatFollowLinks(const FabricKinds& fabrics) {
  FabricKinds follow;
  std::copy_if(fabrics.begin(), fabrics.end(), std::back_inserter(follow),
               [](const FabricKind* kind) { return kind->follows_links; });
  return follow;
}

std::string Listed(const FabricKinds& fabrics) {
  std::string out;
  for (size_t i = 0; i < fabrics.size(); ++i) {
    absl::StrAppend(&out, i == 0 ? "" : i + 1 == fabrics.size() ? " and " : ", ", fabrics[i]->name);
  }
  return out;
}

absl::Status RefusedByFabric(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("fabric ", name, ": ", what));
}

}  // namespace chakra
