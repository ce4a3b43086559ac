#!/usr/bin/env python3
"""Generated steps against measured iterations: runs `replay --model ...` for rows of vTrain's and SimuMax's tables.

    test/validation/steps.py build/chakra-replay ../shared/data/validation [--rows 40] [--launch 90us]

Prints the mean of |predicted / measured - 1| and the mean error of each table. Nothing is fitted to the rows, but what
--launch says. Of vTrain's tables --rows are drawn, always the same; 0 takes all.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import random
import subprocess
import sys


def vtrain(row, launch):
    model = (f"layers={row['layers']},hidden={row['hidden']},heads={row['heads']},ffn={4 * int(row['hidden'])},gated=no,"
             f"vocab=51200,tied=yes,norm=layer,bias=yes,positions={row['seq_len']}")
    parallel = f"tp={row['tp']},pp={row['pp']},dp={row['dp']},sp=no"
    training = (f"seq={row['seq_len']},micro_batch={row['micro_batch']},global_batch={row['global_batch']},dtype=fp16,"
                f"recompute=full,attention=math,launch={launch}")
    return "dgx-a100", model, parallel, training, float(row["iteration_s"])


def simumax(row, launch):
    model = (f"layers={row['layers']},hidden={row['hidden']},heads={row['heads']},kv_heads={row['kv_heads']},"
             f"ffn={row['ffn']},vocab={row['vocab']}")
    parallel = f"tp={row['tp']},pp={row['pp']},dp={row['dp']},zero=1"
    batch = int(row["mbs"]) * int(row["microbatches"]) * int(row["dp"])
    training = f"seq={row['seq']},micro_batch={row['mbs']},global_batch={batch},launch={launch}"
    return "dgx-b200", model, parallel, training, float(row["real_ms"]) / 1e3


def error(binary, step):
    cluster, model, parallel, training, measured = step
    done = subprocess.run([binary, "replay", "--model", model, "--parallel", parallel, "--training", training,
                           "--cluster", cluster, "--format", "json", "--threads", "1"], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr.strip(), file=sys.stderr)
        return None
    report = json.loads(done.stdout)
    return int(report.get("run", report)["makespan_ps"]) / 1e12 / measured - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("data")
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--launch", default="0us")
    args = parser.parse_args()

    def rows(name):
        with open(os.path.join(args.data, name)) as f:
            return list(csv.DictReader(f))

    random.seed(1)
    all_of_vtrain = rows("training_iterations_vtrain.csv")
    tables = {}
    for name, part in (("vTrain, one node", "single"), ("vTrain, several nodes", "multi")):
        of_part = [r for r in all_of_vtrain if part in r["source"]]
        drawn = random.sample(of_part, min(args.rows, len(of_part))) if args.rows else of_part
        tables[name] = [vtrain(r, args.launch) for r in drawn]
    tables["SimuMax, B200"] = [simumax(r, args.launch) for r in rows("training_simumax_b200.csv")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, steps in tables.items():
            errors = [e for e in pool.map(lambda s: error(args.binary, s), steps) if e is not None]
            mean = 100 * sum(errors) / max(1, len(errors))
            off = 100 * sum(abs(e) for e in errors) / max(1, len(errors))
            print(f"{name}: {len(errors)} of {len(steps)} rows, off by {off:.1f} %, mean error {mean:+.1f} %")


if __name__ == "__main__":
    main()
