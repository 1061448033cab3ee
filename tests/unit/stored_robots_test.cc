// The bytes of a robots.txt in the table of hosts.
#include <gtest/gtest.h>

#include <string>

#include "storage/record.h"

namespace orbweaver::storage {
namespace {

TEST(StoredRobots, LayoutIsPinned) {
  const auto stored = [](const RobotsEntry& robots) {
    std::string out;
    encode_stored_robots(robots, out);
    return out;
  };
  const RobotsEntry rules{Time(Duration(3)), Time(Duration(4)), 1, "body"};
  EXPECT_EQ(stored(rules), std::string("\x01\0\0\0\0\0\0\0\x04\x01\0\0\0\0\0\0\0\x03", 18) + "body");
  const RobotsEntry silent{.expires = Time(Duration(4)),
                           .kind = 3,
                           .unreachable_since = Time(Duration(3)),
                           .cause = Reason::dns,
                           .status = 0};
  EXPECT_EQ(stored(silent), std::string("\x03\0\0\0\0\0\0\0\x04\x06\0\0\0\0\0\0\0\x03\x11\0\0", 21));
  for (const RobotsEntry& robots : {rules, silent}) {
    const std::string bytes = stored(robots);
    EXPECT_EQ(*decode_stored_robots(bytes), robots);
    for (std::size_t size = 0; size < bytes.size() - robots.body.size(); ++size)
      EXPECT_FALSE(decode_stored_robots(std::string_view(bytes).substr(0, size))) << size;
  }
  std::string unknown = stored(rules);
  unknown[9] = '\x09';
  EXPECT_FALSE(decode_stored_robots(unknown)) << "a field of a later version";
  std::string none = stored(silent);
  none.replace(18, 3, 3, '\0');
  EXPECT_FALSE(decode_stored_robots(none)) << "a cause that says nothing is not written";
}

}  // namespace
}  // namespace orbweaver::storage
