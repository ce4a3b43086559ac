// Recordings of rocprofv3, JSON or SQLite: any bytes give ranks or an error. A second read gives the same.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/rocprof/json_file.h"
#include "trace/import/rocprof/ranks.h"
#include "trace/import/rocprof/rocpd.h"

namespace chakra::rocprof {
namespace {

using fuzz::Require;

// Reads the bytes and returns the result as one line.
std::string ReadRocprof(absl::string_view bytes) {
  std::vector<Recording> recordings;
  absl::Status status;
  if (LooksLikeSqlite(bytes)) {
    const auto database = SqliteReader::OfBytes(bytes, "fuzz.db", kRocpd);
    status = database.ok() ? ReadRocpd(**database, "fuzz.db", &recordings) : database.status();
  } else {
    Buffer text;
    if (!text.Reserve(bytes.size() + 1)) return "no memory";
    std::memcpy(text.data(), bytes.data(), bytes.size());
    text.set_size(bytes.size());
    status = ReadJson(&text, "fuzz.json", &recordings);
  }
  if (status.ok()) {
    auto ranks = RanksOf(std::move(recordings));
    status = ranks.status();
    if (ranks.ok()) {
      std::string out;
      for (const pytorch::CaptureRank& rank : ranks->ranks) {
        for (const pytorch::Event& e : rank.device->events)
          Require(e.dur >= 0, "a duration is never negative");
        absl::StrAppend(&out, rank.rank, ":", rank.device->events.size(), " ");
      }
      return out;
    }
  }
  Require(!status.message().empty(), "an error says why");
  return std::string(status.message());
}

}  // namespace
}  // namespace chakra::rocprof

FUZZ_TARGET(rocprof_fuzz, data, size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)chakra::rocprof::LooksLikeJson(bytes);
  (void)chakra::rocprof::LooksLikeRocpd(bytes);
  chakra::fuzz::Require(chakra::rocprof::ReadRocprof(bytes) == chakra::rocprof::ReadRocprof(bytes),
                        "the same answer twice");
  return 0;
}
