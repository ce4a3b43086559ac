// Measurements in the form that the fit uses: their times are linear in the constants of their label.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/calibrate/nccl_tests.h"
#include "replay/run/collective_table.h"

namespace chakra {

// The constants of one algorithm and protocol. kSlow and kNetworkSlow are 1 / share.
enum Constant { kBase, kStep, kNetworkStep, kSlow, kNetworkSlow };
inline constexpr int kConstants = 5;
inline constexpr const char* kConstantNames[kConstants] = {"base_us", "step_us", "network_step_us",
                                                           "bus_share", "network_share"};
using Constants = std::array<double, kConstants>;
inline constexpr double kMostMicros = 1e6;  // the maximum value that BuildLibrary() accepts

// The device time in us: `fixed` plus the sum of slope[j] * (constant[j] - start[j]) over the constants that
// are set.
struct Linear {
  double fixed = 0;  // the time with the cluster's constants
  Constants slope{};
  Constants start{};  // the values at which the time is `fixed`
};

// The constants of one label before the fit. Steps may differ between groups.
struct LabelStart {
  std::string algorithm;
  Protocol protocol = Protocol::kSimple;
  Constants start{};  // the largest value among the groups
  Constants least{};  // the smallest value among the groups that have one
  Constants lower{};  // bounds of a fit: no share exceeds what the wire carries
  Constants upper{};
};

struct Sample {
  double measured_us = 0;
  double gap_us = 0;  // between kernels
  int devices_per_thread = 1;
  std::string label;  // the library's choice, or the label in the measurement
  bool told = false;  // whether the measurement contains the label
  int series = 0;     // number of the series: rows of one collective and number of ranks
  int nodes = 1;      // number of nodes on which the cluster places the ranks
  uint64_t bytes = 0;
};

// Prices rows with trial constants. Caches prices.
class Samples {
 public:
  static absl::StatusOr<Samples> Make(const proto::Cluster& cluster, const std::vector<MeasuredRow>& rows);

  const std::vector<Sample>& all() const { return samples_; }
  const std::map<std::string, LabelStart>& labels() const { return labels_; }
  const LibraryModel& library() const { return *library_; }
  // The time of sample `i` if it ran as `label`. Errors: the plan cannot be built.
  absl::StatusOr<Linear> AsLabel(size_t i, const std::string& label);
  // The device time of sample `i` with the cluster's constants, in us.
  absl::StatusOr<double> Price(size_t i) const;
  // Price() with a library modified by `change`, which may set constants but not the shape of levels.
  absl::StatusOr<double> PriceWith(size_t i, const std::function<void(LibraryModel*)>& change) const;

 private:
  struct Series {
    CollectiveType type = CollectiveType::kAllReduce;
    int ranks = 0;
    std::unique_ptr<CollectiveTable> table;
    std::map<std::pair<uint64_t, std::string>, Linear> known;
  };
  absl::Status Add(const proto::Cluster& cluster, const MeasuredRow& row);
  // The device time with the constants that `term` sets.
  absl::StatusOr<double> DeviceTime(const Series& series, uint64_t bytes, const LabelStart& label,
                                    const LibraryTerm& term,
                                    const std::function<void(LibraryModel*)>& change = nullptr) const;
  void Start(const Series& series, const Candidate& candidate);

  std::vector<Sample> samples_;
  std::vector<Series> series_;
  std::map<std::string, LabelStart> labels_;
  const LibraryModel* library_ = nullptr;
};

}  // namespace chakra
