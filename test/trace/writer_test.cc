#include "test/folders.h"
#include "trace/et/writer.h"

#include <gmock/gmock.h>
#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>

#include "trace/et/read_options.h"
#include "trace/import/reader.h"
#include "trace/io/file.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

ChakraProtoMsg::Node SampleNode(uint64_t id) {
  ChakraProtoMsg::Node n;
  n.set_id(id);
  n.set_name("op");
  n.set_type(ChakraProtoMsg::COMP_NODE);
  if (id > 0) n.add_data_deps(id - 1);
  auto* a = n.add_attr();
  a->set_name("num_ops");
  a->set_int64_val(0);
  return n;
}

// Far more than one flush of the writer's buffer.
constexpr int kMany = 100000;

std::string Write(Compression c, int nodes) {
  std::string out;
  EtWriter w(&out, c);
  ChakraProtoMsg::GlobalMetadata m;
  m.set_version("0.0.4");
  EXPECT_TRUE(w.AddMetadata(m).ok());
  for (int i = 0; i < nodes; ++i) EXPECT_TRUE(w.AddNode(SampleNode(static_cast<uint64_t>(i))).ok());
  EXPECT_TRUE(w.Finish().ok());
  return out;
}

TEST(Writer, PlainFilesReadBackWithProtobuf) {
  const std::string bytes = Write(Compression::kNone, 300);
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
  ChakraProtoMsg::GlobalMetadata m;
  ASSERT_TRUE(google::protobuf::util::ParseDelimitedFromZeroCopyStream(&m, &in, nullptr));
  EXPECT_EQ(m.version(), "0.0.4");
  for (uint64_t i = 0; i < 300; ++i) {
    ChakraProtoMsg::Node n;
    ASSERT_TRUE(google::protobuf::util::ParseDelimitedFromZeroCopyStream(&n, &in, nullptr)) << i;
    EXPECT_EQ(n.SerializeAsString(), SampleNode(i).SerializeAsString());
  }
  const void* rest;
  int size;
  EXPECT_FALSE(in.Next(&rest, &size));
}

TEST(Writer, CompressedHoldsTheSameBytes) {
  const std::string plain = Write(Compression::kNone, kMany);
  const std::string zstd = Write(Compression::kZstd, kMany);
  EXPECT_LT(zstd.size(), plain.size() / 2);
  std::string back(plain.size() + 1, '\0');
  const size_t n = ZSTD_decompress(back.data(), back.size(), zstd.data(), zstd.size());
  ASSERT_FALSE(ZSTD_isError(n)) << ZSTD_getErrorName(n);
  EXPECT_TRUE(back.substr(0, n) == plain);

  const std::string gzip = Write(Compression::kGzip, kMany);
  google::protobuf::io::ArrayInputStream raw(gzip.data(), static_cast<int>(gzip.size()));
  google::protobuf::io::GzipInputStream in(&raw, google::protobuf::io::GzipInputStream::GZIP);
  std::string text;
  const void* part;
  int size;
  while (in.Next(&part, &size)) text.append(static_cast<const char*>(part), static_cast<size_t>(size));
  EXPECT_TRUE(text == plain);
  EXPECT_EQ(gzip, Write(Compression::kGzip, kMany));
}

TEST(Writer, CompressionFollowsTheName) {
  EXPECT_EQ(CompressionOf("w.0.et"), Compression::kNone);
  EXPECT_EQ(CompressionOf("w.0.et.gz"), Compression::kGzip);
  EXPECT_EQ(CompressionOf("w.0.et.zst"), Compression::kZstd);
}

TEST(Writer, MetadataMustBeFirst) {
  std::string out;
  EtWriter w(&out, Compression::kNone);
  ASSERT_TRUE(w.AddNode(SampleNode(0)).ok());
  EXPECT_EQ(w.AddMetadata({}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Writer, ReportsErrorsAndLeavesNoFile) {
  EtWriter nowhere("/no/such/folder/w.0.et");
  EXPECT_THAT(std::string(nowhere.AddNode(SampleNode(0)).message()), HasSubstr("/no/such/folder/w.0.et"));
  EXPECT_FALSE(nowhere.Finish().ok());
  if (std::filesystem::exists("/dev/full")) {
    EtWriter full("/dev/full", Compression::kZstd);
    for (int i = 0; i < 10; ++i) (void)full.AddNode(SampleNode(1));
    EXPECT_THAT(std::string(full.Finish().message()), HasSubstr("No space left"));
  }
  const std::filesystem::path dir =
      std::filesystem::path(::testing::TempDir()) / ("chakra_writer." + std::to_string(::getpid()));
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  {
    EtWriter w((dir / "w.0.et").string());
    (void)w.AddNode(SampleNode(0));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir));
}

RawFrames Frames(const std::vector<std::string>& bodies, bool has_metadata) {
  RawFrames raw;
  raw.has_metadata = has_metadata;
  raw.begin.push_back(0);
  for (const std::string& b : bodies) {
    raw.bytes += b;
    raw.begin.push_back(raw.bytes.size());
  }
  return raw;
}

TEST(Writer, WritesKeptFramesByteForByte) {
  RankTrace t;
  std::string out;
  EtWriter none(&out, Compression::kNone);
  EXPECT_EQ(WriteTrace(t, &none).code(), absl::StatusCode::kFailedPrecondition);
  t.raw = std::make_shared<RawFrames>(Frames({"", "\x08\x01", "\xf8\x3f\x07"}, true));
  EtWriter with(&out, Compression::kNone);
  ASSERT_TRUE(WriteTrace(t, &with).ok());
  EXPECT_EQ(out, std::string("\0\x02\x08\x01\x03\xf8\x3f\x07", 8));
  t.raw = std::make_shared<RawFrames>(Frames({"", "\x08\x01"}, false));
  out.clear();
  EtWriter without(&out, Compression::kNone);
  ASSERT_TRUE(WriteTrace(t, &without).ok());
  EXPECT_EQ(out, "\x02\x08\x01");
}

TEST(Writer, RealTracesRoundTrip) {
  const std::string dir = std::string(CHAKRA_SHARED_DATA) + "/astra-sim/custom_ring_allreduce_8npus_1MB";
  if (!std::filesystem::exists(dir)) GTEST_SKIP() << "SKIPPED: no folder " << dir;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    if (entry.path().extension() != ".et") continue;
    ++files;
    const std::string content = *ReadFile(entry.path().string());
    ReadOptions options;
    options.keep_raw = true;
    const auto trace = DecodeTrace(content, entry.path().string(), 0, options);
    ASSERT_TRUE(trace.ok()) << trace.status();
    std::string out;
    EtWriter w(&out, Compression::kNone);
    ASSERT_TRUE(WriteTrace(*trace, &w).ok());
    EXPECT_TRUE(out == content) << entry.path();
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
