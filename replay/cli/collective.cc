#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/topology/measure.h"
#include "replay/cli/command.h"
#include "replay/cli/help/help.h"
#include "replay/cli/log_options.h"
#include "replay/cli/message_options.h"
#include "replay/cli/terminal.h"
#include "replay/nccl/mpi/mpi.h"
#include "replay/run/collective_arguments.h"
#include "replay/run/collective_table.h"
#include "replay/run/machine.h"
#include "trace/base/json_text.h"
#include "trace/base/status_macros.h"
#include "trace/base/text_table.h"
#include "trace/base/utf8.h"
#include "trace/io/csv.h"

namespace chakra::cli {
namespace {

std::string InJson(absl::string_view text) { return JsonText(ToUtf8(text)); }

class CollectiveCommand : public Command {
 public:
  explicit CollectiveCommand(CLI::App* app) : Command(app) {
    app->allow_extras();
    AddOptions(app, &told_);
    const std::string o = "Output";
    app->add_flag("--explain", explain_,
                  "Print the candidates for each size, and why each is or is not chosen.")
        ->group(o);
    app->add_option("--format", format_, "Format of the output: text, csv or json; default: text.")
        ->type_name("FORMAT")
        ->check(OneOf({"text", "csv", "json"}))
        ->group(o);
    app->add_option("-o,--output", output_, "Write to FILE; default: -, standard output.")
        ->type_name("FILE")
        ->group(o);
    logs_.AddTo(app, "Logs");
    for (const char* rare : {"--flow-log", "--link-log", "--link-totals", "--log-links"})
      MarkRare(app->get_option(rare));
    app->footer(
        "Example:\n  chakra-replay collective all_reduce --bytes 1KiB..8GiB --cluster dgx-h100 --ranks 16\n"
        "`chakra-replay help TOPIC` prints a table of keys: cluster, network, packet, ...");
  }

  int Run() override {
    arguments_.emplace(told_);
    const absl::StatusOr<std::vector<uint64_t>> sizes = arguments_->Sizes();
    if (!sizes.ok()) return Misuse(std::string(sizes.status().message()));
    if (absl::Status s = logs_.Check(*this->app(), FabricName(arguments_->options()), output_); !s.ok()) {
      return Misuse(std::string(s.message()));
    }
    if (absl::Status s = CheckOutputPath(output_); !s.ok()) return Fail(s);
    if (absl::Status s = logs_.Open(); !s.ok()) return Fail(s);
    logs_.Apply(&arguments_->options().fabric_options);
    arguments_->options().flow_log = logs_.flow_log();
    arguments_->options().each_flow = logs_.any();
    absl::StatusOr<std::string> text = Table(*sizes);
    if (!misuse_.ok()) return Misuse(std::string(misuse_.message()));
    if (!text.ok()) return Fail(text.status());
    absl::Status written = WriteOutput(output_, *text);
    written.Update(logged_);
    return written.ok() ? kDone : Fail(written);
  }

 private:
  absl::StatusOr<std::string> Table(const std::vector<uint64_t>& sizes) {
    std::vector<std::string> notes;
    absl::StatusOr<CollectiveTable> table = arguments_->Table(&notes, &misuse_);
    for (const std::string& note : notes) PrintError(note);
    if (!table.ok()) return table.status();
    std::vector<TableRow> rows;
    for (const uint64_t size : sizes) {
      ASSIGN_OR_RETURN(TableRow row, table->Price(size));
      rows.push_back(std::move(row));
    }
    std::map<std::string, int> passed_over;
    for (const TableRow& row : rows) {
      if (!row.passed_over.empty()) ++passed_over[row.passed_over];
    }
    for (const auto& [serves, times] : passed_over) {
      PrintError(absl::StrCat(serves, "; it does not support ", times, " of ", rows.size(), " sizes"));
    }
    logged_ = logs_.Finish(table->machine(), table->now());
    return format_ == "json" ? Json(rows) : format_ == "csv" ? Csv(rows) : Text(table->cluster(), rows);
  }

  std::string Json(const std::vector<TableRow>& rows) const {
    std::string out = "[";
    for (const TableRow& row : rows) {
      absl::StrAppendFormat(
          &out,
          "%s\n {\"collective\": \"%s\", \"ranks\": %d, \"bytes\": %d, \"algorithm\": %s, \"protocol\": "
          "\"%s\", "
          "\"channels\": %d, \"time_us\": %.3f, \"device_us\": %.3f, \"host_us\": %.3f, \"algbw_GBps\": "
          "%.3f, "
          "\"busbw_GBps\": %.3f",
          &row == &rows.front() ? "" : ",", arguments_->kind(), arguments_->options().ranks, row.bytes,
          InJson(row.algorithm), row.protocol, row.channels, row.time_us, row.device_us, row.host_us,
          row.algbw, row.busbw);
      if (explain_)
        absl::StrAppend(&out, ", \"why\": ", InJson(row.why), ", \"candidates\": [", JsonCandidates(row),
                        "]");
      out += "}";
    }
    return out + "\n]\n";
  }

  std::string Csv(const std::vector<TableRow>& rows) const {
    std::string out =
        absl::StrCat("collective,ranks,bytes,algorithm,protocol,channels,time_us,algbw_GBps,busbw_GBps",
                     explain_ ? ",why" : "", "\n");
    for (const TableRow& row : rows) {
      absl::StrAppendFormat(&out, "%s,%d,%d,%s,%s,%d,%.3f,%.3f,%.3f%s\n", arguments_->kind(),
                            arguments_->options().ranks, row.bytes, CsvField(row.algorithm), row.protocol,
                            row.channels, row.time_us, row.algbw, row.busbw,
                            explain_ ? absl::StrCat(",", CsvField(row.why)) : "");
    }
    return out;
  }

