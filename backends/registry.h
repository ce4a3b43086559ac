// The fabrics by name. To add one: a folder beside analytical/ that defines its FabricKind, and a line in
// registry.cc.
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

// What a fabric says of itself.
struct FabricKind {
  const char* name;
  const char* help;  // what it models, in one line
  std::unique_ptr<Fabric> (*make)(const Topology& topology, const FabricOptions& options);
  // Parameters of its own, after its name ("NAME:key=value,..."; spec.h), and what makes options of them.
  std::vector<Parameter> parameters = {};
  absl::Status (*read)(const Parameters& parameters, FabricOptions* options) = nullptr;
  // Option sets that it knows, and those that change nothing for it.
  std::vector<const OptionSet*> takes = {}, ignores = {};
  // It is a FabricReport whose Links() tells of links, and it takes FabricOptions::changes and link_series.
  bool follows_links = false;
  // Pages and timelines show what links did over time even if nobody asks for link_series, which refuses
  // nothing here.
  bool shows_links = false;
  // What else it refuses; null: nothing. Errors begin with "fabric NAME: ", or name the set that they are of.
  absl::Status (*check)(const Topology& topology, const FabricOptions& options) = nullptr;
};
// Their names differ.
using FabricKinds = std::vector<const FabricKind*>;
// Those of this program.
const FabricKinds& Fabrics();

// `name`: NAME, or NAME:key=value,... with parameters of that fabric. Errors: a name that `fabrics` do not
// have, with the nearest one and the list; an option that the fabric does not take, or out of range.
absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(absl::string_view name, const Topology& topology,
                                                   const FabricOptions& options,
                                                   const FabricKinds& fabrics = Fabrics());
// The same with what describes it, each rank on the device of its number.
absl::StatusOr<std::unique_ptr<Machine>> MakeMachine(absl::string_view name, const Topology& topology,
                                                     const FabricOptions& options,
                                                     const FabricKinds& fabrics = Fabrics());

// By its name, whatever parameters follow. Null: none has that name.
const FabricKind* FindFabric(absl::string_view name, const FabricKinds& fabrics = Fabrics());
std::vector<std::string> NamesOf(const FabricKinds& fabrics);
std::vector<std::string> FabricNames();
// Those that take a set of options, or follow links.
FabricKinds FabricsThatTake(const OptionSet& set, const FabricKinds& fabrics = Fabrics());
FabricKinds FabricsThatFollowLinks(const FabricKinds& fabrics = Fabrics());
// "fluid, packet and mixed".
std::string Listed(const FabricKinds& fabrics);
// "fluid (flows share links), packet (every packet)", for the help of commands.
std::string ListedWithHelp(const FabricKinds& fabrics = Fabrics());

// "fabric NAME: WHAT", of a FabricKind::check.
absl::Status RefusedByFabric(absl::string_view name, absl::string_view what);

}  // namespace chakra
