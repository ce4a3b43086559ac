// Decodes the frames of an .et file directly into columns.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/base/wire.h"
#include "trace/et/alike_ranks.h"
#include "trace/et/read_options.h"
#include "trace/model/attribute.h"
#include "trace/model/graph_builder.h"
#include "trace/model/trace.h"

namespace chakra {

inline constexpr int64_t kMaxPicos = std::numeric_limits<int64_t>::max();  // the maximum of Time

// The content of a METADATA node whose name contains "process_group:init".
struct GroupNode {
  uint64_t id = 0;
  std::string text;  // inputs.values
};

// Decodes one file after another. It keeps its memory between files, and also some of the files: a file that
// resembles an earlier one is compared with it instead of being decoded (alike_ranks.h). Not thread-safe;
// several decoders may share a pool.
//
// Times come from start_time_micros and duration_micros, or from the finer attributes start_ns and
// duration_ns, which take precedence. If starts do not fit in picoseconds (such as microseconds since the
// epoch), they are counted from the first start in the file.
class Decoder {
 public:
  // `pool` must outlive the decoder.
  explicit Decoder(GraphPool* pool) : pool_(pool) {}

  // `content`: plain frames, neither compressed nor JSON. Errors give `file`, rank, node id, field and the
  // byte in `content`.
  absl::StatusOr<RankTrace> Decode(absl::string_view content, absl::string_view file, int rank,
                                   const ReadOptions& options);

  // The group nodes of the file that was decoded last.
  const std::vector<GroupNode>& group_nodes() const { return group_nodes_; }

 private:
  // The fields of one Node message.
  struct Node {
    uint64_t id = 0;
    bool has_id = false;
    NodeType type = NodeType::kInvalid;
    uint8_t flags = 0;
    absl::string_view name, values, shapes, types, code;
    double time_factor = 1;
    uint32_t name_hash = 0;  // valid when name is not empty
    uint64_t start_ns = 0;
    int64_t duration_ps = 0;
    bool fine_start = false, fine_duration = false;
    bool has_stream = false, has_tid = false, has_group = false;
    bool has_delays = false;
    const uint8_t* kinds_at = nullptr;  // null: no dep_kinds
    absl::string_view kinds;
    int32_t stream = 0, tid = 0;
    Comm comm;
    Time transfer = Time::Never();
    Peer peer;
    Work work;
  };

  void Reset(absl::string_view content, absl::string_view file, int rank, const ReadOptions& options);
  // Fills out_ from `like`, with the varying values of `content`. Returns false if a value is out of range.
  bool TakeAlike(const DecodedRank& like, absl::string_view content);
  void KeepForOthers(absl::string_view content);
  // The functions that return bool return false after an error, and set status_.
  bool ReadFrames();
  bool ReadFrameLength(wire::Cursor* c, wire::Cursor* frame, bool* truncated);
  bool ReadFirst(wire::Cursor frame);
  bool ReadNode(wire::Cursor frame);
  bool ReadNodeField(const wire::Field& f, Node* node);
  bool ReadDeps(const wire::Field& f, std::vector<uint64_t>* deps, const Node& node);
  bool ReadInputs(const wire::Field& f, Node* node);
  bool ReadNodeAttribute(const wire::Field& f, Node* node);
  bool SetPlainNumber(AttributeKey key, const Attribute& a, Node* node);
  bool SetNumber(AttributeKey key, const Attribute& a, Node* node);
  void StoreNumber(AttributeKey key, __int128 v, const Attribute& a, Node* node);
  bool SetGroup(AttributeKey key, const Attribute& a, Node* node);
  // Records the position of a value of a node's group or peer.
  void NoteVarying(VaryingValue::Kind kind, const Attribute& a);
  bool SetDelays(AttributeKey key, const Attribute& a, Node* node);
  bool SetReleases(const Attribute& a, Node* node);
  bool SetKinds(const Attribute& a, Node* node);
  bool AddDelayCauses(const Node& node);
  bool SetCommKind(const Attribute& a, Node* node);
  bool SetCode(const Attribute& a, Node* node);
  bool SetTimeFactor(const Attribute& a, Node* node);
  void AddNode(const Node& node, uint64_t offset);
  bool ResolveDeps(bool with_ctrl);
  absl::StatusOr<std::shared_ptr<const Graph>> FinishDeps();
  // The values of a row's dependencies in delays_, causes_, unexplained_ and releases_; null: none.
  struct RowDelays {
    const int64_t* delay = nullptr;
    const DelayCause* cause = nullptr;
    const int64_t* unexplained = nullptr;
    const int64_t* release = nullptr;
  };
  struct DelayedDep {
    uint32_t row = 0;
    Time delay;
    DelayCause cause = DelayCause::kOther;
    Time unexplained;
    int64_t release = kReleaseAtEnd;
  };
  bool FindDelays(uint32_t row, uint64_t deps, RowDelays* out);
  bool AddDeps(uint32_t row, const std::vector<uint64_t>& ids, uint64_t begin, uint64_t end, bool data,
               const RowDelays& delays, uint64_t first);
  void SortDeps(size_t begin);
  void TakeDelayedDeps();
  bool IndexIds();
  uint32_t FindRow(uint64_t id) const;
  bool ConvertStarts();
  bool CheckSchema(wire::Cursor frames);

