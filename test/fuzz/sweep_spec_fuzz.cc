// Specs of sweeps: the points of an accepted spec give commands, and errors name the field.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "replay/sweep/space.h"
#include "replay/sweep/spec.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/io/proto_io.h"

FUZZ_TARGET(sweep_spec_fuzz, data, size) {
  using chakra::fuzz::Require;
  chakra::sweep::Spec spec;
  spec.source = "spec";
  spec.text.assign(reinterpret_cast<const char*>(data), size);
  if (!chakra::ParseMessage(spec.text, spec.source, &spec.sweep).ok()) return 0;
  // Limits for the fuzzing machine, not limits of sweeps.
  spec.sweep.set_max_points(std::clamp<uint64_t>(spec.sweep.max_points(), 1, 200));
  const auto small = [](auto& self, auto* holder) -> void {
    for (auto& axis : *holder->mutable_axis()) {
      if (axis.range().steps() > 1000) axis.mutable_range()->set_steps(1000);
      if (axis.range().step() != 0) axis.clear_range();
    }
    for (auto& group : *holder->mutable_group()) self(self, &group);
  };
  small(small, &spec.sweep);
  const auto space = chakra::sweep::Space::Make(spec.sweep);
  if (!space.ok()) {
    Require(chakra::sweep::InSpec(spec, space.status()).message().find("spec:") == 0,
            "an error names the file");
    return 0;
  }
  Require(space->points().size() <= 200, "no more points than max_points");
  for (const auto& place : space->points()) {
    Require(place.size() == space->axes().size(), "a point has a value of each axis");
    for (size_t a = 0; a < place.size(); ++a)
      Require(place[a] < space->axes()[a].values.size(), "it is one of the axis");
    (void)space->Words(place);  // expressions may divide by 0
  }
  return 0;
}
