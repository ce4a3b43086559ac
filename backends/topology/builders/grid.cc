#include "backends/topology/builders/grid.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

void Divide(int product, int dims, int least, std::vector<int>* so_far, std::vector<int>* best) {
  if (dims == 1) {
    so_far->push_back(product);
    if (best->empty() ||
        std::lexicographical_compare(so_far->rbegin(), so_far->rend(), best->rbegin(), best->rend())) {
      *best = *so_far;
    }
    so_far->pop_back();
    return;
  }
  const auto fits = [&](int size) {
    int64_t power = 1;
    for (int i = 0; i < dims && power <= product; ++i) power *= size;
    return power <= product;
  };
  for (int size = least; fits(size); ++size) {
    if (product % size != 0) continue;
    so_far->push_back(size);
    Divide(product / size, dims - 1, size, so_far, best);
    so_far->pop_back();
  }
}

std::string ShapeText(const std::vector<int>& shape) { return absl::StrJoin(shape, "x"); }

// The given shape, or the most cubic shape for `routers` routers (0: unknown).
absl::StatusOr<std::vector<int>> GridShape(const Parameters& p, int routers) {
  ASSIGN_OR_RETURN(const auto dims, p.Count("dims", 1, kMaxGridDimensions));
  if (p.Empty("shape")) {
    if (routers == 0) return p.Bad("shape", "the sizes of the dimensions, as 4x4x8");
    if (routers > kMaxNetworkDevices) {
      return absl::InvalidArgumentError(
          absl::StrCat(p.network(), ": ", routers, " devices; expected at most ", kMaxNetworkDevices));
    }
    return MostCubic(routers, dims);
  }
  ASSIGN_OR_RETURN(auto shape, p.Sizes("shape", 1, 1, kMaxGridDimensions));
  if (p.Given("dims") && static_cast<size_t>(dims) != shape.size()) {
    return p.Bad("dims", absl::StrCat(shape.size(), ", as shape ", ShapeText(shape),
                                      " has, or only one of shape and dims"));
  }
  int64_t product = 1;
  for (const int size : shape) {
    product *= size;
    if (product > kMaxNetworkDevices) {
      return p.Bad("shape", absl::StrCat("sizes with a product of at most ", kMaxNetworkDevices));
    }
  }
  return shape;
}

// The values of `key`, one for each dimension, as separate Parameters.
absl::StatusOr<std::vector<Parameters>> PerDimension(const Parameters& p, const char* key, size_t dims) {
  absl::string_view text = p.Text(key);
  std::vector<std::string> values(dims, std::string(text));
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') {
    values = absl::StrSplit(text.substr(1, text.size() - 2), ',');
  }
  if (values.size() != dims) {
    return p.Bad(key, absl::StrCat("one value, or one for each of ", dims,
                                   " dimensions in parentheses with commas between"));
  }
  std::vector<Parameters> out;
  for (const std::string& value : values) {
    NetworkSpec spec{p.network(), {}};
    if (p.Given(key)) spec.set = {{key, std::string(absl::StripAsciiWhitespace(value))}};
    ASSIGN_OR_RETURN(auto one, Parameters::Make(spec, {{key, value, ""}}));
    out.push_back(std::move(one));
  }
  return out;
}

absl::StatusOr<std::vector<LinkClass>> ClassesOf(const Parameters& p, size_t dims, bool any_rate) {
  ASSIGN_OR_RETURN(const auto rates, PerDimension(p, "link", dims));
  ASSIGN_OR_RETURN(const auto latencies, PerDimension(p, "latency", dims));
  std::vector<LinkClass> classes;
  for (size_t i = 0; i < dims; ++i) {
    ASSIGN_OR_RETURN(const auto rate, rates[i].Rate("link", any_rate));
    ASSIGN_OR_RETURN(const auto latency, latencies[i].Latency("latency"));
    classes.push_back({dims == 1 ? "link" : absl::StrCat("dim", i), rate, latency});
  }
  return classes;
}

absl::StatusOr<Network> Assemble(const Grid& grid, const std::vector<LinkClass>& classes,
                                 const LinkClass& host, std::string note) {
  GraphBuilder b;
  if (grid.hosts == 0) {
    b.AddVertices("device", VertexKind::kDevice, grid.devices, 0, grid.shape);
    b.set_devices_forward(true);
  } else {
    b.AddVertices("device", VertexKind::kDevice, grid.devices);
    const uint32_t first = b.AddVertices("router", VertexKind::kSwitch, grid.routers(), 1, grid.shape);
    const uint16_t host_class = b.AddClass(host);
    for (uint32_t d = 0; d < grid.devices; ++d) {
      b.AddLink(d, first + d / static_cast<uint32_t>(grid.hosts), host_class);
    }
  }
  for (size_t i = 0; i < grid.shape.size(); ++i) AddGridLinks(grid, i, b.AddClass(classes[i]), &b);
  auto network = Finish(&b, nullptr, std::move(note));
  if (network.ok()) network->guide = GridGuide(grid, network->graph);
  return network;
}

}  // namespace

std::vector<int> MostCubic(int product, int dims) {
  std::vector<int> so_far, best;
  Divide(product, dims, 1, &so_far, &best);
  return best;
}

