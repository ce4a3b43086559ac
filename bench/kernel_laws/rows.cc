#include "bench/kernel_laws/rows.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/compute/model/predict.h"
#include "trace/io/file.h"

namespace chakra::kernel_laws {
namespace {

// The column `name` of a row; "" if it is missing.
std::string Field(const KernelRows& rows, size_t row, const char* name) {
  const auto at = std::find(rows.header.begin(), rows.header.end(), name);
  const size_t column = at - rows.header.begin();
  return column < rows.fields[row].size() ? rows.fields[row][column] : "";
}

template <typename Call>
absl::Status ReadTable(const std::string& path, const char* op, std::vector<Row<Call>>* out) {
  absl::StatusOr<std::string> content = ReadFile(path);
  if (!content.ok()) return content.status();
  absl::StatusOr<KernelRows> rows = ReadKernelRows(*content, path, proto::Device(), op);
  if (!rows.ok()) return rows.status();
  for (size_t i = 0; i < rows->call.size(); ++i) {
    if (!rows->call[i].ok()) return rows->call[i].status();
    if (!(rows->measured_us[i] > 0))
      return absl::InvalidArgumentError(absl::StrCat(path, ", row ", i + 1, ": no measured time"));
    out->push_back({Field(*rows, i, "device"), Field(*rows, i, "kernel"), std::get<Call>(*rows->call[i]),
                    rows->measured_us[i]});
  }
  return absl::OkStatus();
}

// Selects one of five by FNV-1a of the numbers, a hash that is independent of library versions.
bool OneOfFive(std::initializer_list<double> numbers) {
  uint64_t hash = 1469598103934665603u;
  for (double x : numbers) {
    for (uint64_t bits = static_cast<uint64_t>(x * 1024); bits != 0; bits >>= 8) {
      hash = (hash ^ (bits & 255)) * 1099511628211u;
    }
    hash = (hash ^ 257) * 1099511628211u;
  }
  return (hash >> 33) % 5 == 0;
}

}  // namespace

absl::StatusOr<Rows> ReadRows(const std::string& folder) {
  Rows rows;
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) paths.push_back(entry.path());
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const std::string name = std::filesystem::path(path).filename();
    absl::Status status;
    if (absl::StartsWith(name, "gemm_")) {
      status = ReadTable(path, "gemm", &rows.gemm);
    } else if (absl::StartsWith(name, "attention_fwd_")) {
      status = ReadTable(path, "attention", &rows.attention);
    } else if (absl::StartsWith(name, "moe_fwd_")) {
      status = ReadTable(path, "moe", &rows.moe);
    }
    if (!status.ok()) return status;
  }
  return rows;
}

bool IsHeldOut(const GemmCall& c) { return OneOfFive({c.m, c.n, c.k}); }
bool IsHeldOut(const AttentionCall& c) {
  return OneOfFive({c.batch, c.seq, c.heads, c.kv_heads, c.head_dim, c.window});
}
bool IsHeldOut(const MoeCall& c) {
  return OneOfFive({c.tokens, c.hidden, c.inter, c.topk, c.experts, c.tp, c.ep, c.power_law});
}

}  // namespace chakra::kernel_laws
