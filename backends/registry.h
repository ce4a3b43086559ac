// The fabrics by name. To add a fabric: a folder next to analytical/ that defines its FabricKind, and a line
// in registry.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/fabric.h"
#include "backends/fabric_options.h"
#include "backends/machine.h"
#include "backends/topology/spec.h"
#include "backends/topology/topology.h"

namespace chakra {

// Describes a fabric.
struct FabricKind {
  const char* name;
  const char* help;  // one line: what the fabric models
  std::unique_ptr<Fabric> (*make)(const Topology& topology, const FabricOptions& options);
  // Its own parameters, given after its name ("NAME:key=value,..."; spec.h), and the function that reads
  // them.
  std::vector<Parameter> parameters = {};
  absl::Status (*read)(const Parameters& parameters, FabricOptions* options) = nullptr;
  // The option sets that the fabric uses, and those that it accepts without effect.
  std::vector<const OptionSet*> takes = {}, ignores = {};
  // The fabric is a FabricReport whose Links() reports links, and accepts FabricOptions::changes and
  // link_series.
  bool follows_links = false;
  // Pages and timelines show the use of links over time even if nobody asks for link_series. Do not set this
  // if the fabric refuses some runs with link_series.
  bool shows_links = false;
  // Checks for anything else that the fabric refuses; null: no check. Errors begin with "fabric NAME: " or
  // with the name of the option set.
  absl::Status (*check)(const Topology& topology, const FabricOptions& options) = nullptr;
};
// Names must differ.
using FabricKinds = std::vector<const FabricKind*>;
// The fabrics of this program.
const FabricKinds& Fabrics();

// `name`: NAME, or NAME:key=value,... with parameters of that fabric. Errors: a name that is not in `fabrics`
// (the message suggests the nearest one and lists all); an option that the fabric does not take or that is
// out of range.
absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(absl::string_view name, const Topology& topology,
                                                   const FabricOptions& options,
                                                   const FabricKinds& fabrics = Fabrics());
// As MakeFabric(), with the fabric in a Machine. Rank r is on device r.
absl::StatusOr<std::unique_ptr<Machine>> MakeMachine(absl::string_view name, const Topology& topology,
                                                     const FabricOptions& options,
                                                     const FabricKinds& fabrics = Fabrics());

// Finds a fabric by its name; parameters after the name are ignored. Null if there is none.
const FabricKind* FindFabric(absl::string_view name, const FabricKinds& fabrics = Fabrics());
std::vector<std::string> NamesOf(const FabricKinds& fabrics);
std::vector<std::string> FabricNames();
// The fabrics that take a set of options, or that follow links.
FabricKinds FabricsThatTake(const OptionSet& set, const FabricKinds& fabrics = Fabrics());
FabricKinds FabricsThatFollowLinks(const FabricKinds& fabrics = Fabrics());
// "fluid, packet and mixed".
std::string Listed(const FabricKinds& fabrics);

// An error for FabricKind::check: "fabric NAME: WHAT".
absl::Status RefusedByFabric(absl::string_view name, absl::string_view what);

}  // namespace chakra