std::vector<Parameter> GridParameters(const char* dims, std::vector<Parameter> more) {
  std::vector<Parameter> all = {
      {"shape", "", "sizes, fastest first, 1 to 8 of them, as 4x4x8; default: the most cubic one"},
      {"dims", dims, "number of dimensions without shape; 1 to 8"},
      {"order", "dimension", "routing: dimension (one after the other) or any (all shortest paths)"},
      {"hosts", "0", "0: the devices are the routers; 1 to 1024: devices on each router"},
      {"link", "400Gb/s", "rate of a link, each direction; or one for each dimension: (400Gb/s,200Gb/s)",
       kCardBandwidth},
      {"latency", "500ns", "latency of a link and the router after it; or one for each dimension"},
      {"host_link", "400Gb/s", "rate between a device and its router", kCardBandwidth},
      {"host_latency", "500ns", "latency between a device and its router", kCardLatency}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

absl::StatusOr<Grid> GridOf(const Parameters& p, int devices) {
  ASSIGN_OR_RETURN(const auto hosts, p.Count("hosts", 0, 1024));
  if (hosts == 0 && (p.Given("host_link") || p.Given("host_latency"))) {
    return p.Bad("hosts", "at least 1 with host_link or host_latency");
  }
  ASSIGN_OR_RETURN(const auto order, p.Choice("order", {"dimension", "any"}));
  const int each = std::max(hosts, 1);
  const int routers = static_cast<int>((int64_t{devices} + each - 1) / each);
  ASSIGN_OR_RETURN(auto shape, GridShape(p, routers));

  Grid grid;
  grid.shape = std::move(shape);
  grid.any_order = order == "any";
  grid.hosts = hosts;
  const auto room = int64_t{grid.routers()} * each;
  const std::string fits =
      devices == 0 ? ""
                   : absl::StrCat("shape=", ShapeText(MostCubic(std::min(routers, kMaxNetworkDevices),
                                                                static_cast<int>(grid.shape.size()))));
  if (hosts == 0 && devices != 0 && devices < room) {
    return absl::InvalidArgumentError(absl::StrCat(p.network(), ": shape ", ShapeText(grid.shape), " is ",
                                                   room, " devices, but ", devices,
                                                   " are to be connected; expected ", fits));
  }
  ASSIGN_OR_RETURN(const auto n, DevicesOf(p, devices, room, fits));
  grid.devices = static_cast<uint32_t>(n);
  return grid;
}

absl::StatusOr<Network> BuildGrid(const Parameters& p, const Grid& grid, bool any_rate) {
  if (grid.links() > kMaxGridLinks) {
    return absl::InvalidArgumentError(absl::StrCat(p.network(), ": shape ", ShapeText(grid.shape), " has ",
                                                   grid.links(), " links; expected at most ", kMaxGridLinks,
                                                   ", smaller sizes or more dimensions"));
  }
  ASSIGN_OR_RETURN(auto classes, ClassesOf(p, grid.shape.size(), any_rate));
  // If the devices are the routers, the links of routers are the devices' ports.
  if (grid.hosts == 0 && !p.Given("latency") && p.cards().bandwidth.bytes_per_second() > 0) {
    for (LinkClass& c : classes) c.latency = p.cards().latency;
  }
  ASSIGN_OR_RETURN(const auto host, ClassOf(p, "host", "host_link", "host_latency"));
  auto network =
      Assemble(grid, classes, host,
               absl::StrCat(ShapeText(grid.shape),
                            grid.hosts == 0 ? "" : absl::StrCat(", ", grid.hosts, " devices a router")));
  const bool crossed = std::find(grid.join.begin(), grid.join.end(), Join::kAll) != grid.join.end();
  if (!network.ok() || grid.hosts != 0 || grid.twisted || crossed) return network;
  for (size_t d = 0; d < grid.shape.size(); ++d) {
    network->axes.push_back(
        {grid.shape[d], grid.join[d] == Join::kRing, classes[d].bandwidth, classes[d].latency});
  }
  return network;
}

std::vector<Parameter> LineParameters(const char* devices_doc) {
  return {{"devices", "0", devices_doc},
          {"link", "400Gb/s", "rate of a link, each direction", kCardBandwidth},
          {"latency", "500ns", "latency of a link", kCardLatency}};
}

absl::StatusOr<Network> BuildLine(const Parameters& p, int devices, Join join, int most) {
  ASSIGN_OR_RETURN(const auto room, p.Count("devices", 0, most));
  if (room == 0 && devices == 0) return p.Bad("devices", "how many to connect, >= 1");
  if (room != 0 && devices != 0 && room != devices) {
    return p.Bad("devices", absl::StrCat(devices, ", as many as are to be connected"));
  }
  ASSIGN_OR_RETURN(const auto n, DevicesOf(p, devices, room == 0 ? most : room, ""));
  ASSIGN_OR_RETURN(const auto link, ClassOf(p, "link", "link", "latency", /*any_rate=*/true));
  Grid grid;
  grid.shape = {n};
  grid.join = {join};
  grid.devices = static_cast<uint32_t>(grid.shape[0]);
  return Assemble(grid, {link}, link, "");
}

}  // namespace chakra
