// Expressions and templates of sweeps: any text gives a finite value or an error that names a column.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "replay/sweep/expression.h"
#include "replay/sweep/words.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"

FUZZ_TARGET(sweep_expression_fuzz, data, size) {
  using chakra::fuzz::Require;
  using chakra::sweep::Expression;
  using chakra::sweep::Value;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const chakra::sweep::Lookup lookup = [](const std::string& name) -> std::optional<Value> {
    if (name == "a") return Value(3.0);
    if (name == "s") return Value(std::string("torus"));
    return std::nullopt;
  };
  if (auto e = Expression::Parse(text); e.ok()) {
    const auto value = e->Evaluate(lookup);
    if (!value.ok()) {
      Require(absl::StartsWith(value.status().message(), "column "), "an error names its column");
    } else if (const auto* number = std::get_if<double>(&*value)) {
      Require(std::isfinite(*number), "a value is finite");
      const auto again = Expression::Parse(chakra::sweep::ToText(std::fabs(*number)));
      Require(again.ok() && again->EvaluateNumber(lookup).value() == std::fabs(*number),
              "its text reads back");
    }
  } else {
    Require(absl::StartsWith(e.status().message(), "column "), "an error names its column");
  }
  const auto words = chakra::sweep::SplitWords(text);
  if (!words.ok()) return 0;
  for (const std::string& word : *words) {
    const bool parses = chakra::sweep::ParseTemplate(word).ok();
    Require(parses || !chakra::sweep::FillIn(word, lookup).ok(), "what does not parse is not filled in");
  }
  return 0;
}
