#!/bin/sh
# What prefix caching brings on the GPU of this machine, by the kit's own command: latency at three
# prefix lengths, then throughput of 64 clients. Random weights, so nothing is downloaded.
#
#     tests/gpu/bench.sh OUT PYTHON [latency|throughput]...
#
# PYTHON has vLLM and torch. Each of the two starts vLLM twice, which is most of its time; so latency
# sends its prompts as text and as token IDs in turn, to the same two servers. FLAGS: further options
# of the command.
set -eu
out=$1 python=$2
shift 2
[ $# -gt 0 ] || set -- latency throughput

export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
python3 -m tests.gpu.llama "$out/model"

bench() {
    python3 -m monitoring bench on-off --python "$python" --model "$out/model" \
        --flag=--load-format=dummy --flag=--max-model-len=8192 --flag=--max-num-seqs=64 \
        --repeats 3 --seed 42 ${FLAGS-} "$@"
}

for one; do
    case $one in
    latency)
        bench --prefix 512 --prefix 4096 --prefix 7168 --concurrency 1 \
            --prompts text --prompts tokens \
            --new-tokens 32 --output-tokens 16 --requests 20 --output "$out/latency"
        ;;
    throughput)
        bench --prefix 4096 --concurrency 64 \
            --new-tokens 128 --output-tokens 256 --requests 128 --output "$out/throughput"
        ;;
    *)
        echo "$one is neither latency nor throughput" >&2
        exit 2
        ;;
    esac
done