  uint64_t Offset(const uint8_t* p) const { return static_cast<uint64_t>(p - base_); }
  std::string Subject() const;
  bool Fail(const uint8_t* at, const Node* node, absl::string_view field, absl::string_view what);
  bool FailFile(uint64_t offset, absl::string_view what);
  void Note(absl::string_view kind, uint64_t node, absl::string_view detail);
  uint32_t GroupIndex(absl::string_view name);
  int32_t LaneOf(__int128 v);

  GraphPool* pool_;
  absl::Status status_;
  absl::string_view file_;
  int rank_ = 0;
  ReadOptions options_;
  const uint8_t* base_ = nullptr;
  const uint8_t* end_ = nullptr;

  GraphDraft g_;
  std::vector<Peer> peers_;
  RankTrace out_;
  std::shared_ptr<RawFrames> raw_;
  std::vector<uint64_t> offset_;  // where the frame of each row begins
  std::vector<uint64_t> start_ns_;
  std::vector<uint64_t> data_, ctrl_;              // dependencies as ids
  std::vector<uint64_t> data_begin_, ctrl_begin_;  // rows + 1
  // The values of dep_delay_ns, dep_unexplained_ns or dep_release: those of all rows that have the attribute,
  // one row after another; and for each such row, the row and where its values begin.
  struct ValuesOfRows {
    std::vector<int64_t> values;
    std::vector<std::pair<uint32_t, uint64_t>> rows;
    size_t next = 0;  // index in `rows` of the next row to resolve
  };
  ValuesOfRows delays_, unexplained_, releases_;
  bool AnyDelays() const { return !delays_.rows.empty() || !releases_.rows.empty(); }
  std::vector<DelayCause> causes_;        // for each of delays_.values
  std::vector<DelayedDep> delayed_deps_;  // of the row that is being resolved; only used in files with delays
  AlikeRanks alike_;
  std::vector<VaryingValue> varying_;
  size_t varying_before_ = 0;     // number of entries of varying_ from earlier nodes
  bool plain_attribute_ = false;  // the current attribute has its value last
  bool all_noted_ = false;        // varying_ has every group
  std::vector<GroupNode> group_nodes_;
  absl::flat_hash_map<std::string, uint32_t> group_index_;
  absl::flat_hash_map<uint64_t, int32_t> big_lanes_;
  uint64_t first_id_ = 0;
  std::vector<uint32_t> dense_rows_;                     // by id - first_id_; used if ids are compact
  absl::flat_hash_map<uint64_t, uint32_t> sparse_rows_;  // by id; used if ids are not compact
  bool dense_ = true;
};

}  // namespace chakra
