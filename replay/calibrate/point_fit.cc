#include "replay/calibrate/point_fit.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/calibrate/fit.h"
#include "replay/nccl/transport.h"

namespace chakra {
namespace {

constexpr uint64_t kWireBytes = 8;
constexpr double kFar = 1.25;       // tables that are slower than the best by more than this are named
constexpr double kSameRate = 1.01;  // a rate that exceeds the NIC's by no more than this factor is taken as
                                    // the NIC's

std::string Source(const PointRow& row) {
  return absl::StrCat("measured by ", row.test, " (", row.file, ":", row.line, ", ", row.bytes,
                      row.bytes == 1 ? " byte, " : " bytes, ",
                      row.latency_us > 0 ? absl::StrCat(FourDigits(row.latency_us), " us one way")
                                         : absl::StrCat(FourDigits(row.gbytes_per_s), " GB/s one direction"),
                      row.halved ? ", half of what the file has" : "", ")");
}

// By table (file and test): the row that counts.
using Tables = std::map<std::pair<std::string, std::string>, const PointRow*>;

// Names the tables that are much slower than `best`: pairs of nodes differ, or something else was running.
std::string ApartByPoint(const Tables& tables, const PointRow& best) {
  std::vector<std::string> far;
  for (const auto& [table, row] : tables) {
    const bool rate = best.gbytes_per_s > 0;
    const double times = rate ? best.gbytes_per_s / row->gbytes_per_s : row->latency_us / best.latency_us;
    if (times > kFar)
      far.push_back(absl::StrCat(row->file, ":", row->line, " ",
                                 FourDigits(rate ? row->gbytes_per_s : row->latency_us),
                                 rate ? " GB/s" : " us"));
  }
  return far.empty() ? "" : absl::StrCat("; others are slower: ", absl::StrJoin(far, ", "));
}

void FitWire(const std::vector<PointRow>& points, PointFit* fit) {
  // Picks the row nearest to 8 bytes of each table.
  Tables tables;
  bool any = false;
  for (const PointRow& p : points) {
    any = any || p.latency_us > 0;
    if (p.latency_us <= 0 || p.bytes > kWireBytes) continue;
    const PointRow*& of = tables[{p.file, p.test}];
    if (of == nullptr || p.bytes > of->bytes || (p.bytes == of->bytes && p.latency_us < of->latency_us))
      of = &p;
  }
  const PointRow* best = nullptr;
  for (const auto& [table, row] : tables) {
    if (best == nullptr || row->latency_us < best->latency_us) best = row;
  }
  const int last = fit->cluster.topology().dimension_size() - 1;
  const std::string name = absl::StrCat("topology.dimension[", last, "].latency_ns");
  proto::Dimension* dimension = fit->cluster.mutable_topology()->mutable_dimension(last);
  const double was = dimension->latency_ns();
  if (best == nullptr) {
    if (any)
      fit->kept.push_back(absl::StrCat(name, " stays ", FourDigits(was),
                                       ": not determined: needs a latency of at most 8 bytes"));
    return;
  }
  if (dimension->kind() == proto::Dimension::NETWORK) {
    fit->kept.push_back(absl::StrCat(name, " stays ", FourDigits(was),
                                     ": not determined: a path crosses links of the network, "
                                     "which have latencies of their own; ",
                                     Source(*best)));
    return;
  }
  const bool through_switch = dimension->kind() == proto::Dimension::SWITCH;
  dimension->set_latency_ns(best->latency_us * 1e3 / (through_switch ? 2 : 1));
  fit->fitted.push_back(absl::StrCat(name, ": ", FourDigits(was), " -> ", FourDigits(dimension->latency_ns()),
                                     ", ", Source(*best), "; assumed: between two nodes, over ",
                                     through_switch ? "the two links of one switch" : "one link",
                                     ", with the time of NICs and drivers", ApartByPoint(tables, *best)));
}

void FitRate(const std::vector<PointRow>& points, const proto::LibraryLevel& level, PointFit* fit) {
  Tables tables;
  const PointRow* best = nullptr;
  for (const PointRow& p : points) {
    if (p.gbytes_per_s <= 0) continue;
    const PointRow*& of = tables[{p.file, p.test}];
    if (of == nullptr || p.gbytes_per_s > of->gbytes_per_s) of = &p;
    if (best == nullptr || p.gbytes_per_s > best->gbytes_per_s) best = &p;
  }
  if (best == nullptr) return;
  const int last = fit->cluster.topology().dimension_size() - 1;
  const proto::Dimension& d = fit->cluster.topology().dimension(last);
  const double link = d.bandwidth_bytes_per_s() > 0 ? static_cast<double>(d.bandwidth_bytes_per_s()) * 1e-9
                                                    : d.bandwidth_gbytes_per_s();
  const absl::StatusOr<Transport> transport = BuildTransport(level.transport(), "");
  const double was = transport.ok() ? transport->rate_share : 1;
  const double share = best->gbytes_per_s / (link * level.efficiency());
  const std::string stays =
      absl::StrCat("transport.rate_share stays ", FourDigits(was), ": not determined: ");
  if (level.carried() > 0) {
    fit->kept.push_back(absl::StrCat(stays, "level[", last, "].carried is given, which replaces it"));
  } else if (!(link > 0) || !(level.efficiency() > 0) || share > kSameRate) {
    fit->kept.push_back(absl::StrCat(
        stays, FourDigits(best->gbytes_per_s), " GB/s is more than the ",
        FourDigits(link * level.efficiency()),
        " GB/s that the cluster's NIC has for a device; give the rate of the cluster's NIC (nic_gbps=N); ",
        Source(*best)));
  } else {
    proto::NetworkTransport* to =
        fit->cluster.mutable_collectives()->mutable_library()->mutable_level(last)->mutable_transport();
    to->set_rate_share(std::min(1.0, share));
    fit->fitted.push_back(absl::StrCat(
        "transport.rate_share: ", FourDigits(was), " -> ", FourDigits(to->rate_share()), ", ", Source(*best),
        "; assumed: one NIC of ", FourDigits(link), " GB/s", ApartByPoint(tables, *best)));
  }
}

}  // namespace

PointFit FitPoints(const proto::Cluster& cluster, const std::vector<PointRow>& points) {
  PointFit fit;
  fit.cluster = cluster;
  if (points.empty()) return fit;
  const proto::CollectiveLibrary& library = cluster.collectives().library();
  const std::optional<size_t> level = NetworkLevel(library);
  const int last = cluster.topology().dimension_size() - 1;
  if (!level || static_cast<int>(*level) != last) {
    fit.kept.push_back(
        "messages between two devices are not used: the cluster's last dimension is not a network");
    return fit;
  }
  FitWire(points, &fit);
  FitRate(points, library.level(last), &fit);
  return fit;
}

}  // namespace chakra
