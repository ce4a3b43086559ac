#include "backends/topology/inputs/infragraph_links.h"

#include <charconv>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/topology/inputs/assembly.h"
#include "backends/topology/spec.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

// The decimal number that was written in the file and parsed as this float.
double AsWritten(float f) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, f).ptr;
  double v = 0;
  return absl::SimpleAtod(absl::string_view(digits, static_cast<size_t>(end - digits)), &v) ? v : f;
}

// The default rate of a link within a device, by words in the names of link and device; the first row that
// matches is used. `per_xpu`: the rate is the sum over all edges of an xpu.
struct Default {
  const char* link;
  const char* device;
  double gbytes;
  bool per_xpu;
  double ns;
  const char* what;
};

// NVLink and PCIe: NVIDIA's data sheets and NCCL's constants. NVLink latency: SimAI's generator. ICI: the
// rate in InfraGraph's own Ironwood rack.
constexpr Default kDefaults[] = {
    {"nvlink_5", "", 900, true, 25, "NVLink 5, 900 GB/s an xpu"},
    {"nvlink_4", "", 450, true, 25, "NVLink 4, 450 GB/s an xpu"},
    {"nvlink_3", "", 300, true, 25, "NVLink 3, 300 GB/s an xpu"},
    {"nvlink_2", "", 150, true, 25, "NVLink 2, 150 GB/s an xpu"},
    {"infinity_fabric", "", 448, true, 25, "Infinity Fabric of MI300X, 448 GB/s an xpu"},
    {"xpu_fabric", "b200", 900, true, 25, "NVLink 5, 900 GB/s an xpu"},
    {"xpu_fabric", "h100", 450, true, 25, "NVLink 4, 450 GB/s an xpu"},
    {"xpu_fabric", "h200", 450, true, 25, "NVLink 4, 450 GB/s an xpu"},
    {"xpu_fabric", "a100", 300, true, 25, "NVLink 3, 300 GB/s an xpu"},
    {"xpu_fabric", "dgx2", 150, true, 25, "NVLink 2, 150 GB/s an xpu"},
    {"xpu_fabric", "dgx1", 80, true, 25, "NVLink 1, 80 GB/s an xpu"},
    {"xpu_fabric", "", 450, true, 25, "NVLink 4, 450 GB/s an xpu"},
    {"nvlink", "", 450, true, 25, "NVLink 4, 450 GB/s an xpu"},
    {"c2c", "", 450, false, 25, "NVLink-C2C"},
    {"ici", "ironwood", 175, false, 500, "Ironwood's ICI, 1400 Gb/s"},
    {"pcie_gen3", "", 15.75, false, 150, "PCIe 3 x16"},
    {"pcie_gen4", "", 31, false, 150, "PCIe 4 x16"},
    {"pcie_gen5", "", 63, false, 150, "PCIe 5 x16"},
    {"pcie_gen6", "", 121, false, 150, "PCIe 6 x16"},
    {"pcie", "dgx1", 15.75, false, 150, "PCIe 3 x16"},
    {"pcie", "dgx2", 15.75, false, 150, "PCIe 3 x16"},
    {"pcie", "a100", 31, false, 150, "PCIe 4 x16"},
    {"pcie", "", 63, false, 150, "PCIe 5 x16"},
};
constexpr Default kInside = {"", "", 1600, false, 0, "no bottleneck"};
constexpr Default kOther = {"", "", 63, false, 150, "like PCIe 5 x16: unknown name"};
constexpr Time kCable = Time::Nanos(500);  // between instances; SimAI's generator

const Default& DefaultOf(const std::string& link, const InfraLinkUse& use) {
  const std::string name = absl::AsciiStrToLower(link);
  const std::string device = absl::AsciiStrToLower(use.device->name());
  for (const Default& d : kDefaults) {
    if (absl::StrContains(name, d.link) && absl::StrContains(device, d.device)) return d;
  }
  return use.at_port || !use.has_xpu ? kInside : kOther;
}

absl::Status BadValue(absl::string_view where, absl::string_view field, absl::string_view value,
                      absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", field, " is ", value, "; expected ", expected));
}

