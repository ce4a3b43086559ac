#include "replay/cli/kernels/kernels_show.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "replay/cli/command.h"
#include "replay/cli/terminal.h"
#include "replay/cluster/devices.h"
#include "replay/compute/model/calls.h"
#include "replay/compute/model/predict.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"

namespace chakra::cli {
namespace {

// The sizes that are shown for an op: column names, and rows separated by semicolons.
struct Sizes {
  const char* op;
  const char* columns;
  const char* rows;
};

constexpr char kStreamBytes[] = "4096;65536;1048576;16777216;268435456;4294967296";
constexpr Sizes kSizes[] = {
    {"gemm", "m,n,k",
     "1,4096,4096;16,4096,4096;64,4096,4096;256,4096,4096;1024,4096,4096;4096,4096,4096;16384,4096,4096;"
     "512,512,512;1024,1024,1024;2048,2048,2048;8192,8192,8192;16384,16384,16384;"
     "16,16384,8192;4096,14336,4096;4096,4096,14336"},
    {"attention", "batch,seq,prefix,heads,kv_heads,head_dim",
     "1,1024,0,32,8,128;1,4096,0,32,8,128;1,16384,0,32,8,128;8,4096,0,32,8,128;"
     "1,1,4096,32,8,128;16,1,4096,32,8,128;128,1,4096,32,8,128;16,1,32768,32,8,128"},
    {"moe", "tokens,hidden,inter,topk,experts",
     "1,4096,1536,8,128;16,4096,1536,8,128;256,4096,1536,8,128;4096,4096,1536,8,128;"
     "16,4096,14336,2,8;1024,4096,14336,2,8;8192,4096,14336,2,8"},
    {"convolution", "batch,in,out,h,w,r,stride,pad",
     "32,3,64,224,224,7,2,3;32,64,64,56,56,3,1,1;32,128,128,28,28,3,1,1;32,256,256,14,14,3,1,1;"
     "32,512,512,7,7,3,1,1"},
};

Sizes SizesOf(const std::string& op) {
  for (const Sizes& s : kSizes) {
    if (op == s.op) return s;
  }
  return {"", "bytes", kStreamBytes};
}

double OperationsOf(const KernelCall& call) {
  if (const auto* g = std::get_if<GemmCall>(&call)) return 2 * g->batch * g->m * g->n * g->k;
  if (const auto* m = std::get_if<MoeCall>(&call)) {
    return 6 * m->tokens * m->topk * m->hidden * m->inter / m->tp / m->ep;  // gate, up and down
  }
  const auto* a = std::get_if<AttentionCall>(&call);
  if (a == nullptr) return 0;
  const double pairs = a->seq * (a->prefix + (a->causal ? (a->seq + 1) / 2 : a->seq));
  return 4 * a->batch * a->heads * pairs * a->head_dim;
}

std::string CallRate(const KernelCall& call, double us) {
  if (const auto* s = std::get_if<StreamCall>(&call))
    return absl::StrFormat("%.4g GB/s", s->bytes / us * 1e-3);
  return absl::StrFormat("%.4g TFLOP/s", OperationsOf(call) / us * 1e-6);
}

}  // namespace

absl::Status ShowKernelModel(const std::string& device_name, const std::string& op, const std::string& dtype,
                             const std::string& format) {
  std::vector<std::string> ops;
  for (const KernelOp& known : KernelOps()) ops.emplace_back(known.name);
  if (std::find(ops.begin(), ops.end(), op) == ops.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--op: there is no op \"", op, "\"", NearestOfKnown(op, ops)));
  }
  ASSIGN_OR_RETURN(const auto device, FindDevice(device_name));
  ASSIGN_OR_RETURN(const auto model, KernelModel::Create(device));
  const Sizes sizes = SizesOf(op);
  std::string csv = absl::StrCat("op,dtype,", sizes.columns, "\n");
  for (absl::string_view row : absl::StrSplit(sizes.rows, ';'))
    absl::StrAppend(&csv, op, ",", dtype, ",", row, "\n");
  ASSIGN_OR_RETURN(const auto rows, ReadKernelRows(csv, "--op " + op, device));
  if (format == "csv") {
    size_t refused = 0;
    return WriteOutput("-", PredictRows(model, rows, &refused));
  }
  std::vector<std::string> header = absl::StrSplit(sizes.columns, ',');
  for (const char* column : {"time", "at least", "at most", "rate"}) header.emplace_back(column);
  TextTable table(header, std::vector<bool>(header.size(), false));
  std::string from;
  for (size_t i = 0; i < rows.call.size(); ++i) {
    if (!rows.call[i].ok()) return rows.call[i].status();
    ASSIGN_OR_RETURN(const auto time, chakra::Predict(model, *rows.call[i]));
    std::vector<std::string> cells(rows.fields[i].begin() + 2, rows.fields[i].end());
    for (double us : {time.us, time.low_us, time.high_us}) cells.push_back(absl::StrFormat("%.4g us", us));
    cells.push_back(CallRate(*rows.call[i], time.us));
    table.Add(std::move(cells));
    from = time.from;
  }
  TextPage page = PageOf("-");
  return WriteOutput(
      "-", page.Finish(absl::StrCat(op, dtype.empty() ? "" : " in " + dtype, " on ", device.name(),
                                    ", by the kernel model (", from,
                                    "); 90 of 100 times lie between the bounds\n", table.Print(&page))));
}

}  // namespace chakra::cli
