// The devices that are built in, by name. To add one: a file NAME.txtpb (proto::DeviceFile), and nothing
// else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/cluster.pb.h"
#include "trace/io/proto_io.h"

namespace chakra {

// A device by its name or another that it goes by ("V100", "Tesla_V100-PCIE-32GB", "H100-SXM5-80GB"; case,
// blanks, "-", "_" and the words NVIDIA, Tesla, AMD, Instinct and VF do not count); nullopt: none is known by
// it. Rates are dense.
absl::StatusOr<std::optional<proto::Device>> KnownDevice(absl::string_view name);

// Every device's own name, sorted.
std::vector<std::string> DeviceNames();

// The file of the device of that very name, a text message; "": there is none.
absl::string_view DeviceFileText(absl::string_view name);
// A part of that file without its braces, with its comments: "device", "energy" (proto::PowerProfile),
// "price" (proto::DevicePrice) or "footprint" (proto::Embodied), the last three without their `device`; "":
// it has none.
absl::string_view DevicePart(absl::string_view name, absl::string_view part);

// Adds a row for each device that has the part: PowerProfile, DevicePrice or Embodied. Errors: a file that
// does not parse, which a test excludes.
template <typename Row>
absl::Status AddDeviceParts(absl::string_view part, google::protobuf::RepeatedPtrField<Row>* rows) {
  for (const std::string& name : DeviceNames()) {
    const absl::string_view text = DevicePart(name, part);
    if (text.empty()) continue;
    Row* row = rows->Add();
    if (absl::Status s = ParseTextMessage(text, name, row); !s.ok()) return s;
    row->set_device(name);
  }
  return absl::OkStatus();
}

// The dtypes that Device::peak_tflops knows.
std::vector<std::string> PeakDtypes();

}  // namespace chakra
