// Rules by which the registry of operators (operator_work.cc) counts operations and bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "replay/compute/operators/operands.h"
#include "replay/compute/operators/operator_work.h"

namespace chakra::operator_rules {

// The operands of one call, with accessors for the rules below.
class Call {
 public:
  Call(const std::vector<Operand>& operands, int unknown) : operands_(operands), unknown_(unknown) {}

  size_t size() const { return operands_.size(); }

  // The shape of operand i; null if operand i is not a tensor of at least `rank` dimensions.
  const Shape* Tensor(size_t i, size_t rank = 0) const {
    if (i >= operands_.size() || !operands_[i].tensor()) return nullptr;
    const Shape& shape = operands_[i].shapes[0];
    return shape.size() >= rank ? &shape : nullptr;
  }

  // The elements of operand i; for a list, of all its tensors.
  double Count(size_t i) const {
    double n = 0;
    if (i >= operands_.size()) return n;
    for (const Shape& s : operands_[i].shapes) n += Elements(s);
    return n;
  }

  // The bytes of an element of operand i; if unknown, those of the first operand whose element size is known.
  double ElementBytes(size_t i) const {
    if (i < operands_.size() && operands_[i].element_bytes > 0) return operands_[i].element_bytes;
    for (const Operand& o : operands_) {
      if (!o.shapes.empty() && o.element_bytes > 0) return o.element_bytes;
    }
    return unknown_;
  }

  double Bytes(size_t i) const { return Count(i) * ElementBytes(i); }

  // The numbers of 4 bits that an element of operand i is a pair of; 1 for other types.
  double Packed(size_t i) const { return i < operands_.size() && operands_[i].dtype == "fp4" ? 2 : 1; }

  // The index of the first operand that is a tensor or a list of tensors; size(): none.
  size_t First() const {
    size_t i = 0;
    while (i < operands_.size() && operands_[i].shapes.empty()) ++i;
    return i;
  }

  // The bytes of all operands that are tensors.
  double AllBytes() const {
    double sum = 0;
    for (size_t i = 0; i < operands_.size(); ++i) sum += Bytes(i);
    return sum;
  }

 private:
  const std::vector<Operand>& operands_;
  const int unknown_;
};

// The work of a call. nullopt: the operands do not fit the rule.
using Work = std::optional<OperatorWork>;

Work Mm(const Call& call);
Work Addmm(const Call& call);
Work Bmm(const Call& call);
Work Baddbmm(const Call& call);
Work Linear(const Call& call);
Work Matmul(const Call& call);
Work Mv(const Call& call);
Work Convolution(const Call& call);
Work ConvolutionBackward(const Call& call);
Work Sdpa(const Call& call);
Work SdpaLengthFirst(const Call& call);
Work SdpaBackward(const Call& call);
Work SdpaLengthFirstBackward(const Call& call);
Work Elementwise(const Call& call);
Work Softmax(const Call& call);
Work Normalize(const Call& call);
Work Copy(const Call& call);
Work Fill(const Call& call);
Work Concatenate(const Call& call);
Work Reduce(const Call& call);
Work Embedding(const Call& call);
Work EmbeddingBackward(const Call& call);
Work Gather(const Call& call);
Work FusedAdam(const Call& call);
Work FusedSgd(const Call& call);
Work Foreach(const Call& call);

}  // namespace chakra::operator_rules
