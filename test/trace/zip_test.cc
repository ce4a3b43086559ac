// Zip archives, read as tar archives are.
#include "trace/io/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/io/archive.h"
#include "trace/io/byte_source.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

std::string Little(uint64_t v, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += i < 8 ? static_cast<char>(v >> (8 * i)) : '\0';
  return out;
}

std::string Deflated(const std::string& text) {
  z_stream z = {};
  deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 16, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

struct Options {
  bool stored = false, zip64 = false, streamed = false;
  int method = -1, flags = 0;
  int crc_off = 0;
};

// An archive as zip writes it; `streamed`: only the directory has sizes.
std::string Zip(const std::vector<std::pair<std::string, std::string>>& files, const Options& o = {}) {
  std::string out, directory;
  for (const auto& [name, text] : files) {
    const std::string data = o.stored ? text : Deflated(text);
    const uint64_t at = out.size();
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
    const int method = o.method >= 0 ? o.method : o.stored ? 0 : 8;
    const std::string what = Little(static_cast<uint64_t>(o.flags | (o.streamed ? 8 : 0)), 2) +
                             Little(static_cast<uint64_t>(method), 2) + Little(0, 4);
    const std::string numbers =
        Little(crc + static_cast<unsigned>(o.crc_off), 4) +
        (o.zip64 ? std::string(8, '\xff') : Little(data.size(), 4) + Little(text.size(), 4));
    absl::StrAppend(&out, "PK\x03\x04", Little(20, 2), what, o.streamed ? std::string(12, '\0') : numbers,
                    Little(name.size(), 2), Little(0, 2), name, data);
    const std::string extra = o.zip64 ? Little(1, 2) + Little(24, 2) + Little(text.size(), 8) +
                                            Little(data.size(), 8) + Little(at, 8)
                                      : "";
    absl::StrAppend(&directory, "PK\x01\x02", Little(20, 2), Little(20, 2), what, numbers,
                    Little(name.size(), 2), Little(extra.size(), 2), Little(0, 10),
                    o.zip64 ? Little(0xffffffff, 4) : Little(at, 4), name, extra);
  }
  const uint64_t at = out.size();
  out += directory;
  if (o.zip64) {
    const uint64_t end = out.size();
    absl::StrAppend(&out, "PK\x06\x06", Little(44, 8), Little(0, 12), Little(files.size(), 8),
                    Little(files.size(), 8), Little(directory.size(), 8), Little(at, 8), "PK\x06\x07",
                    Little(0, 4), Little(end, 8), Little(1, 4));
  }
  return absl::StrCat(out, "PK\x05\x06", Little(0, 4), Little(files.size(), 2), Little(files.size(), 2),
                      Little(directory.size(), 4), o.zip64 ? Little(0xffffffff, 4) : Little(at, 4),
                      Little(0, 2));
}

// Names and contents, or the error.
std::string Read(const std::string& zip) {
  MemorySource raw(zip);
  const auto content = OpenContent(&raw, "a.zip");
  if (!content.ok()) return std::string(content.status().message());
  TarReader tar(content->get(), "a.zip");
  std::string out;
  Buffer buffer;
  for (;;) {
    const auto more = tar.Next();
    if (!more.ok()) return std::string(more.status().message());
    if (!*more) return out;
    if (const absl::Status s = tar.ReadMember(&buffer); !s.ok()) return std::string(s.message());
    absl::StrAppend(&out, tar.name(), "=", buffer.size() < 100 ? buffer.view() : absl::StrCat(buffer.size()),
                    ";");
  }
}

TEST(Zip, ReadsMembersInTheOrderOfTheDirectory) {
  const std::string large(100000, 'x'), name(180, 'n');
  const std::vector<std::pair<std::string, std::string>> files = {
      {"run/", ""}, {"run/w.0.et", "zero"}, {"run/w.1.et", large}, {"empty", ""}, {name, "long"}};
  const std::string expected = absl::StrCat("run/w.0.et=zero;run/w.1.et=100000;empty=;", name, "=long;");
  for (const bool stored : {false, true}) {
    for (const bool zip64 : {false, true}) {
      EXPECT_EQ(Read(Zip(files, {.stored = stored, .zip64 = zip64})), expected);
    }
  }
  EXPECT_EQ(Read(Zip(files, {.streamed = true})), expected);
  EXPECT_EQ(Read(Zip(files) + "a comment" + std::string(4, '\0')), expected) << "behind it: still found";
}

TEST(Zip, RefusesBadArchives) {
  const std::string good = Zip({{"w.0.et", "zero and more"}});
  for (size_t cut = 4; cut < good.size(); ++cut) {
    EXPECT_THAT(Read(good.substr(0, cut)), HasSubstr("a.zip: zip archive, byte")) << cut;
  }
  EXPECT_THAT(Read(good.substr(0, 30)), HasSubstr("no directory at the end; the file was cut short"));
  EXPECT_THAT(Read(Zip({{"w", "x"}}, {.flags = 1})), HasSubstr("w is encrypted"));
  EXPECT_THAT(Read(Zip({{"w", "x"}}, {.method = 12})),
              HasSubstr("packed by method 12; expected 8 (deflate)"));
  EXPECT_THAT(Read(Zip({{"w", "x"}}, {.crc_off = 1})), HasSubstr("w is damaged: wrong checksum"));
  // Any one changed byte gives an error or content.
  for (size_t i = 4; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    Read(bad);
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
