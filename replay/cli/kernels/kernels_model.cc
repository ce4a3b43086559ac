#include "replay/cli/kernels/kernels_model.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "replay/cli/command.h"
#include "replay/cli/output.h"
#include "replay/cli/terminal.h"
#include "replay/cluster/devices.h"
#include "replay/compute/model/calibrate.h"
#include "replay/compute/model/predict.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/io/file.h"
#include "trace/io/proto_io.h"

namespace chakra::cli {
namespace {

std::string OpsHelp() {
  std::string out = "Columns of each op; those in brackets have defaults:";
  for (const KernelOp& op : KernelOps())
    absl::StrAppend(&out, "\n", op.name, ": ", op.needs, " [", absl::StrReplaceAll(op.may, {{",", ", "}}),
                    "]");
  return out;
}

}  // namespace

KernelModelActions::KernelModelActions(CLI::App* app)
    : predict_(app->add_subcommand("predict", "Predict the times of kernels by the kernel model")),
      calibrate_(
          app->add_subcommand("calibrate", "Fit the kernel model to a device by some of its measurements")) {
  for (CLI::App* sub : {predict_, calibrate_}) {
    sub->add_option("ROWS", input_, "CSV with a column op and the columns of the op; - is standard input.")
        ->type_name("");
    sub->add_option("--device", device_,
                    "Device: a name (H100, A100-PCIe-40GB, ...), a cluster preset or a cluster file.")
        ->type_name("DEVICE");
    sub->footer(OpsHelp());
  }
  predict_
      ->add_option("-o,--output", output_,
                   "Write the rows with time_us, low_us, high_us and from to CSV; default: standard output. "
                   "90 of 100 times lie "
                   "from low_us to high_us.")
      ->type_name("CSV");
  calibrate_
      ->add_option("-o,--output", output_,
                   "Write the device for a cluster file, in text format; default: standard output.")
      ->type_name("FILE");
}

std::string KernelModelActions::Wrong() const {
  const std::string name = predict_->parsed() ? "kernels predict" : "kernels calibrate";
  if (input_.empty()) return name + " expects ROWS, a CSV file";
  if (device_.empty()) return name + " expects --device DEVICE";
  return "";
}

absl::Status KernelModelActions::Run() const {
  ASSIGN_OR_RETURN(std::string content, ReadFile(input_ == "-" ? "/dev/stdin" : input_));
  ASSIGN_OR_RETURN(const auto device, FindDevice(device_));
  ASSIGN_OR_RETURN(const auto rows, ReadKernelRows(content, input_, device));
  return predict_->parsed() ? Predict(device, rows) : Calibrate(device, rows);
}

absl::Status KernelModelActions::Predict(const proto::Device& device, const KernelRows& rows) const {
  ASSIGN_OR_RETURN(const auto model, KernelModel::Create(device));
  size_t refused = 0;
  const std::string out = PredictRows(model, rows, &refused);
  if (refused > 0) {
    PrintError(absl::StrCat("warning: ", FormatCount(refused), " of ", FormatCount(rows.call.size()),
                            " rows are refused; column from says why"));
  }
  return WriteOutput(output_, out);
}

absl::Status KernelModelActions::Calibrate(const proto::Device& device, const KernelRows& rows) const {
  const auto moved = CalibrateDevice(device, rows);
  if (!moved.ok())
    return absl::Status(moved.status().code(), absl::StrCat(input_, ": ", moved.status().message()));
  const proto::KernelScale& s = moved->kernel_scale();
  PrintError(absl::StrFormat("%s, by %d rows: start x %.3g, share of peak x %.3g, share of memory x %.3g",
                             device.name(), s.rows(), s.start(), s.peak_share(), s.memory_share()));
  proto::Cluster cluster;
  *cluster.mutable_device() = *moved;
  const auto text = FormatMessage(cluster, MessageFormat::kText);
  return text.ok() ? WriteOutput(output_, *text) : text.status();
}

}  // namespace chakra::cli
