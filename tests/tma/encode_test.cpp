// Encoding without a driver: the packed map, or every reason against it.
#include <string>

#include <gtest/gtest.h>

#include <gantry/tma/encode.hpp>
#include <gantry/tma/encoder.hpp>

#include "encode_cases.hpp"

namespace gantry {
namespace {

TEST(TmaEncode, WhatTheDriverTakesIsPackedAndWhatItRefusesIsExplained) {
  for (const testing::EncodeCase& c : testing::kEncodeCases) {
    const EncodedTmaDescriptor encoded = encode_packed(c.params());
    ASSERT_EQ(encoded.ok(), c.verdict == testing::Verdict::accepts) << c.name;
    if (encoded.ok()) {
      ASSERT_TRUE(unpack(encoded.map).has_value()) << c.name;
      EXPECT_EQ(*unpack(encoded.map), canonical(c.params())) << c.name;
    } else {
      EXPECT_EQ(encoded.status, TmaEncodeStatus::refused_by_rules);
      EXPECT_EQ(encoded.map, TmaDescriptor{}) << c.name;
      EXPECT_NE(std::string{describe(encoded).c_str()}.find("the nearest value that works"), std::string::npos)
          << c.name;
    }
  }
}

TEST(TmaEncode, ARefusalCountsWhatItDoesNotShowAndLeavesPitfallsOut) {
  TmaDescriptorParams p = testing::matrix_params();
  p.element_strides[0] = 2;
  EXPECT_TRUE(encode_packed(p).ok());
  EXPECT_EQ(encode_packed(p).violations.size(), 1);
  p.strides[0] = 8;
  p.box[1] = 0;
  EXPECT_STREQ(describe(encode_packed(p)).c_str(),
               "strides[0] is 8: a stride is a multiple of 16 bytes, of 32 with 32-byte interleave; the nearest value "
               "that works is 16 (and 1 more)");
}

TEST(TmaEncode, FailuresThatAreNotTheCallersSaySo) {
  EncodedTmaDescriptor encoded;
  encoded.status = TmaEncodeStatus::refused_by_driver;
  encoded.driver_code = 201;
  EXPECT_STREQ(describe(encoded).c_str(),
               "the driver refused the tensor map with code 201, and no rule known here is broken");
  encoded.status = TmaEncodeStatus::no_driver;
  EXPECT_FALSE(encoded.ok());
}

TmaDescriptor packed_by_a_function(const TmaDescriptorParams& params) { return pack(params); }

TEST(TmaEncode, AnEncoderRefersToAFunctionAndToAnObject) {
  const TmaDescriptorParams p = testing::matrix_params();
  int calls = 0;
  const auto counting = [&calls](const TmaDescriptorParams& params) {
    ++calls;
    return pack(params);
  };
  EXPECT_EQ(TmaEncoder(counting)(p), pack(p));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(TmaEncoder(packed_by_a_function)(p), pack(p));
}

}  // namespace
}  // namespace gantry
