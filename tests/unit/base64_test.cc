// Base64: node/text/base64.h, RFC 4648.
#include "node/text/base64.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

TEST(Base64, Rfc4648_10_TestVectors) {
  EXPECT_EQ(base64_decoded(""), "");
  EXPECT_EQ(base64_decoded("Zg=="), "f");
  EXPECT_EQ(base64_decoded("Zm8="), "fo");
  EXPECT_EQ(base64_decoded("Zm9v"), "foo");
  EXPECT_EQ(base64_decoded("Zm9vYg=="), "foob");
  EXPECT_EQ(base64_decoded("Zm9vYmE="), "fooba");
  EXPECT_EQ(base64_decoded("Zm9vYmFy"), "foobar");
}

TEST(Base64, AllBytesComeBack) { EXPECT_EQ(base64_decoded("AP+A/n8B"), std::string("\0\xff\x80\xfe\x7f\x01", 6)); }

TEST(Base64, PaddingMayBeMissing) { EXPECT_EQ(base64_decoded("Zm8"), "fo"); }

TEST(Base64, ACharacterOutsideTheAlphabetIsNothing) {
  EXPECT_FALSE(base64_decoded("Zm9v YmFy"));
  EXPECT_FALSE(base64_decoded("Zm9v-_"));
  EXPECT_FALSE(base64_decoded("Zm=v"));
}

}  // namespace
}  // namespace orbweaver