absl::Status SetRate(double bytes, absl::string_view where, absl::string_view field, absl::string_view value,
                     InfraLink* out) {
  if (!(bytes >= 1 && bytes <= 1e15)) {
    return BadValue(where, field, value, "a rate above 0, up to 1e6 GB/s (8e6 Gb/s)");
  }
  out->bandwidth = Bandwidth::BytesPerSecond(static_cast<int64_t>(std::round(bytes)));
  return absl::OkStatus();
}

absl::Status SetLatency(double picos, absl::string_view where, absl::string_view field,
                        absl::string_view value, InfraLink* out) {
  if (!(picos >= 0 && picos <= 1e12)) return BadValue(where, field, value, "a time from 0 to 1 s");
  out->latency = Time::Picos(static_cast<int64_t>(std::round(picos)));
  return absl::OkStatus();
}

// The number of the alternative that is meant: the chosen one, or the only one that is present. 0: none.
absl::StatusOr<int> Chosen(int choice, const bool (&has)[3], absl::string_view where,
                           absl::string_view field) {
  const int given = has[0] + has[1] + has[2];
  if (given == 0 && choice == 0) return 0;
  if (given > 1 || given == 0 || (choice != 0 && !has[choice - 1])) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": ", field,
                     given > 1 ? " has several values" : " does not have the value that `choice` names",
                     "; expected one value, and `choice` that names it"));
  }
  return has[0] ? 1 : has[1] ? 2 : 3;
}

absl::Status ReadRate(const infragraph::LinkBandwidth& b, absl::string_view where, InfraLink* out, bool* got,
                      bool* transfers) {
  const bool has[3] = {b.has_gigabits_per_second(), b.has_gigabytes_per_second(),
                       b.has_gigatransfers_per_second()};
  ASSIGN_OR_RETURN(const auto chosen, Chosen(b.choice(), has, where, "physical.bandwidth"));
  *transfers = chosen == 3;
  if (chosen == 0 || chosen == 3) return absl::OkStatus();
  *got = true;
  const bool bits = chosen == 1;
  const double v = AsWritten(bits ? b.gigabits_per_second() : b.gigabytes_per_second());
  return SetRate(v * (bits ? 1e9 / 8 : 1e9), where,
                 bits ? "physical.bandwidth.gigabits_per_second" : "physical.bandwidth.gigabytes_per_second",
                 absl::StrCat(v), out);
}

absl::Status ReadLatency(const infragraph::LinkLatency& l, absl::string_view where, InfraLink* out,
                         bool* got) {
  const bool has[3] = {l.has_ms(), l.has_us(), l.has_ns()};
  ASSIGN_OR_RETURN(const auto chosen, Chosen(l.choice(), has, where, "physical.latency"));
  if (chosen == 0) return absl::OkStatus();
  *got = true;
  const double v = AsWritten(chosen == 1 ? l.ms() : chosen == 2 ? l.us() : l.ns());
  const double picos = v * (chosen == 1 ? 1e9 : chosen == 2 ? 1e6 : 1e3);
  return SetLatency(picos, where, "physical.latency", absl::StrCat(v), out);
}

}  // namespace

absl::Status InfraLinks::Apply(const infragraph::Attribute& a, const std::string& where, InfraLink* out,
                               bool* rate, bool* latency) {
  const std::string& key = a.attribute();
  const std::string& value = a.value();
  const std::string quoted = absl::StrCat("\"", value, "\"");
  double v = 0;
  if (key == "bandwidth") {
    const auto r = ParseRate(value);
    if (!r.ok()) return BadValue(where, key, "wrong", r.status().message());
    *rate = true;
    out->bandwidth = *r;
    return absl::OkStatus();
  }
  if (key == "latency") {
    const auto t = ParseTime(value);
    if (!t.ok()) return BadValue(where, key, "wrong", t.status().message());
    *latency = true;
    out->latency = *t;
    return absl::OkStatus();
  }
  const bool loss = key == "link_error_rate" || key == "packet_loss_rate";
  if (!loss && key != "link_bandwidth_gbps" && key != "link_latency_ms") {
    CountUnused(key);
    return absl::OkStatus();
  }
  if (!absl::SimpleAtod(value, &v)) return BadValue(where, key, quoted, "a number");
  if (key == "link_bandwidth_gbps") {
    *rate = true;
    return SetRate(v * 1e9 / 8, where, key, quoted, out);
  }
  if (key == "link_latency_ms") {
    *latency = true;
    return SetLatency(v * 1e9, where, key, quoted, out);
  }
  if (!(v >= 0 && v < 1)) return BadValue(where, key, quoted, "the share lost, from 0 to below 1");
  out->loss = v;
  return absl::OkStatus();
}

