// Rows for `kernels predict`: any bytes give rows or an error. Every row gets an answer or a refusal with a
// reason, in order. No answer is negative, infinite or outside its own range.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "replay/cluster/devices.h"
#include "replay/compute/model/predict.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/io/csv.h"

FUZZ_TARGET(kernel_rows_fuzz, data, size) {
  using chakra::fuzz::Require;
  static const chakra::proto::Device device = chakra::FindDevice("A100").value();
  static const chakra::KernelModel model = chakra::KernelModel::Create(device).value();
  const absl::string_view csv(reinterpret_cast<const char*>(data), size);
  const auto rows = chakra::ReadKernelRows(csv, "fuzz.csv", device);
  Require(rows.ok() || !rows.status().message().empty(), "an error says what is wrong");
  if (!rows.ok()) return 0;
  size_t refused = 0;
  const std::string out = chakra::PredictRows(model, *rows, &refused);
  chakra::CsvReader reader(out, "out.csv");
  std::vector<std::string> fields;
  size_t lines = 0;
  for (auto more = reader.Next(&fields); more.ok() && *more; more = reader.Next(&fields)) ++lines;
  Require(lines == rows->call.size() + 1, "each row has a line");
  size_t wrong = 0;
  for (const auto& call : rows->call) {
    const auto time = call.ok() ? chakra::Predict(model, *call) : call.status();
    if (!time.ok()) {
      ++wrong;
      Require(!time.status().message().empty(), "a refusal says why");
      continue;
    }
    Require(std::isfinite(time->high_us) && time->low_us > 0, "times are numbers above 0");
    Require(time->low_us <= time->us && time->us <= time->high_us, "a time lies in its range");
  }
  Require(wrong == refused, "refusals are counted");
  return 0;
}
