// Texts of shapes and types: any bytes give operands or an error. The work of every operator on them is a
// number, and a table with these operands can interpolate.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "replay/compute/interpolate.h"
#include "replay/compute/operators/operator_work.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(operands_fuzz, data, size) {
  using chakra::fuzz::Require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(text.find('\n'), text.size());
  const std::string shapes = text.substr(0, line), types = text.substr(std::min(line + 1, text.size()));
  (void)chakra::DtypeOf(text);
  const auto operands = chakra::ParseOperands(shapes, types);
  Require(operands.ok() || !operands.status().message().empty(), "an error says what is wrong");
  if (!operands.ok()) return 0;
  for (const std::string& name : chakra::KnownOperators()) {
    const auto work = chakra::WorkOfOperator(name, *operands, 4);
    if (!work.has_value()) continue;
    Require(std::isfinite(work->operations) && work->operations >= 0, "operations are a number");
    Require(std::isfinite(work->bytes) && work->bytes >= 0, "bytes are a number");
  }
  chakra::proto::KernelTable table;
  for (const std::string& s : {shapes, std::string("[[3, 4], [4, 5]]"), std::string("[[9, 4], [4, 50]]")}) {
    chakra::proto::KernelRow* row = table.add_row();
    row->set_name("aten::mm");
    row->set_shapes(s);
    row->set_duration_us(table.row_size());
  }
  const auto found = chakra::KernelInterpolation(table).Find({"aten::mm", shapes, types});
  Require(found.outcome != chakra::KernelInterpolation::Outcome::kAnswered ||
              found.duration > chakra::Time::Zero(),
          "an answer takes time");
  return 0;
}
