// The derivation of a number as a tree; --explain prints it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proto/report.pb.h"
#include "replay/economics/range.h"

namespace chakra::economics {

class Tree {
 public:
  // Adds `name`; the entries until Up() are its parts. `how`: "sum", "product" or a formula.
  void Down(std::string name, double value, std::string unit, std::string how) {
    Add(std::move(name), value, std::move(unit), std::move(how), "");
    ++depth_;
  }
  void Up() { --depth_; }
  void Leaf(std::string name, double value, std::string unit, std::string source) {
    Add(std::move(name), value, std::move(unit), "", std::move(source));
  }
  void Leaf(std::string name, const proto::Figure& f, std::string unit) {
    Leaf(std::move(name), f.value(), std::move(unit), f.source() + (f.date().empty() ? "" : ", " + f.date()));
  }
  const std::vector<proto::Explained>& lines() const { return lines_; }

 private:
  void Add(std::string name, double value, std::string unit, std::string how, std::string source) {
    proto::Explained& line = lines_.emplace_back();
    line.set_depth(depth_);
    line.set_name(std::move(name));
    line.set_value(value);
    line.set_unit(std::move(unit));
    line.set_how(std::move(how));
    line.set_source(std::move(source));
  }
  int depth_ = 0;
  std::vector<proto::Explained> lines_;
};

}  // namespace chakra::economics
