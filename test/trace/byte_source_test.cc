#include "trace/io/byte_source.h"

#include <zlib.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

std::string Gzip(const std::string& s) {
  std::string out(s.size() + 100, '\0');
  z_stream z = {};
  EXPECT_EQ(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(s.data()));
  z.avail_in = static_cast<uInt>(s.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

TEST(ByteSource, PackedCountsCompressedBytes) {
  const std::string packed = Gzip(std::string(100000, 'x'));
  MemorySource raw(packed), plain("plain");
  auto source = OpenContent(&raw, "f.gz");
  ASSERT_TRUE(source.ok());
  Buffer out;
  ASSERT_TRUE(ReadAll(source->get(), "f.gz", &out).ok());
  EXPECT_EQ(out.size(), 100000u);
  EXPECT_EQ((*source)->Packed(), packed.size());
  EXPECT_EQ(PutBack("", source->get())->Packed(), packed.size());
  auto as_is = OpenContent(&plain, "f");
  ASSERT_TRUE(as_is.ok());
  EXPECT_EQ((*as_is)->Packed(), std::nullopt);
}

class Claims : public ByteSource {
 public:
  explicit Claims(std::optional<uint64_t> packed) : packed_(packed) {}
  absl::StatusOr<size_t> Read(char*, size_t) override { return 0; }
  std::optional<uint64_t> Packed() const override { return packed_; }

 private:
  std::optional<uint64_t> packed_;
};

TEST(ByteSource, RefusesDecompressionBombs) {
  EXPECT_TRUE(CheckUnpacked(Claims(1), "f", kFreelyUnpacked).ok());
  EXPECT_TRUE(CheckUnpacked(Claims(std::nullopt), "f", kFreelyUnpacked * 100).ok());
  const uint64_t packed = uint64_t{10} << 20;
  EXPECT_TRUE(CheckUnpacked(Claims(packed), "f", packed * kMaxRatio).ok());
  const absl::Status bomb = CheckUnpacked(Claims(packed), "f.zst", (packed + 1) * kMaxRatio);
  EXPECT_EQ(bomb.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(bomb.message()), HasSubstr("f.zst: its first 10485760 compressed bytes unpack to"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
