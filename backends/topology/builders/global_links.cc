#include "backends/topology/builders/global_links.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// Error if there would be more vertices or links than a NetworkGraph can hold. Called before anything is
// built.
absl::Status CheckSize(const Parameters& p, absl::string_view key, int64_t vertices, int64_t links) {
  if (vertices <= int64_t{NetworkGraph::kMaxVertices} &&
      links <= static_cast<int64_t>(NetworkGraph::kMaxLinks)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(p.network(), ": ", vertices, " devices and switches with ",
                                                 links, " links; expected at most ",
                                                 NetworkGraph::kMaxVertices, " and ", NetworkGraph::kMaxLinks,
                                                 ", with a smaller ", key, ", for instance"));
}

}  // namespace

absl::Status ReadGroupSizes(const Parameters& p, const std::vector<GroupSize>& sizes) {
  for (const auto& [key, size] : sizes) {
    if (p.Empty(key)) continue;
    const bool groups = key == absl::string_view("groups");
    ASSIGN_OR_RETURN(*size, p.Count(key, 1, groups ? kMaxNetworkDevices : kMaxGroupPorts));
  }
  return absl::OkStatus();
}

absl::Status ChooseGroups(const Parameters& p, absl::string_view key, int switches, int h, int* groups) {
  const int64_t most = int64_t{switches} * h + 1;
  if (*groups == 0) *groups = static_cast<int>(most);
  if (*groups <= most) return absl::OkStatus();
  return p.Bad("groups", absl::StrCat("1 to ", key, "*h+1 = ", most, " (", key, "=", switches, ", h=", h,
                                      "); the nearest is ", most));
}

void DeclareLinkClasses(std::vector<Parameter>* parameters) {
  parameters->insert(
      parameters->end(),
      {{"host", "400Gb/s", "rate of a link between a device and its switch, each direction", kCardBandwidth},
       {"local", "400Gb/s", "rate of a link within a group, each direction", kCardBandwidth},
       {"global", "400Gb/s", "rate of a link between groups, each direction", kCardBandwidth},
       {"host_latency", "500ns", "latency of a link between a device and its switch", kCardLatency},
       {"local_latency", "500ns", "latency of a link within a group"},
       {"global_latency", "1us", "latency of a link between groups"}});
}

absl::StatusOr<LinkClasses> LinkClassesOf(const Parameters& p) {
  LinkClasses out;
  for (const auto& [name, latency, c] :
       {std::tuple{"host", "host_latency", &out.host}, std::tuple{"local", "local_latency", &out.local},
        std::tuple{"global", "global_latency", &out.global}}) {
    ASSIGN_OR_RETURN(*c, ClassOf(p, name, name, latency));
  }
  return out;
}

absl::StatusOr<GroupPlan> PlanGroups(const Parameters& p, int devices, const GroupNetworkSize& size,
                                     absl::string_view key, const GlobalLinks& links) {
  ASSIGN_OR_RETURN(const auto n, DevicesOf(p, devices, size.room, size.fits));
  ASSIGN_OR_RETURN(const auto classes, LinkClassesOf(p));
  const int64_t global = int64_t{links.groups()} * links.used() / 2;
  RETURN_IF_ERROR(
      CheckSize(p, p.Given("groups") ? "groups" : key, n + size.switches, n + size.local + global));
  return GroupPlan{n, classes, links};
}

void AddHosts(GraphBuilder* b, const GroupPlan& plan, int each, uint32_t first) {
  const uint16_t host = b->AddClass(plan.classes.host);
  for (int d = 0; d < plan.devices; ++d) {
    b->AddLink(static_cast<uint32_t>(d), first + static_cast<uint32_t>(d / each), host);
  }
}

void GroupGuide::Next(uint32_t at_vertex, uint32_t to_vertex, std::vector<uint32_t>* arcs) const {
  const auto at = static_cast<int>(at_vertex), to = static_cast<int>(to_vertex);
  if (at == to) return;
  if (at < devices_) {
    arcs->push_back(at_vertex);  // its only arc
    return;
  }
  const int here = at - devices_, there = to < devices_ ? to / each_ : to - devices_;
  if (here == there) {
    arcs->push_back(Begin(here) + static_cast<uint32_t>(to - here * each_));
  } else {
    Between(here, there, arcs);
  }
}

}  // namespace chakra
