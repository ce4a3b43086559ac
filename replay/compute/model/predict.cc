#include "replay/compute/model/predict.h"

#include <cmath>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "replay/compute/device_rates.h"
#include "trace/base/did_you_mean.h"
#include "trace/io/csv.h"

namespace chakra {
namespace {

// A row, by the names of its columns. Keeps the first error.
class Fields {
 public:
  Fields(const std::map<std::string, size_t>& columns, const std::vector<std::string>& fields,
         std::string where, absl::string_view default_dtype)
      : columns_(columns), fields_(fields), where_(std::move(where)), default_dtype_(default_dtype) {}

  // "" if there is no such column or the cell is empty.
  absl::string_view Text(const std::string& column) const {
    const auto at = columns_.find(column);
    return at == columns_.end() || at->second >= fields_.size() ? "" : absl::string_view(fields_[at->second]);
  }
  double Need(const std::string& column) {
    if (!Text(column).empty()) return Number(column, 0);
    Wrong(absl::StrCat("no ", column, "; expected a number"));
    return 0;
  }
  double Number(const std::string& column, double otherwise) {
    const absl::string_view text = Text(column);
    if (text.empty()) return otherwise;
    double value = 0;
    if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
      Wrong(absl::StrCat(column, " is \"", text, "\"; expected a number"));
    }
    return value;
  }
  bool Truth(const std::string& column, bool otherwise) {
    const absl::string_view text = Text(column);
    if (text.empty()) return otherwise;
    bool value = otherwise;
    if (!absl::SimpleAtob(text, &value))
      Wrong(absl::StrCat(column, " is \"", text, "\"; expected yes or no"));
    return value;
  }
  KernelDtype Dtype(const std::string& column, absl::string_view otherwise) {
    const absl::string_view text = Text(column);
    const absl::StatusOr<KernelDtype> dtype = ParseKernelDtype(text.empty() ? otherwise : text);
    if (!dtype.ok()) Wrong(absl::StrCat(column, ": ", dtype.status().message()));
    return dtype.value_or(KernelDtype::kBf16);
  }
  KernelDtype Dtype() { return Dtype("dtype", default_dtype_); }
  void Wrong(absl::string_view what) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(where_, ": ", what));
  }
  const absl::Status& status() const { return status_; }

 private:
  const std::map<std::string, size_t>& columns_;
  const std::vector<std::string>& fields_;
  const std::string where_;
  const absl::string_view default_dtype_;
  absl::Status status_;
};

KernelCall Gemm(Fields& f) {
  return GemmCall{f.Dtype(),   f.Number("batch", 1), f.Need("m"),
                  f.Need("n"), f.Need("k"),          f.Text("kernel") == "cublas"};
}

KernelCall AskedAttention(Fields& f) {
  AttentionCall call;
  call.dtype = f.Dtype();
  call.kv_dtype = f.Dtype("kv_dtype", Name(call.dtype));
  call.batch = f.Number("batch", 1);
  call.seq = f.Need("seq");
  call.prefix = f.Number("prefix", 0);
  call.heads = f.Need("heads");
  call.kv_heads = f.Number("kv_heads", call.heads);
  call.head_dim = f.Need("head_dim");
  call.window = f.Number("window", 0);
  call.causal = f.Truth("causal", true);
  call.backward = f.Truth("backward", false);
  call.kernel = KnownAttentionKernel(f.Text("kernel"));
  return call;
}

KernelCall Moe(Fields& f) {
  MoeCall call = {f.Dtype(),      f.Need("tokens"),  f.Need("hidden"),  f.Need("inter"),
                  f.Need("topk"), f.Need("experts"), f.Number("tp", 1), f.Number("ep", 1)};
  const absl::string_view spread = f.Text("distribution");
  if (absl::StartsWith(spread, "power_law_")) {
    if (!absl::SimpleAtod(spread.substr(10), &call.power_law)) {
      f.Wrong(absl::StrCat("distribution is \"", spread, "\"; expected power_law_EXPONENT"));
    }
  } else if (!spread.empty() && spread != "balanced") {
    f.Wrong(absl::StrCat("distribution is \"", spread, "\"; expected balanced or power_law_EXPONENT"));
  }
  return call;
}

// A convolution as a GEMM: rows are pixels of the output, columns its channels.
KernelCall AskedConvolution(Fields& f) {
  const double stride = f.Number("stride", 1), pad = f.Number("pad", 0), r = f.Need("r"),
               s = f.Number("s", r);
  if (!(stride >= 1)) f.Wrong("stride is below 1");
  const auto places = [&](double side, double taps) {
    return std::floor((side + 2 * pad - taps) / stride) + 1;
  };
  return GemmCall{f.Dtype(), f.Number("groups", 1),
                  f.Number("batch", 1) * places(f.Need("h"), r) * places(f.Need("w"), s),
                  f.Need("out") / f.Number("groups", 1), f.Need("in") / f.Number("groups", 1) * r * s};
}

template <StreamKind kind>
KernelCall Stream(Fields& f) {
  return StreamCall{kind, f.Need("bytes"), f.Number("operations", 0)};
}

struct Op {
  KernelOp op;
  KernelCall (*read)(Fields&);
};

