#include "trace/generate/windows.h"

#include <algorithm>
#include <bitset>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trace/base/rank_list.h"
#include "trace/base/status_macros.h"

namespace chakra::generate {
namespace {

absl::Status BadLayers(absl::string_view what) { return absl::InvalidArgumentError(what); }

}  // namespace

absl::Status TakeLayers(absl::string_view field, std::string text, int64_t layers, std::bitset<1024>* out) {
  if (text.empty()) {
    for (int64_t i = 0; i < layers; ++i) out->set(static_cast<size_t>(i));
    return absl::OkStatus();
  }
  const std::string given = text;
  std::vector<int> numbers;
  std::replace(text.begin(), text.end(), '+', ',');
  if (!ParseRanks(text, static_cast<int>(layers), &numbers).ok()) {
    return BadLayers(absl::StrCat(field, " is \"", given, "\"; expected layers from 0 to ", layers - 1,
                                  ", as 0-22:2 or 0+2+4"));
  }
  for (const int layer : numbers) out->set(static_cast<size_t>(layer));
  return absl::OkStatus();
}

absl::Status TakeWindow(const proto::Model& m, ModelSize* out) {
  if (m.window() == 0) {
    if (m.window_layers().empty()) return absl::OkStatus();
    return BadLayers("model.window_layers is for windows; expected model.window too");
  }
  if (!out->causal)
    return BadLayers(
        absl::StrCat("model.window is ", m.window(), "; expected 0, because model.causal is no"));
  if (out->latent())
    return BadLayers(absl::StrCat("model.window is ", m.window(),
                                  "; expected 0, because latent attention (model.kv_rank) has no window"));
  out->window = m.window();
  return TakeLayers("model.window_layers", m.window_layers(), out->layers, &out->windowed);
}

// Sets chunks, and layers with rotary positions.
absl::Status TakeChunks(const proto::Model& m, ModelSize* out) {
  if (!m.rope_layers().empty() && (!out->rope || out->latent()))
    return BadLayers(
        "model.rope_layers is for rotary positions; expected model.rope=yes without model.kv_rank");
  RETURN_IF_ERROR(TakeLayers("model.rope_layers", m.rope_layers(), out->layers, &out->turned));
  out->qk_norm_bare = m.qk_norm_bare();
  if (out->qk_norm_bare && (!out->qk_norm || out->qk_norm_wide || out->latent()))
    return BadLayers(
        "model.qk_norm_bare is for norms of each head's queries and keys; expected model.qk_norm=yes without "
        "model.qk_norm_wide and model.kv_rank");
  if (m.chunk() == 0) {
    if (m.chunk_layers().empty()) return absl::OkStatus();
    return BadLayers("model.chunk_layers is for chunks; expected model.chunk too");
  }
  if (!out->causal || out->latent() || out->window > 0)
    return BadLayers(
        absl::StrCat("model.chunk is ", m.chunk(),
                     "; expected 0, or causal attention without model.window and model.kv_rank"));
  out->chunk = m.chunk();
  if (m.chunk_layers().empty()) {
    out->chunked = out->turned;
    return absl::OkStatus();
  }
  return TakeLayers("model.chunk_layers", m.chunk_layers(), out->layers, &out->chunked);
}

absl::Status TakeIndexer(const proto::Model& m, ModelSize* out) {
  if (m.index_topk() == 0) {
    if (!m.has_index_heads() && !m.has_index_dim() && m.index_layers().empty()) return absl::OkStatus();
    return BadLayers(
        "model.index_heads, index_dim and index_layers are for sparse attention; expected "
        "model.index_topk too");
  }
  if (!out->latent() || out->q_rank == 0 || !out->causal)
    return BadLayers(
        absl::StrCat("model.index_topk is ", m.index_topk(),
                     "; expected 0, or causal latent attention (model.kv_rank and model.q_rank)"));
  if (out->window > 0)
    return BadLayers(absl::StrCat("model.window is ", out->window, "; expected 0 with model.index_topk"));
  if (!m.has_index_heads())
    return BadLayers("model.index_heads is missing; sparse attention (model.index_topk) needs it");
  out->index_topk = m.index_topk();
  out->index_heads = m.index_heads();
  out->index_dim = m.has_index_dim() ? m.index_dim() : 128;
  if (!m.index_layers().empty())
    return TakeLayers("model.index_layers", m.index_layers(), out->layers, &out->indexed);
  out->indexed.set();
  return absl::OkStatus();
}

LayerSpec ModelSize::SpecOf(int64_t layer) const {
  const bool further = layer >= layers;
  const int64_t like = further ? layers - 1 : layer;
  const auto i = static_cast<size_t>(like);
  LayerSpec spec;
  spec.mlp = experts > 0 && like >= dense_layers && (like + 1) % moe_every == 0 ? 'E' : '-';
  // If layers have letters, those of multi-token prediction have attention, and experts if the model does.
  if (!mlps.empty()) spec.mlp = !further ? mlps[i] : experts > 0 ? 'E' : '-';
  if (!mixers.empty() && !further) spec.mixer = mixers[i];
  if (spec.mixer != '*') return spec;
  spec.window = windowed[i] ? window : 0;
  spec.chunk = chunked[i] ? chunk : 0;
  spec.rope = rope && turned[i];
  spec.indexer = sparse() && (further || indexed[i]);
  return spec;
}

std::string WindowLayers(const std::vector<int>& layers) {
  std::string text = FormatRanks(layers);
  std::replace(text.begin(), text.end(), ',', '+');
  return text;
}

}  // namespace chakra::generate
