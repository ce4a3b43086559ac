// Edits of a node's own values: duration, bytes, operations, delays, types, name, attributes.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "re2/re2.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/edit/operation.h"

namespace chakra::edit {
namespace {

constexpr double kMaxCount = 9.2e18;
constexpr absl::string_view kTimeFactor = "time_factor";

// Error if the result `v` is too large for the field.
absl::Status CheckMost(const Draft& draft, uint32_t r, absl::string_view what, double v, double most) {
  if (v <= most) return absl::OkStatus();
  return draft.Error(r, absl::StrCat(what, " would be ", v, ", expected at most ", most));
}

uint64_t Rounded(double v) { return static_cast<uint64_t>(std::llround(std::clamp(v, 0.0, kMaxCount))); }

// Applies an Adjustment to each match.
class Adjust : public Operation {
 public:
  explicit Adjust(const proto::Adjustment& change)
      : change_(change), only_factor_(change.has_factor() && !change.has_add()) {}
  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    for (const uint32_t r : matches) {
      RETURN_IF_ERROR(ApplyTo(draft, r, tally));
    }
    return absl::OkStatus();
  }

 protected:
  virtual absl::Status ApplyTo(Draft* draft, uint32_t r, Tally* tally) const = 0;
  Time Adjusted(Time t) const { return FromMicros(Changed(change_, static_cast<double>(t.picos()) * 1e-6)); }
  const proto::Adjustment change_;
  const bool only_factor_;
};

// Adjusts recorded times. A `factor` also changes times that are not recorded: for computation on devices, it
// sets `time_factor`, by which computed times are multiplied; for memory operations, it scales the bytes.
class Duration : public Adjust {
 public:
  using Adjust::Adjust;

 private:
  absl::Status ApplyTo(Draft* draft, uint32_t r, Tally* tally) const override {
    const Row& row = draft->row(r);
    const bool transfers = row.is_comm() && row.transfer != Time::Never();
    const bool timed = row.duration > Time::Zero() || transfers;
    const bool works = row.work.num_ops > 0 || row.work.tensor_bytes > 0 || !row.shapes.empty();
    const bool priced = row.type == NodeType::kComp && !row.cpu() && !row.kept_comm() &&
                        (works || row.duration > Time::Zero());
    const bool copied = row.is_memory() && row.work.tensor_bytes > 0;
    const Time longest = transfers ? std::max(row.duration, row.transfer) : row.duration;
    RETURN_IF_ERROR(CheckMost(*draft, r, "its duration in us",
                              Changed(change_, static_cast<double>(longest.picos()) * 1e-6), kMaxMicros));
    if (only_factor_ && !timed && !priced && !copied) {
      tally->Leave(row.is_comm() ? "communication without a recorded duration (`bytes` scales sizes)"
                                 : "no recorded duration, operations or bytes");
      return absl::OkStatus();
    }
    ++tally->scaled[PartOf(row)];
    if (timed || !only_factor_) SetTimes(draft, r);
    if (only_factor_ && priced && !timed)
      tally->notes.insert("without a recorded duration, computed times are multiplied by the factor");
    if (!only_factor_ && priced && works)
      tally->notes.insert(
          "only recorded durations changed: other time sources do not (replay with --compute recorded)");
    if (!only_factor_) return absl::OkStatus();
    return priced ? ScalePrice(draft, r) : copied ? ScaleBytes(draft, r) : absl::OkStatus();
  }
  // Returns the index of the row's part in kScaled.
  static size_t PartOf(const Row& row) {
    return row.cpu() ? 0 : row.copies() ? 3 : row.is_comm() || row.kept_comm() ? 2 : 1;
  }
  void SetTimes(Draft* draft, uint32_t r) const {
    const Row& row = draft->row(r);
    const Time now = Adjusted(row.duration);
    if (now != row.duration) draft->SetDuration(r, now);
    if (!row.is_comm() || row.transfer == Time::Never()) return;
    if (const Time t = Adjusted(row.transfer); t != row.transfer) draft->SetTransfer(r, t);
  }
  absl::Status ScalePrice(Draft* draft, uint32_t r) const {
    Attribute a;
    double old = 1;
    if (draft->Attr(r, kTimeFactor, &a) && !AttributeNumber(a, &old)) old = 1;
    const double now = old * change_.factor();
    RETURN_IF_ERROR(CheckMost(*draft, r, "its time_factor", now, kMostTimeFactor));
    const absl::string_view body = draft->row(r).body;
    if (now == old) return absl::OkStatus();
    draft->SetBody(r, now == 1 ? WithoutAttribute(body, kNodeAttr, kTimeFactor)
                               : WithReal(body, kNodeAttr, kTimeFactor, now));
    return absl::OkStatus();
  }
  absl::Status ScaleBytes(Draft* draft, uint32_t r) const {
    const uint64_t old = draft->row(r).work.tensor_bytes;
    const double now = Changed(change_, static_cast<double>(old));
    RETURN_IF_ERROR(CheckMost(*draft, r, "its size", now, kMaxCount));
    if (Rounded(now) != old) draft->SetBytes(r, Rounded(now));
    return absl::OkStatus();
  }
};

class Bytes : public Adjust {
 public:
  using Adjust::Adjust;