absl::Status InfraLinks::Fill(const infragraph::Link& link, const InfraLinkUse& use, const std::string& where,
                              InfraLink* out, bool* rate, bool* latency) {
  bool transfers = false;
  absl::Status s = ReadRate(link.physical().bandwidth(), where, out, rate, &transfers);
  if (s.ok()) s = ReadLatency(link.physical().latency(), where, out, latency);
  if (!s.ok()) return s;
  for (const auto& a : annotation_->links()) {
    if (a.name() != link.name()) continue;
    for (const auto& attribute : a.attributes()) {
      const std::string at = absl::StrCat(file_, ": annotation of link \"", a.name(), "\"");
      if (s = Apply(attribute, at, out, rate, latency); !s.ok()) return s;
    }
  }
  if (*rate) return absl::OkStatus();
  if (transfers) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": a rate in GT/s needs lanes and encoding; expected gigabytes_per_second, or an ",
        "annotation of the link with link_bandwidth_gbps"));
  }
  if (use.device == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": no bandwidth; expected physical.bandwidth with gigabits_per_second or ",
                     "gigabytes_per_second, or an annotation of the link with link_bandwidth_gbps"));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> InfraLinks::Resolve(const infragraph::Link& link, const InfraLinkUse& use) {
  const std::string name = use.device == nullptr ? absl::StrCat("link \"", link.name(), "\"")
                                                 : absl::StrCat("link \"", link.name(), "\" of device \"",
                                                                use.device->name(), "\"");
  InfraLink out;
  out.name = link.name();
  bool rate = false, latency = false;
  RETURN_IF_ERROR(Fill(link, use, absl::StrCat(file_, ": ", name), &out, &rate, &latency));
  if (use.device == nullptr) {
    if (!latency) {
      out.latency = kCable;
      notes_.push_back(absl::StrCat(name, ": no latency; 500 ns are used"));
    }
    return Add(std::move(out));
  }
  const Default& d = DefaultOf(link.name(), use);
  std::string taken;
  if (!rate) {
    const double share = d.gbytes / (d.per_xpu ? std::max(use.xpu_edges, 1u) : 1);
    out.bandwidth = Bandwidth::FromGigabytes(share);
    taken = absl::StrCat(share, " GB/s");
  }
  if (!latency) {
    out.latency = Time::FromNanos(d.ns);
    absl::StrAppend(&taken, taken.empty() ? "" : " and ", d.ns, " ns");
  }
  if (!taken.empty()) {
    notes_.push_back(absl::StrCat(name, ": ",
                                  rate      ? "no latency"
                                  : latency ? "no bandwidth"
                                            : "no bandwidth or latency",
                                  "; ", taken, " an edge are used (", d.what, ")"));
  }
  return Add(std::move(out));
}

absl::StatusOr<uint32_t> InfraLinks::Change(
    uint32_t from, const google::protobuf::RepeatedPtrField<infragraph::Attribute>& attributes,
    const std::string& where) {
  InfraLink link = links_[from];
  bool rate = false, latency = false;
  for (const auto& a : attributes) {
    RETURN_IF_ERROR(Apply(a, where, &link, &rate, &latency));
  }
  return Add(std::move(link));
}

uint32_t InfraLinks::Add(InfraLink link) {
  const auto [it, added] =
      index_.try_emplace({link.name, link.bandwidth.bytes_per_second(), link.latency.picos(), link.loss},
                         static_cast<uint32_t>(links_.size()));
  if (added) links_.push_back(std::move(link));
  return it->second;
}

}  // namespace chakra
