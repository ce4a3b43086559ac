// The kinds of sublayers. Each has a file in this folder, and a line in registry.cc.
#pragma once

#include "trace/generate/block.h"

namespace chakra::generate {

// Each adds a sublayer, with its norm, to the writer's block.
void DescribeAttention(BlockWriter* writer);
void DescribeMlp(BlockWriter* writer);
void DescribeExperts(BlockWriter* writer);
void DescribeMamba(BlockWriter* writer);
void DescribeGatedDelta(BlockWriter* writer);
void DescribeKimiDelta(BlockWriter* writer);
void DescribeLightning(BlockWriter* writer);
void DescribeConvolution(BlockWriter* writer);

// Sparse attention over latent keys (blocks/sparse.cc). Before the core: the chosen keys, if the layer has an
// indexer, and queries of latent features; after it: values of the heads.
void AddIndexer(BlockWriter* writer);
void AddLatentQueries(BlockWriter* writer);
void AddLatentValues(BlockWriter* writer);

// Adds the operations of an MLP without its norm. `shared`: of shared experts. Returns the index of the last
// GEMM.
int32_t AddMlp(bool shared, int64_t ffn, BlockWriter* writer);

}  // namespace chakra::generate
