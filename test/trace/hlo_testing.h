// Helpers of the tests of HLO: a module and its step from text, or a failure with the reason.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "trace/import/hlo/module.h"
#include "trace/import/hlo/step.h"
#include "trace/import/hlo/text_reader.h"

namespace chakra::hlo {

inline Module ModuleOf(const std::string& text) {
  auto module = ReadHloText(text, "step.txt");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : Module();
}

inline Step StepOf(const Module& module) {
  auto step = BuildStep(module, "step.txt");
  EXPECT_TRUE(step.ok()) << step.status();
  return step.ok() ? *std::move(step) : Step();
}

}  // namespace chakra::hlo
