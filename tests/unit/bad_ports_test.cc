// The Fetch standard's list of bad ports.
#include "node/url/bad_ports.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

TEST(BadPorts, FetchStandardsTable) {
  for (const int port : {0, 1, 22, 23, 25, 110, 143, 389, 465, 587, 993, 2049, 5060, 6000, 6665, 6667, 6697, 10080})
    EXPECT_TRUE(is_bad_port(static_cast<std::uint16_t>(port), {})) << port;
  for (const int port : {80, 443, 81, 591, 3000, 8000, 8008, 8080, 8443, 6670, 10081, 65535})
    EXPECT_FALSE(is_bad_port(static_cast<std::uint16_t>(port), {})) << port;
}

TEST(BadPorts, AllowPortsLetsThrough) {
  EXPECT_FALSE(is_bad_port(6000, {"25", "6000"}));
  EXPECT_TRUE(is_bad_port(6665, {"25", "6000"}));
}

}  // namespace
}  // namespace orbweaver
