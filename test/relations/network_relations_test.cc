// Relations between prices of collectives, on 1,500 settings drawn at random.
#include "test/relations/network_relations.h"

#include <gtest/gtest.h>

namespace chakra::relations::CHAKRA_FILE {
namespace {

constexpr uint64_t kMiB = 1 << 20;

void ExpectNone(const std::vector<Broken>& broken) {
  for (const Broken& b : broken) ADD_FAILURE() << b.text;
}

TEST(NetworkRelations, BetterIsNeverSlowerAnalytical) {
  ExpectNone(CheckBetter("analytical", 1, 400, 64, 1024 * kMiB));
}
TEST(NetworkRelations, BetterIsNeverSlowerFifo) {
  ExpectNone(CheckBetter("analytical-fifo", 2, 150, 32, 256 * kMiB));
}
TEST(NetworkRelations, BetterIsNeverSlowerFluid) { ExpectNone(CheckBetter("fluid", 3, 300, 32, 256 * kMiB)); }
TEST(NetworkRelations, BetterIsNeverSlowerPacket) { ExpectNone(CheckBetter("packet", 4, 40, 16, kMiB)); }
TEST(NetworkRelations, BetterIsNeverSlowerMixed) { ExpectNone(CheckBetter("mixed", 5, 40, 16, kMiB)); }

TEST(NetworkRelations, FluidIsNeverFasterThanAnalytical) {
  ExpectNone(CheckOrder("analytical", "fluid", 0, 6, 300, 64, 256 * kMiB));
}
TEST(NetworkRelations, FifoIsNeverFasterThanAnalytical) {
  ExpectNone(CheckOrder("analytical", "analytical-fifo", 0, 7, 200, 64, 256 * kMiB));
}
// Of short messages: limits are kept to a packet, and plans that wait for each message gain one each time.
TEST(NetworkRelations, PacketIsNeverFasterThanFluidLessHeaders) {
  ExpectNone(CheckOrder("fluid", "packet", 0.1, 8, 40, 16, kMiB));
}

TEST(NetworkRelations, LinksCarryTheBytesOfMessages) {
  ExpectNone(CheckBytes("fluid", 9, 200, 32, 256 * kMiB));
}

}  // namespace
}  // namespace chakra::relations::CHAKRA_FILE
