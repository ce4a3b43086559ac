// JSON traces: any bytes give a trace or an error.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_target.h"
#include "trace/import/json/json.h"
#include "trace/import/text/text.h"

FUZZ_TARGET(json_fuzz, data, size) {
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  (void)chakra::EtFromJson(content, "fuzz.json");
  (void)chakra::EtFromText(content, "fuzz.txt");
  return 0;
}
