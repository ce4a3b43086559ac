// Relations between prices of collectives, on about 1,500 random settings.
#include "test/relations/network_relations.h"

#include <gtest/gtest.h>

namespace chakra::relations::CHAKRA_FILE {
namespace {

constexpr uint64_t kMiB = 1 << 20;

void ExpectNone(const std::vector<Broken>& broken) {
  for (const Broken& b : broken) ADD_FAILURE() << b.text;
}

TEST(NetworkRelations, BetterMachinesAreNeverSlowerOnAnalytical) {
  ExpectNone(CheckBetter("analytical", 1, 400, 64, 1024 * kMiB));
}
TEST(NetworkRelations, BetterMachinesAreNeverSlowerOnFifo) {
  ExpectNone(CheckBetter("analytical-fifo", 2, 150, 32, 256 * kMiB));
}
TEST(NetworkRelations, BetterMachinesAreNeverSlowerOnFluid) {
  ExpectNone(CheckBetter("fluid", 3, 300, 32, 256 * kMiB));
}
TEST(NetworkRelations, BetterMachinesAreNeverSlowerOnPacket) {
  ExpectNone(CheckBetter("packet", 4, 40, 16, kMiB));
}
TEST(NetworkRelations, BetterMachinesAreNeverSlowerOnMixed) {
  ExpectNone(CheckBetter("mixed", 5, 40, 16, kMiB));
}

TEST(NetworkRelations, FluidIsNeverFasterThanAnalytical) {
  ExpectNone(CheckOrder("analytical", "fluid", 0, 6, 300, 64, 256 * kMiB));
}
TEST(NetworkRelations, FifoIsNeverFasterThanAnalytical) {
  ExpectNone(CheckOrder("analytical", "analytical-fifo", 0, 7, 200, 64, 256 * kMiB));
}
// For short messages: limits hold to a packet, so plans that wait for each message gain up to a packet each
// time.
TEST(NetworkRelations, PacketIsNeverFasterThanFluidLessHeaders) {
  ExpectNone(CheckOrder("fluid", "packet", 0.1, 8, 40, 16, kMiB));
}

TEST(NetworkRelations, LinksCarryTheBytesOfMessages) {
  ExpectNone(CheckBytes("fluid", 9, 200, 32, 256 * kMiB));
}

}  // namespace
}  // namespace chakra::relations::CHAKRA_FILE
