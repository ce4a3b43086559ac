// Composes logs of collective calls as their recorders write them: NCCL's Inspector (inspector_json.cc), the
// example of its profiler plugins (print_event.cc) and PyTorch's Flight Recorder (FlightRecorderDetail.hpp,
// and torch/csrc/jit/serialization/pickler.cpp for its pickles).
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "trace/import/collective_logs/importer.h"
#include "trace/import/reader.h"

namespace chakra::collective_logs {

// A temporary folder with log files.
class LogFolder {
 public:
  explicit LogFolder(const std::string& name)
      : path_(absl::StrCat(::testing::TempDir(), "/call_logs_", name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  void Add(const std::string& name, const std::string& content) {
    std::ofstream(absl::StrCat(path_, "/", name), std::ios::binary) << content;
  }
  absl::StatusOr<TraceSet> Read(const ReadOptions& options = ReadOptions()) const {
    return ReadTraceSet({path_}, options);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string ErrorOf(absl::string_view content, absl::string_view file) {
  std::vector<RankLog> logs;
  const absl::Status s = ReadLog(content, file, &logs);
  return std::string(s.message());
}

struct InspectorLine {
  std::string id = "0x7f01", name = "unknown";
  int rank = 0, ranks = 4;
  std::string host = "node0";
  int pid = 100;
  std::string version = "v4.0", call = "AllReduce";
  uint64_t sequence = 0, bytes = 1 << 20, micros = 100;
  int64_t start_us = -1;  // of the kernel; -1: not verbose
  int peer = -1;          // of a message
  std::string source = "kernel_gpu";
};

inline std::string Print(const InspectorLine& l) {
  const std::string p = l.peer >= 0 ? "p2p" : "coll";
  std::string out = absl::StrFormat(
      "{\"header\":{\"id\":\"%s\",\"comm_name\":\"%s\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":1},\"metadata\":"
      "{"
      "\"inspector_output_format_version\":\"%s\",\"git_rev\":\"5067397c\",\"rec_mechanism\":\"nccl_profiler_"
      "interface\","
      "\"dump_timestamp_us\":1748030377748202,\"hostname\":\"%s\",\"pid\":%d},\"%s_perf\":{\"%s\":\"%s\",\"%"
      "s_sn\":%d",
      l.id, l.name, l.rank, l.ranks, l.version, l.host, l.pid, p, p, l.call, p, l.sequence);
  if (l.peer >= 0) absl::StrAppend(&out, ",\"p2p_peer\":", l.peer);
  absl::StrAppendFormat(
      &out,
      ",\"%s_msg_size_bytes\":%d,\"%s_exec_time_us\":%d,\"%s_timing_source\":\"%s\",\"%s_algobw_gbs\":"
      "1.5,\"%s_busbw_gbs\":2.25",
      p, l.bytes, p, l.micros, p, l.source, p, p);
  if (l.start_us >= 0) {
    const auto stop = static_cast<uint64_t>(l.start_us) + l.micros;
    absl::StrAppendFormat(
        &out,
        ",\"event_trace_sn\":{\"%s_start_sn\":1,\"%s_stop_sn\":2,\"kernel_events\":[]},\"event_trace_ts\":"
        "{\"%s_start_ts\":%d,\"%s_stop_ts\":%d,\"kernel_events\":[{\"channel_id\":0,\"kernel_start_ts\":"
        "%d,\"kernel_stop_ts\":%d,\"kernel_record_ts\":%d}]}",
        p, p, p, l.start_us - 5, p, l.start_us - 1, l.start_us, stop, stop);
  }
  return out + "}}\n";
}

// A pickle of protocol 2 as torch::jit::Pickler writes it: a text that occurs again is a reference to the
// memo.
class Pickler {
 public:
  Pickler() : out_("\x80\x02") {}
  std::string Finish() { return out_ + "."; }
  void Raw(absl::string_view bytes) { out_.append(bytes.data(), bytes.size()); }
  void Text(const std::string& s) {
    const auto [it, fresh] = memo_.try_emplace(s, static_cast<uint8_t>(memo_.size()));
    if (!fresh) {
      out_ += 'h';
      out_ += static_cast<char>(it->second);
      return;
    }
    out_ += 'X';
    Little(s.size(), 4);
    out_ += s;
    if (memo_.size() > 250) {
      memo_.erase(it);
      return;
    }
    out_ += 'q';
    out_ += static_cast<char>(it->second);
  }
  void Int(int64_t n) {
    if (n >= 0 && n < 256) {
      out_ += 'K';
      Little(static_cast<uint64_t>(n), 1);
    } else if (n >= INT32_MIN && n <= INT32_MAX) {
      out_ += 'J';
      Little(static_cast<uint64_t>(n), 4);
    } else {
      out_ += "\x8a\x08";
      Little(static_cast<uint64_t>(n), 8);
    }
  }
  void Real(double d) {
    out_ += 'G';
    const auto bits = std::bit_cast<uint64_t>(d);
    for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift);
  }
  void Bool(bool b) { out_ += b ? '\x88' : '\x89'; }
  void None() { out_ += 'N'; }
  void BeginDict() { out_ += "}("; }
  void EndDict() { out_ += 'u'; }
  void BeginList() { out_ += "]("; }
  void EndList() { out_ += 'e'; }

 private:
  void Little(uint64_t n, int width) {
    for (int i = 0; i < width; ++i) out_ += static_cast<char>(n >> (8 * i));
  }
  std::string out_;
  std::map<std::string, uint8_t> memo_;
};

struct FlightEntry {
  std::string group = "0", desc = "default_pg", name = "nccl:all_reduce";
  int64_t sequence = 1;
  bool p2p = false;
  std::vector<int64_t> in = {1024, 256}, out = {1024, 256};
  std::string dtype = "BFloat16";
  int64_t created_ns = 0, completed_ns = 0;  // 0: not completed
  double duration_ms = -1;
};
struct FlightDump {
  std::string version = "2.10";
  std::map<std::string, std::vector<int>> groups = {{"0", {0, 1, 2, 3}}};
  std::vector<FlightEntry> entries;
};

inline std::string PrintPickle(const FlightDump& dump) {
  Pickler p;
  p.BeginDict();
  p.Text("version");
  p.Text(dump.version);
  p.Text("pg_config");
  p.BeginDict();
  for (const auto& [name, ranks] : dump.groups) {
    p.Text(name);
    p.BeginDict();
    p.Text("name"), p.Text(name);
    p.Text("desc"), p.Text(name == "0" ? "default_pg" : "undefined");
    p.Text("ranks"), p.Text(absl::StrCat("[", absl::StrJoin(ranks, ", "), "]"));
    p.EndDict();
  }
  p.EndDict();
  p.Text("comm_lib_version"), p.Text("2.27.5");
  p.Text("entries");
  p.BeginList();
  int64_t id = 0;
  for (const FlightEntry& e : dump.entries) {
    p.BeginDict();
    p.Text("record_id"), p.Int(id++);
    p.Text("pg_id"), p.Int(0);
    p.Text("process_group"), p.Text(e.group), p.Text(e.desc), p.Raw("\x86");  // a tuple of two
    p.Text("collective_seq_id"), p.Int(e.p2p ? 0 : e.sequence);
    p.Text("p2p_seq_id"), p.Int(e.p2p ? e.sequence : 0);
    p.Text("op_id"), p.Int(id);
    p.Text("profiling_name"), p.Text(e.name);
    p.Text("time_created_ns"), p.Int(e.created_ns);
    if (e.duration_ms >= 0) p.Text("duration_ms"), p.Real(e.duration_ms);
    for (const bool in : {true, false}) {
      p.Text(in ? "input_sizes" : "output_sizes");
      p.BeginList(), p.BeginList();
      for (const int64_t n : in ? e.in : e.out) p.Int(n);
      p.EndList(), p.EndList();
      p.Text(in ? "input_dtypes" : "output_dtypes");
      p.BeginList(), p.Text(e.dtype), p.EndList();
    }
    p.Text("state"), p.Text(e.completed_ns > 0 ? "completed" : "scheduled");
    p.Text("time_discovered_started_ns"), p.None();
    p.Text("time_discovered_completed_ns");
    e.completed_ns > 0 ? p.Int(e.completed_ns) : p.None();
    p.Text("retired"), p.Bool(e.completed_ns > 0);
    p.Text("timeout_ms"), p.Int(600000);
    p.Text("is_p2p"), p.Bool(e.p2p);
    p.EndDict();
  }
  p.EndList();
  p.EndDict();
  return p.Finish();
}

inline std::string PrintJson(const FlightDump& dump) {
  std::vector<std::string> entries, groups;
  for (const FlightEntry& e : dump.entries) {
    entries.push_back(absl::StrFormat(
        "{\"collective_seq_id\":%d,%s\"input_dtypes\":[\"%s\"],\"input_sizes\":[[%s]],\"is_p2p\":%s,\"op_"
        "id\":1,"
        "\"output_dtypes\":[\"%s\"],\"output_sizes\":[[%s]],\"p2p_seq_id\":%d,\"pg_id\":0,\"process_group\":["
        "\"%s\",\"%s\"],"
        "\"profiling_name\":\"%s\",\"record_id\":0,\"retired\":true,\"state\":\"completed\",\"time_created_"
        "ns\":%d,"
        "\"time_discovered_completed_ns\":%d,\"time_discovered_started_ns\":0,\"timeout_ms\":600000}",
        e.p2p ? 0 : e.sequence,
        e.duration_ms >= 0 ? absl::StrFormat("\"duration_ms\":%.17g,", e.duration_ms) : "", e.dtype,
        absl::StrJoin(e.in, ","), e.p2p ? "true" : "false", e.dtype, absl::StrJoin(e.out, ","),
        e.p2p ? e.sequence : 0, e.group, e.desc, e.name, e.created_ns, e.completed_ns));
  }
  for (const auto& [name, ranks] : dump.groups) {
    groups.push_back(absl::StrFormat("\"%s\":{\"desc\":\"%s\",\"name\":\"%s\",\"ranks\":\"[%s]\"}", name,
                                     name == "0" ? "default_pg" : "undefined", name,
                                     absl::StrJoin(ranks, ", ")));
  }
  return absl::StrFormat(
      "{\"comm_lib_version\":\"2.27.5\",\"entries\":[%s],\"pg_config\":{%s},\"pg_status\":{},"
      "\"version\":\"%s\"}",
      absl::StrJoin(entries, ","), absl::StrJoin(groups, ","), dump.version);
}

struct PluginCall {
  std::string call = "AllReduce";
  uint64_t sequence = 0, hash = 12345;
  int rank = 0, peer = -1;  // peer: a message
  uint64_t count = 1000;
  std::string type = "ncclFloat32";
  double start_us = 0, stop_us = 0;                  // of the host
  double kernel_start_us = -1, kernel_stop_us = -1;  // -1: not recorded
  int root = 0;
};

inline std::string Print(const PluginCall& c, int id, int pid) {
  const bool p2p = c.peer >= 0;
  const char* cat = p2p ? "P2P" : "COLL";
  std::string out = absl::StrFormat(
      "{\"name\": \"Group API\", \"cat\": \"GROUP_API\", \"ph\": \"b\", \"id\": %d, \"pid\": %d, \"tid\": 1, "
      "\"ts\": %f, "
      "\"args\": {\"groupApiId\": 1, \"groupDepth\": 1}},\n",
      id, pid, c.start_us);
  absl::StrAppendFormat(
      &out,
      "{\"name\": \"%s\", \"cat\": \"%s_API\", \"ph\": \"b\", \"id\": %d, \"pid\": %d, \"tid\": 1, \"ts\": "
      "%f, \"args\": {\"count\": %d, \"datatype\": \"%s\", %s\"GraphCaptured\": 0, \"Stream\": \"0x1\"}},\n",
      c.call, cat, id, pid, c.start_us, c.count, c.type, p2p ? "" : absl::StrCat("\"root\": ", c.root, ", "));
  absl::StrAppendFormat(
      &out,
      "{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"b\", \"id\": %d, \"pid\": %d, \"tid\": 1, \"ts\": %f, "
      "\"args\": {%s"
      "\"CommHash\": %d, \"Rank\": %d, %s\"Count\": %d, \"Datatype\": \"%s\", %s\"nChannels\": 1}},\n",
      c.call, cat, id, pid, c.start_us, p2p ? "" : absl::StrCat("\"SeqNum\": ", c.sequence, ", "), c.hash,
      c.rank, p2p ? absl::StrCat("\"Peer\": ", c.peer, ", ") : "", c.count, c.type,
      p2p ? "" : "\"Algorithm\": \"RING\", \"Protocol\": \"SIMPLE\", ");
  if (c.kernel_start_us >= 0) {
    absl::StrAppendFormat(
        &out,
        "{\"name\": \"KernelCh\", \"cat\": \"GPU\", \"ph\": \"b\", \"id\": 0, \"pid\": %d, \"tid\": 1, "
        "\"ts\": %f, \"args\": {\"Channel\": 0, \"StartGpuClk\": 1, \"StopGpuClk\": 2}},\n",
        pid, c.kernel_start_us);
    absl::StrAppendFormat(&out,
                          "{\"name\": \"KernelCh\", \"cat\": \"GPU\", \"ph\": \"e\", \"id\": 0, \"pid\": %d, "
                          "\"tid\": 1, \"ts\": %f},\n",
                          pid, c.kernel_stop_us);
  }
  for (const std::string& end : {std::string(cat), absl::StrCat(cat, "_API"), std::string("GROUP_API")}) {
    absl::StrAppendFormat(&out,
                          "{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"e\", \"id\": %d, \"pid\": %d, "
                          "\"tid\": 1, \"ts\": %f},\n",
                          end == "GROUP_API" ? "Group API" : c.call, end, id, pid, c.stop_us);
  }
  return out;
}

inline std::string PrintPlugin(const std::vector<PluginCall>& calls, int pid) {
  std::string out = "[\n";
  int id = 0;
  for (const PluginCall& c : calls) out += Print(c, id++, pid);
  return out + "{}]\n";
}

}  // namespace chakra::collective_logs
