#include "replay/devices/known_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/io/proto_io.h"

namespace chakra {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;

// KnownDevices() is empty where one file does not parse.
TEST(KnownDevices, EachFileIsADevice) {
  ASSERT_EQ(KnownDevices().size(), DeviceNames().size());
  EXPECT_THAT(DeviceNames(),
              IsSupersetOf({"H100-SXM5-80GB", "MI355X-288GB", "TPU-v6e", "TPU-v7", "Trainium2", "Gaudi3"}));
  for (const proto::DeviceFile& file : KnownDevices()) {
    SCOPED_TRACE(file.device().name());
    EXPECT_GT(file.device().memory_gbytes_per_s(), 0);
    EXPECT_GT(file.device().memory_mib(), 0);
    EXPECT_TRUE(file.device().peak_tflops().contains(file.device().default_dtype()));
    EXPECT_NE(file.device().architecture(), "");
    proto::DeviceFile text;
    const std::string whole = absl::StrCat("device {", DeviceText(file.device().name()), "}");
    ASSERT_TRUE(ParseTextMessage(whole, "device", &text).ok());
    EXPECT_EQ(text.device().DebugString(), file.device().DebugString());
  }
}

// Aliases are found by a look at the text of a file.
TEST(KnownDevices, EachNameFindsItsDeviceAlone) {
  std::map<std::string, std::string> owner;
  for (const proto::DeviceFile& file : KnownDevices()) {
    std::vector<std::string> names(file.alias().begin(), file.alias().end());
    names.push_back(file.device().name());
    for (const std::string& name : names) {
      SCOPED_TRACE(name);
      EXPECT_TRUE(owner.emplace(name, file.device().name()).second);
      const auto found = KnownDevice(absl::StrCat("NVIDIA ", name));
      ASSERT_TRUE(found.ok() && *found);
      EXPECT_EQ((*found)->name(), file.device().name());
    }
  }
}

TEST(KnownDevices, OthersAreNone) {
  for (const char* name : {"", "NVIDIA", "h10", "h100, h100-sxm", "alias"}) {
    const auto found = KnownDevice(name);
    EXPECT_TRUE(found.ok() && !*found) << name;
  }
  EXPECT_THAT(DeviceText("h100"), IsEmpty());  // an alias
}

}  // namespace
}  // namespace chakra