 private:
  absl::Status ApplyTo(Draft* draft, uint32_t r, Tally* tally) const override {
    const Row& row = draft->row(r);
    if (!change_.has_set() && row.bytes() == 0) {
      if (!change_.has_add()) {
        tally->Leave("no bytes");
        return absl::OkStatus();
      }
    }
    const double value = Changed(change_, static_cast<double>(row.bytes()));
    RETURN_IF_ERROR(CheckMost(*draft, r, "its size", value, kMaxCount));
    if (Rounded(value) != row.bytes()) draft->SetBytes(r, Rounded(value));
    return absl::OkStatus();
  }
};

class OperationCount : public Adjust {
 public:
  using Adjust::Adjust;

 private:
  absl::Status ApplyTo(Draft* draft, uint32_t r, Tally* tally) const override {
    const Row& row = draft->row(r);
    if (row.is_comm() || (!row.work.has_num_ops && !change_.has_set() && !change_.has_add())) {
      tally->Leave("communication, or no operations");
      return absl::OkStatus();
    }
    const double value = Changed(change_, static_cast<double>(row.work.num_ops));
    RETURN_IF_ERROR(CheckMost(*draft, r, "its operations", value, kMaxCount));
    const auto now = static_cast<int64_t>(Rounded(value));
    if (now != row.work.num_ops) draft->SetOperations(r, now);
    return absl::OkStatus();
  }
};

class Delay : public Adjust {
 public:
  using Adjust::Adjust;

 private:
  absl::Status ApplyTo(Draft* draft, uint32_t r, Tally* tally) const override {
    bool delayed = false;
    for (size_t i = 0; i < draft->deps(r).size(); ++i) {
      const Dep& d = draft->deps(r)[i];
      if (d.row == kNoRow) continue;
      delayed = delayed || d.delay_ns != 0 || !only_factor_;
      draft->SetDelay(r, i,
                      FromMicros(Changed(change_, static_cast<double>(d.delay_ns) * 1e-3)).picos() / 1000);
    }
    if (!delayed) tally->Leave("no delay after a dependency");
    return absl::OkStatus();
  }
};

struct Element {
  const char* name;
  double bytes;
  const char* tensor;             // name that PyTorch's observer writes
  std::vector<std::string> comm;  // names in comm_dtype; edits write the first
};
const std::vector<Element>& Elements() {
  static const auto* elements = new std::vector<Element>{
      {"fp64", 8, "Tensor(double)", {"Double", "double", "float64"}},
      {"fp32", 4, "Tensor(float)", {"Float", "float", "float32"}},
      {"tf32", 4, "Tensor(float)", {"Float", "float"}},
      {"fp16", 2, "Tensor(c10::Half)", {"Half", "half", "float16"}},
      {"bf16", 2, "Tensor(c10::BFloat16)", {"BFloat16", "bfloat16"}},
      {"fp8", 1, "Tensor(c10::Float8_e4m3fn)", {"Float8_e4m3fn", "float8_e4m3fn"}},
      {"int8", 1, "Tensor(signed char)", {"Char", "int8"}},
  };
  return *elements;
}
absl::StatusOr<const Element*> FindElement(const std::string& name) {
  std::vector<std::string> known;
  for (const Element& e : Elements()) {
    if (name == e.name) return &e;
    known.emplace_back(e.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown element type \"", name, "\"", SuggestName(name, known)));
}

// Changes the element type of nodes: type texts, and sizes in proportion.
class DtypeEdit : public Operation {
 public:
  DtypeEdit(const proto::Dtype& spec, const Element* to, const Element* from)
      : spec_(spec), to_(*to), from_(from) {}
  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    for (const uint32_t r : matches) {
      const Element* old = Old(*draft, r);
      if (old == nullptr || (from_ != nullptr && old != from_ && std::string(from_->name) != "tf32")) {
        tally->Leave("of another or an unknown element type");
        continue;
      }
      Retype(draft, r, *old);
      if (!spec_.keep_bytes() && draft->row(r).bytes() > 0 && old->bytes != to_.bytes)
        draft->SetBytes(r, Rounded(static_cast<double>(draft->row(r).bytes()) * to_.bytes / old->bytes));
      const Row& row = draft->row(r);
      if (spec_.time_factor() > 0 && row.type == NodeType::kComp && !row.kept_comm() &&
          row.duration > Time::Zero())
        draft->SetDuration(
            r, FromMicros(static_cast<double>(row.duration.picos()) * 1e-6 * spec_.time_factor()));
    }
    return absl::OkStatus();
  }

 private:
  const Element* Old(const Draft& draft, uint32_t r) const {
    const Row& row = draft.row(r);
    Attribute a;
    if (draft.Attr(r, "comm_dtype", &a)) {
      const std::string text = AttributeText(a);
      for (const Element& e : Elements()) {
        if (std::find(e.comm.begin(), e.comm.end(), text) != e.comm.end()) return &e;
      }
      return nullptr;
    }
    size_t first = absl::string_view::npos;
    const Element* found = nullptr;
    for (const Element& e : Elements()) {  // the first tensor with a known element type decides
      const size_t at = row.types.find(e.tensor);
      if (at < first) {
        first = at;
        found = &e;
      }
    }
    return row.types.empty() ? from_ : found;
  }

