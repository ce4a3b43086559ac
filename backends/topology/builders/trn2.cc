#include "backends/topology/builders/common.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

absl::StatusOr<Network> BuildTrn2(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto instances, p.Empty("instances") ? absl::StatusOr<int>(devices > 16 ? 4 : 1)
                                                              : p.Count("instances", 1, 4));
  if (instances != 1 && instances != 4) return p.Bad("instances", "1, or 4 for an UltraServer");
  if (devices != 0 && devices != instances * 16) {
    return absl::InvalidArgumentError(
        absl::StrCat(p.network(), ": ", devices, " devices; expected 16 (instances=1) or 64 (instances=4)"));
  }
  const bool ultra = instances == 4;
  const std::string& link = p.Text("link");
  if (p.Given("z_link") && !ultra) return p.Bad("z_link", "instances=4 with it");
  for (const char* key : {"link", "z_link"}) {
    RETURN_IF_ERROR(p.Rate(key).status());
  }
  RETURN_IF_ERROR(p.Latency("latency").status());
  auto network =
      BuildNetwork({"torus",
                    {{"shape", ultra ? "4x4x4" : "4x4"},
                     {"link", ultra ? absl::StrCat("(", link, ",", link, ",", p.Text("z_link"), ")") : link},
                     {"latency", p.Text("latency")}}},
                   devices);
  if (network.ok()) network->note = ultra ? "Trn2 UltraServer, 4x4x4" : "Trn2 instance, 4x4";
  return network;
}

}  // namespace

NetworkKind Trn2Network() {
  return {"trn2",
          "A Trn2 instance, 4x4 torus of 16, or an UltraServer, 4 of them in rings",
          "AWS Neuron documentation, Trn2 architecture",
          {{"instances", "",
            "number of instances: 1, or 4 for an UltraServer; default: by the devices, 16 or 64"},
           {"link", "128GB/s", "rate of a link inside an instance, each direction"},
           {"z_link", "64GB/s", "rate of a link between instances"},
           {"latency", "500ns", "latency of a link"}},
          BuildTrn2,
          /*whole=*/true};
}

}  // namespace chakra
