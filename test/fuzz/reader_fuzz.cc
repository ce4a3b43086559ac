// A whole input as a user gives it: plain, compressed, JSON, text or an archive, with its groups. The result
// does not depend on the number of threads.
#include <cstddef>
#include <cstdint>
#include <string>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/et/read_options.h"
#include "trace/import/locate.h"
#include "trace/import/reader.h"
#include "trace/model/inspect.h"

FUZZ_TARGET(reader_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  const std::string path = chakra::fuzz::Folder().Write("w.et", content);
  chakra::ReadOptions options;
  const auto one = chakra::ReadTraceSet({path}, options);
  options.threads = 2;
  const auto two = chakra::ReadTraceSet({path}, options);
  Require(one.ok() == two.ok(), "the outcome does not depend on threads");
  if (!one.ok()) {
    Require(one.status() == two.status(), "the error does not depend on threads");
    Require(!one.status().message().empty(), "an error says what is wrong");
    return 0;
  }
  Require(one->groups == two->groups && one->nodes() == two->nodes(), "nothing depends on threads");
  Require(!one->ranks.empty() && one->ranks.back().rank + 1 == static_cast<int>(one->ranks.size()),
          "ranks are 0 to n - 1");
  for (const chakra::RankTrace& r : one->ranks) {
    for (uint32_t row = 0; row < r.graph->size(); row += 7) {
      (void)chakra::DescribeNode(r, row);
    }
  }
  return 0;
}