  void Retype(Draft* draft, uint32_t r, const Element& old) const {
    const Row row = draft->row(r);
    Attribute a;
    if (draft->Attr(r, "comm_dtype", &a))
      draft->SetBody(r, WithString(row.body, kNodeAttr, "comm_dtype", to_.comm.front()));
    if (absl::StrContains(row.types, old.tensor))
      draft->SetInputs(r, row.shapes, absl::StrReplaceAll(row.types, {{old.tensor, to_.tensor}}));
  }

  const proto::Dtype spec_;
  const Element& to_;
  const Element* from_;
};

class RenameEdit : public Operation {
 public:
  RenameEdit(const proto::Rename& spec, std::unique_ptr<re2::RE2> pattern)
      : spec_(spec), pattern_(std::move(pattern)) {}
  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    for (const uint32_t r : matches) {
      std::string name(draft->row(r).name);
      if (!re2::RE2::Replace(&name, *pattern_, spec_.to())) tally->Leave("`pattern` is not in the name");
      if (name != draft->row(r).name) draft->SetName(r, name);
    }
    return absl::OkStatus();
  }

 private:
  const proto::Rename spec_;
  const std::unique_ptr<re2::RE2> pattern_;
};

class AttributeEdit : public Operation {
 public:
  explicit AttributeEdit(const proto::SetAttribute& spec) : spec_(spec) {}
  bool needs_shape() const override { return NamesOthers(spec_); }
  absl::Status Check(const SetShape& shape, const std::string& where) const override {
    return CheckInSet(spec_, shape, where);
  }
  absl::Status Apply(Draft* draft, const std::vector<uint32_t>& matches, Tally* tally) const override {
    Attribute a;
    for (const uint32_t r : matches) {
      if (!spec_.drop() || draft->Attr(r, spec_.name(), &a))
        ApplyAttribute(draft, r, spec_);
      else
        tally->Leave("no such attribute");
    }
    return absl::OkStatus();
  }

 private:
  const proto::SetAttribute spec_;
};

template <typename Op>
absl::StatusOr<AnyOperation> MakeAdjustment(const proto::Adjustment& change, const std::string& where) {
  RETURN_IF_ERROR(CheckAdjustment(change, where));
  return OnRank<Op>(change);
}

}  // namespace

absl::StatusOr<AnyOperation> MakeDuration(const proto::Edit& edit, const std::string& where) {
  return MakeAdjustment<Duration>(edit.duration(), where);
}
absl::StatusOr<AnyOperation> MakeBytes(const proto::Edit& edit, const std::string& where) {
  return MakeAdjustment<Bytes>(edit.bytes(), where);
}
absl::StatusOr<AnyOperation> MakeWork(const proto::Edit& edit, const std::string& where) {
  return MakeAdjustment<OperationCount>(edit.operations(), where);
}
absl::StatusOr<AnyOperation> MakeDelay(const proto::Edit& edit, const std::string& where) {
  return MakeAdjustment<Delay>(edit.delay(), where);
}

absl::StatusOr<AnyOperation> MakeDtype(const proto::Edit& edit, const std::string& where) {
  const proto::Dtype& spec = edit.dtype();
  absl::StatusOr<const Element*> to = FindElement(spec.to());
  if (!to.ok()) return BadField(where, "to", to.status().message());
  const Element* from = nullptr;
  if (!spec.from().empty()) {
    absl::StatusOr<const Element*> found = FindElement(spec.from());
    if (!found.ok()) return BadField(where, "from", found.status().message());
    from = *found;
  }
  if (!(spec.time_factor() >= 0) || !std::isfinite(spec.time_factor()))
    return BadField(where, "time_factor", absl::StrCat(spec.time_factor(), ", expected above 0"));
  return OnRank<DtypeEdit>(spec, *to, from);
}

absl::StatusOr<AnyOperation> MakeRename(const proto::Edit& edit, const std::string& where) {
  const proto::Rename& spec = edit.rename();
  if (spec.to().empty()) return BadField(where, "to", "empty, expected a name");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  auto pattern = std::make_unique<re2::RE2>(spec.pattern().empty() ? "^(?s:.*)$" : spec.pattern(), options);
  if (!pattern->ok())
    return BadField(where, "pattern",
                    absl::StrCat("\"", spec.pattern(), "\" is not a regular expression: ", pattern->error()));
  std::string error;
  if (!pattern->CheckRewriteString(spec.to(), &error)) return BadField(where, "to", error);
  return OnRank<RenameEdit>(spec, std::move(pattern));
}

absl::StatusOr<AnyOperation> MakeAttribute(const proto::Edit& edit, const std::string& where) {
  RETURN_IF_ERROR(CheckAttribute(edit.attribute(), where));
  return OnRank<AttributeEdit>(edit.attribute());
}

}  // namespace chakra::edit