  std::string Text(const ClusterModel& model, const std::vector<TableRow>& rows) const {
    const proto::Cluster& cluster = model.proto;
    TextTable table = TextTable::OfWidths({{"bytes", false, 12},
                                           {"algorithm", true, 20, 2},
                                           {"protocol", true, 8},
                                           {"channels", false, 8},
                                           {"time us", false, 12},
                                           {"algbw GB/s", false, 12},
                                           {"busbw GB/s", false, 12}},
                                          "#");
    for (const TableRow& row : rows) {
      table.Add({absl::StrCat(row.bytes), row.algorithm, row.protocol, absl::StrCat(row.channels),
                 absl::StrFormat("%.2f", row.time_us), absl::StrFormat("%.2f", row.algbw),
                 absl::StrFormat("%.2f", row.busbw)});
      if (!explain_) continue;
      for (std::string& line : Explain(row)) table.AddLine(std::move(line));
    }
    TextPage page = PageOf(output_);
    return page.Finish(absl::StrFormat(
        "# %s on %d ranks of %s, fabric %s%s\n%s%s%s", arguments_->kind(), arguments_->options().ranks,
        cluster.name().empty() ? ClusterSpec(arguments_->options()) : cluster.name(),
        FabricName(arguments_->options()), LibraryName(cluster), Networks(model), WhatTimeIs(rows),
        table.Print(&page)));
  }

  // A line about the networks of the machine, with the source of the bandwidth of their ports.
  static std::string Networks(const ClusterModel& model) {
    std::string out;
    for (const DimensionFacts& d : DimensionsOf(model)) {
      if (!d.network) continue;
      const std::string says = d.rates_from == "cluster"   ? "the rate of the cluster's NICs"
                               : d.rates_from == "network" ? "the rate of the network"
                                                           : "the rate in its file";
      absl::StrAppendFormat(
          &out, "# network %s: %s a device in %d %s, %s; %d switches, %d cables, %d switch ports\n", d.name,
          FormatRate(static_cast<double>(d.size.injection.bytes_per_second())), d.size.ports,
          d.size.ports == 1 ? "port" : "ports", says, d.size.switches, d.size.cables, d.size.switch_ports);
    }
    return out;
  }

  // The release of the library whose choices the rows follow, if there is a library.
  static std::string LibraryName(const proto::Cluster& cluster) {
    if (!cluster.collectives().has_library()) return "";
    if (const auto mpi = mpi::LoadMpi(cluster.collectives().library().name()); mpi.ok())
      return absl::StrCat(", library ", (*mpi)->name, " on hosts");
    const absl::StatusOr<int> version = nccl::ParseVersion(cluster.collectives().library().version());
    // RCCL has the version numbers of NCCL.
    const bool amd = absl::StartsWith(cluster.device().architecture(), "cdna");
    return version.ok() ? absl::StrCat(", library ", amd ? "RCCL " : "NCCL ", nccl::VersionText(*version))
                        : "";
  }

  // A line that says whether the rows have the time of the host or of the device, if the library
  // distinguishes them.
  static std::string WhatTimeIs(const std::vector<TableRow>& rows) {
    if (rows.empty() || rows[0].host_us == 0) return "";
    const auto hosts = std::count_if(rows.begin(), rows.end(),
                                     [](const TableRow& row) { return row.host_us > row.device_us; });
    return absl::StrFormat(
        "# time: one of many consecutive calls: the kernel and the gap before it; in %d of %d rows the %.4g "
        "us of the host's launches\n",
        hosts, rows.size(), rows[0].host_us);
  }

  static std::string JsonCandidates(const TableRow& row) {
    std::vector<std::string> all;
    for (const Candidate& c : row.candidates) {
      all.push_back(
          absl::StrFormat("{\"algorithm\": %s, \"protocol\": \"%s\", \"predicted_us\": %s, \"unfit\": %s}",
                          InJson(c.algorithm), c.of_hosts ? "-" : std::string(Name(c.protocol)),
                          c.time_us > 0 ? absl::StrFormat("%.3f", c.time_us) : "null", InJson(c.unfit)));
    }
    return absl::StrJoin(all, ", ");
  }

  static std::vector<std::string> Explain(const TableRow& row) {
    std::vector<std::string> out;
    if (!row.why.empty()) out.push_back(absl::StrCat("#     ", row.why));
    if (row.host_us > 0) {
      out.push_back(absl::StrFormat("#     device %.2f us, host %.2f us", row.device_us, row.host_us));
    }
    for (const Candidate& c : row.candidates) {
      if (c.unfit.empty()) {
        out.push_back(absl::StrFormat("#       %-26s %10.2f us predicted = %.2f + bytes / %.2f GB/s",
                                      c.Label(), c.time_us, c.latency_us, c.gbytes_per_s));
      } else if (c.time_us > 0) {
        out.push_back(absl::StrFormat("#       %-26s not considered: %s", c.Label(), c.unfit));
      }
    }
    return out;
  }

  proto::CollectiveRun told_;
  std::optional<CollectiveArguments> arguments_;
  bool explain_ = false;
  std::string format_ = "text";
  std::string output_ = "-";
  LogOptions logs_;
  absl::Status misuse_;  // errors of the command line that Table() found
  absl::Status logged_;  // error of the logs after the run; reported after the table is printed
};

}  // namespace

std::unique_ptr<Command> MakeCollectiveCommand(CLI::App* root) {
  return std::make_unique<CollectiveCommand>(root->add_subcommand(
      "collective", "Print the time of a collective by size, as nccl-tests. sendrecv is sends and receives"));
}

}  // namespace chakra::cli
