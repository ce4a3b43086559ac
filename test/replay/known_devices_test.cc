#include "replay/devices/known_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/device.pb.h"
#include "trace/io/proto_io.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;

proto::DeviceFile Whole(const std::string& name) {
  proto::DeviceFile file;
  EXPECT_TRUE(ParseTextMessage(DeviceFileText(name), name, &file).ok());
  return file;
}

// Finds a part in the text of a file, and compares it with the part of the whole file.
template <typename Part>
void ExpectPart(const std::string& name, const char* part, bool has, const Part& expected) {
  SCOPED_TRACE(part);
  EXPECT_EQ(DevicePart(name, part).empty(), !has);
  Part found;
  ASSERT_TRUE(ParseTextMessage(DevicePart(name, part), part, &found).ok());
  EXPECT_EQ(found.DebugString(), expected.DebugString());
}

TEST(KnownDevices, EachFileDescribesADevice) {
  EXPECT_THAT(DeviceNames(),
              IsSupersetOf({"H100-SXM5-80GB", "MI355X-288GB", "TPU-v6e", "TPU-v7", "Trainium2", "Gaudi3"}));
  for (const std::string& name : DeviceNames()) {
    SCOPED_TRACE(name);
    const proto::DeviceFile file = Whole(name);
    const proto::Device& device = file.device();
    EXPECT_EQ(device.name(), name);
    EXPECT_GT(device.memory_gbytes_per_s(), 0);
    EXPECT_GT(device.memory_mib(), 0);
    EXPECT_TRUE(device.peak_tflops().contains(device.default_dtype()));
    EXPECT_NE(device.architecture(), "");
    ExpectPart(name, "device", true, device);
    ExpectPart(name, "energy", file.has_energy(), file.energy());
    ExpectPart(name, "price", file.has_price(), file.price());
    ExpectPart(name, "footprint", file.has_footprint(), file.footprint());
  }
}

TEST(KnownDevices, EachNameFindsOnlyItsDevice) {
  std::map<std::string, std::string> owner;
  for (const std::string& device : DeviceNames()) {
    const proto::DeviceFile file = Whole(device);
    std::vector<std::string> names(file.alias().begin(), file.alias().end());
    names.push_back(device);
    for (const std::string& name : names) {
      SCOPED_TRACE(name);
      EXPECT_TRUE(owner.emplace(name, device).second);
      const auto found = KnownDevice(absl::StrCat("NVIDIA ", name));
      ASSERT_TRUE(found.ok() && *found);
      EXPECT_EQ((*found)->name(), device);
    }
  }
}

TEST(KnownDevices, PartsGiveRowsOfPrices) {
  proto::Prices prices;
  ASSERT_TRUE(AddDeviceParts("price", prices.mutable_device()).ok());
  ASSERT_GT(prices.device_size(), 0);
  for (const proto::DevicePrice& price : prices.device()) {
    EXPECT_GT(price.device_dollars().value(), 0) << price.device();
    EXPECT_FALSE(DeviceFileText(price.device()).empty());
  }
}

TEST(KnownDevices, UnknownNamesFindNoDevice) {
  for (const char* name : {"", "NVIDIA", "h10", "h100, h100-sxm", "alias"}) {
    const auto found = KnownDevice(name);
    EXPECT_TRUE(found.ok() && !*found) << name;
  }
  EXPECT_THAT(DeviceFileText("h100"), IsEmpty());  // an alias
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
