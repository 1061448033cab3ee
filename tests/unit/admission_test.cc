// A joiner's request to be let into a ring.
#include "node/coordination/admission.h"

#include <gtest/gtest.h>

#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

TEST(Admission, WithNoAddressItAsksNoPeer) {
  Admission admission({}, {});
  EXPECT_FALSE(admission.asks());
  EXPECT_FALSE(admission.next_deadline());
}

TEST(Admission, ItAsksEverySecondUntilItIsWelcome) {
  Admission admission({}, {"10.0.0.2:7400"});
  const Time now{std::chrono::hours{1}};
  EXPECT_TRUE(admission.due(now));
  admission.ask(now, PeerRig::self(), {}, rig_settings());
  EXPECT_FALSE(admission.due(now));
  EXPECT_TRUE(admission.due(now + Admission::every));
  admission.note_welcome();
  EXPECT_FALSE(admission.due(now + Admission::every));
}

TEST(Admission, OnlySettingsOfTheRingThatTheUserGaveGoWithTheQuestion) {
  Admission admission({{"partitions", "flag --partitions"}, {"log_level", "flag --log-level"}}, {"10.0.0.2:7400"});
  const ring::Join join = admission.ask({}, PeerRig::self(), rig_id(200), rig_settings());
  ASSERT_EQ(join.given.size(), 1u);
  EXPECT_EQ(join.given[0], (std::pair<std::string, std::string>{"partitions", "16"}));
  EXPECT_EQ(join.ring, rig_id(200));
}

}  // namespace
}  // namespace orbweaver
