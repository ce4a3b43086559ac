#include "replay/cli/convert_pytorch.h"

#include <filesystem>
#include <iostream>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/cli/command.h"
#include "replay/cli/message_options.h"
#include "replay/cli/on_signal.h"
#include "replay/cli/terminal.h"
#include "trace/base/status_macros.h"
#include "trace/base/threads.h"
#include "trace/import/pytorch/read_capture.h"
#include "trace/import/replaced.h"
#include "trace/io/proto_io.h"
#include "trace/io/whole_folder.h"

namespace chakra::cli {

namespace fs = std::filesystem;

PytorchOptions::PytorchOptions(CLI::App* app) : app_(app) {
  app->allow_extras();
  app->add_option("CAPTURE", inputs_,
                  "Folder of PyTorch profiles, or their files. Host and device traces are paired by rank.")
      ->type_name("");
  app->add_option("-o,--output", output_,
                  "Folder for the traces (OUT/capture.N.et), or prefix of their names (OUT.N.et).")
      ->type_name("OUT");
  app->add_option(
         "--compression", compression_,
         "Compression: none, gzip or zstd; default: none. Every Chakra reader takes uncompressed traces.")
      ->type_name("METHOD")
      ->check(OneOf({"none", "gzip", "zstd"}));
  app->add_option("--report", report_,
                  "Write the conversion report to FILE too: text format, or JSON if it ends in .json.")
      ->type_name("FILE");
  AddGroupsOption(app, &read_);
  app->add_flag("--strict", read_.strict,
                "Refuse inputs that would otherwise be repaired, left out or guessed.");
  app->add_option("--threads", read_.threads,
                  "Number of threads; default: the machine's cores. The result does not depend on it.")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
  app->add_flag("-q,--quiet", quiet_, "Print no conversion report.");
  AddCaptureOptions(app, &read_);
  read_.threads = DefaultThreads();
  app->footer(
      "Examples:\n"
      "  chakra-replay convert pytorch examples/capture/gloo_ddp_2 -o step\n"
      "  chakra-replay convert pytorch --host et.json --device kineto.json.gz --steps 7 -o step");
}

std::string PytorchOptions::Missing() const {
  const bool pair = !read_.capture.host.empty() || !read_.capture.device.empty();
  if (inputs_.empty() && !pair) return "convert pytorch expects a CAPTURE, or --host FILE and --device FILE";
  if (!inputs_.empty() && pair) return "convert pytorch expects a CAPTURE or --host and --device, not both";
  if (output_.empty()) return "convert pytorch expects -o OUT";
  return "";
}

absl::Status PytorchOptions::Prefix(size_t ranks, std::string* prefix) const {
  std::error_code ignored, error;
  *prefix = output_;
  if (fs::is_directory(output_, ignored) || absl::EndsWith(output_, "/")) {
    fs::create_directories(output_, error);
    *prefix = (fs::path(output_) / "capture").string();
  } else if (ranks > 1 && absl::EndsWith(output_, ".et")) {
    return absl::InvalidArgumentError(
        absl::StrCat("-o ", output_, ": ", ranks, " ranks make ", ranks,
                     " files; expected a folder, or what their names begin with"));
  } else {
    const fs::path folder = fs::path(output_).parent_path();
    if (!folder.empty()) fs::create_directories(folder, error);
  }
  if (error)
    return absl::InvalidArgumentError(
        absl::StrCat("cannot make the folder of ", output_, ": ", error.message()));
  return absl::OkStatus();
}

absl::Status PytorchOptions::Run() const {
  ASSIGN_OR_RETURN(pytorch::Capture capture, pytorch::ReadCapture(inputs_, read_));
  capture.report.set_version(CHAKRA_VERSION);
  std::string prefix;
  RETURN_IF_ERROR(Prefix(capture.ranks.size(), &prefix));
  const std::string suffix = compression_ == "gzip" ? ".gz" : compression_ == "zstd" ? ".zst" : "";
  WholeFolder folder;
  const OnSignal discard([&] { folder.Discard(); });
  RETURN_IF_ERROR(folder.Open(prefix));
  const std::string name = fs::path(prefix).filename().string();
  RETURN_IF_ERROR(pytorch::WriteCapture(std::move(capture), folder.PathOf(name), suffix));
  std::vector<std::string> files;
  for (size_t i = 0; i < capture.ranks.size(); ++i)
    files.push_back(absl::StrCat(name, ".", i, ".et", suffix));
  RETURN_IF_ERROR(folder.MoveInto(fs::path(prefix).parent_path().string(), TracesOfPrefix(prefix), files));
  if (!report_.empty()) {
    const bool json = FormatOf(report_) == "json";
    ASSIGN_OR_RETURN(std::string text,
                     FormatMessage(capture.report, json ? MessageFormat::kJson : MessageFormat::kText));
    RETURN_IF_ERROR(WriteOutput(report_, text));
  }
  if (quiet_) return absl::OkStatus();
  TextPage page = PageOf("-");
  return WriteOutput(
      "-", page.Finish(absl::StrCat(
               pytorch::PrintConversion(capture.report, &page), "\nwritten: ", prefix, ".0.et", suffix,
               capture.ranks.size() > 1
                   ? absl::StrCat(" to ", prefix, ".", capture.ranks.size() - 1, ".et", suffix)
                   : "",
               "\n")));
}

}  // namespace chakra::cli