// A line for each op that rows may name.
constexpr char kStreamNeeds[] = "bytes", kStreamMay[] = "operations";
constexpr Op kOps[] = {
    {{"gemm", "m,n,k", "dtype,batch,kernel"}, Gemm},
    {{"attention", "seq,heads,head_dim",
      "dtype,kv_dtype,batch,prefix,kv_heads,window,causal,backward,kernel"},
     AskedAttention},
    {{"moe", "tokens,hidden,inter,topk,experts", "dtype,tp,ep,distribution"}, Moe},
    {{"convolution", "in,out,h,w,r", "dtype,batch,s,stride,pad,groups"}, AskedConvolution},
    {{"elementwise", kStreamNeeds, kStreamMay}, Stream<StreamKind::kElementwise>},
    {{"reduction", kStreamNeeds, kStreamMay}, Stream<StreamKind::kReduction>},
    {{"norm", kStreamNeeds, kStreamMay}, Stream<StreamKind::kNorm>},
    {{"copy", kStreamNeeds, kStreamMay}, Stream<StreamKind::kCopy>},
    {{"transpose", kStreamNeeds, kStreamMay}, Stream<StreamKind::kTranspose>},
    {{"gather", kStreamNeeds, kStreamMay}, Stream<StreamKind::kGather>},
    {{"optimizer", kStreamNeeds, kStreamMay}, Stream<StreamKind::kOptimizer>},
    {{"scan", kStreamNeeds, kStreamMay}, Stream<StreamKind::kScan>},
};

absl::StatusOr<KernelCall> ReadCall(Fields& fields, absl::string_view name) {
  std::vector<std::string> names;
  for (const Op& op : kOps) {
    names.emplace_back(op.op.name);
    if (name != op.op.name) continue;
    KernelCall call = op.read(fields);
    if (!fields.status().ok()) return fields.status();
    return call;
  }
  fields.Wrong(absl::StrCat("op is \"", name, "\"", NearestOfKnown(name, names)));
  return fields.status();
}

}  // namespace

std::vector<KernelOp> KernelOps() {
  std::vector<KernelOp> out;
  for (const Op& op : kOps) out.push_back(op.op);
  return out;
}

absl::StatusOr<ModelledTime> Predict(const KernelModel& model, const KernelCall& call) {
  struct Ask {
    const KernelModel& model;
    absl::StatusOr<ModelledTime> operator()(const GemmCall& c) const { return model.Gemm(c); }
    absl::StatusOr<ModelledTime> operator()(const AttentionCall& c) const { return model.Attention(c); }
    absl::StatusOr<ModelledTime> operator()(const MoeCall& c) const { return model.Moe(c); }
    absl::StatusOr<ModelledTime> operator()(const StreamCall& c) const { return model.Stream(c); }
  };
  return std::visit(Ask{model}, call);
}

absl::StatusOr<KernelRows> ReadKernelRows(absl::string_view content, const std::string& name,
                                          const proto::Device& device, absl::string_view op) {
  KernelRows rows;
  CsvReader reader(content, name, CsvReader::Fields::kTrimmed);
  absl::StatusOr<bool> more = reader.Next(&rows.header);
  if (!more.ok()) return more.status();
  std::map<std::string, size_t> columns;
  for (size_t i = 0; i < rows.header.size(); ++i) columns.emplace(rows.header[i], i);
  if (op.empty() && columns.count("op") == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": the header has no column op; expected CSV with a header such as ", "op,dtype,m,n,k"));
  }
  const std::string dtype = DefaultDtype(device);
  std::vector<std::string> fields;
  while ((more = reader.Next(&fields)).ok() && *more) {
    Fields row(columns, fields, absl::StrCat("line ", reader.line()), dtype);
    double measured = 0;
    for (const char* column : {"measured_us", "latency_us", "time_us"}) {
      if (measured == 0) (void)absl::SimpleAtod(row.Text(column), &measured);
    }
    rows.call.push_back(ReadCall(row, op.empty() ? row.Text("op") : op));
    rows.fields.push_back(fields);
    rows.measured_us.push_back(std::isfinite(measured) ? measured : 0);
  }
  if (!more.ok()) return more.status();
  return rows;
}

std::string PredictRows(const KernelModel& model, const KernelRows& rows, size_t* refused) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& fields, size_t width) {
    for (size_t i = 0; i < width; ++i)
      absl::StrAppend(&out, i < fields.size() ? CsvField(fields[i]) : "", ",");
  };
  line(rows.header, rows.header.size());
  absl::StrAppend(&out, "time_us,low_us,high_us,from\n");
  *refused = 0;
  for (size_t i = 0; i < rows.call.size(); ++i) {
    line(rows.fields[i], rows.header.size());
    absl::StatusOr<ModelledTime> time =
        rows.call[i].ok() ? Predict(model, *rows.call[i]) : rows.call[i].status();
    if (time.ok()) {
      absl::StrAppendFormat(&out, "%.6g,%.6g,%.6g,%s\n", time->us, time->low_us, time->high_us, time->from);
    } else {
      ++*refused;
      absl::StrAppend(&out, ",,,", CsvField(absl::StrCat("refused: ", time.status().message())), "\n");
    }
  }
  return out;
}

}  // namespace chakra
