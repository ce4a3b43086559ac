#include "replay/engine/symmetry/card_lanes.h"

#include <gtest/gtest.h>

namespace chakra::CHAKRA_FILE {
namespace {

constexpr FlowEnd::Kind kSent = FlowEnd::kSent, kReceived = FlowEnd::kReceived;

TEST(SpreadMessages, MessageArrivesWithItsLastPart) {
  SpreadMessages spread;
  EXPECT_TRUE(spread.empty());
  spread.Start(9, 3);
  EXPECT_FALSE(spread.empty());
  EXPECT_FALSE(spread.Ended(9, 0, kReceived));
  EXPECT_FALSE(spread.Ended(9, 2, kReceived));
  EXPECT_TRUE(spread.Ended(9, 1, kReceived));
}

TEST(SpreadMessages, LaterMessagesMayOvertakeOnOneNic) {
  SpreadMessages spread;
  spread.Start(0, 2);
  spread.Start(0, 2);
  EXPECT_FALSE(spread.Ended(0, 0, kReceived));
  EXPECT_FALSE(spread.Ended(0, 0, kReceived));  // of the second message
  EXPECT_TRUE(spread.Ended(0, 1, kReceived)) << "the first is there";
  EXPECT_TRUE(spread.Ended(0, 1, kReceived)) << "the second is there";
}

TEST(SpreadMessages, MessageLeavesWithItsLastPart) {
  SpreadMessages spread;
  spread.Start(4, 2);
  EXPECT_FALSE(spread.Ended(4, 1, kSent));
  EXPECT_TRUE(spread.Ended(4, 0, kSent));
}

TEST(SpreadMessages, UnsplitMessageEndsAtOnce) {
  SpreadMessages spread;
  spread.Start(4, 2);
  EXPECT_TRUE(spread.Ended(5, 0, kReceived));
  EXPECT_TRUE(spread.Ended(5, 0, kSent));
  spread.clear();
  EXPECT_TRUE(spread.empty());
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
