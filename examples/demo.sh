#!/usr/bin/env bash
# The first run: generate judged data, look at it, evaluate one ranker, compare two. Usage: demo.sh FOLDER
set -euo pipefail
out=${1:-demo}
mkdir -p "$out"
step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

step rankinite synth --queries 500 --out "$out/test.txt.gz"
step rankinite describe "$out/test.txt.gz" --features 5
step rankinite evaluate feature:1 "$out/test.txt.gz" --measure ndcg@10 --measure err
step rankinite compare first=feature:1 second=feature:2 --data "$out/test.txt.gz" --measure ndcg@10 --measure err

printf '\nThe data is in %s. Try the same on your own files:\n' "$out/test.txt.gz"
printf '  rankinite describe YOUR.txt\n  rankinite compare old=old-scores.txt new=new-scores.txt --data YOUR.txt\n'
