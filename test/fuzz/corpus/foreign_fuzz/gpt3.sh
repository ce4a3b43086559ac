#!/bin/bash
# A run of 2 nodes.
GPUS_PER_NODE=8
NUM_NODES=2
TP=8
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --master_addr ${MASTER_ADDR:-localhost}
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --vocab-size 50257
    --attention-backend auto
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --train-iters 500000
    --lr 6.0e-5
    --clip-grad 1.0
    --bf16
)
MODEL_PARALLEL_ARGS=(
	--tensor-model-parallel-size ${TP}
	--sequence-parallel
	--pipeline-model-parallel-size 2
	--use-distributed-optimizer --overlap-grad-reduce
)
