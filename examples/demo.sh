#!/usr/bin/env bash
# The first run: generate judged data, look at it, train a ranker, look into it, evaluate and compare it. Usage: demo.sh FOLDER
set -euo pipefail
out=${1:-demo}
mkdir -p "$out"
step() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

step rankinite synth --queries 500 --out "$out"
step rankinite describe "$out/test.txt" --features 5
step rankinite train "$out/train.txt" --valid "$out/valid.txt" --trees 200 --out "$out/lambdamart.rankinite"
step rankinite inspect "$out/lambdamart.rankinite" --importance 5
step rankinite evaluate "$out/lambdamart.rankinite" "$out/test.txt" --measure ndcg@10 --measure err
step rankinite compare first=feature:1 second=feature:2 lambdamart="$out/lambdamart.rankinite" \
  --data "$out/test.txt" --measure ndcg@10 --measure err

printf '\nData and model are in %s. Try the same on your own files:\n' "$out"
printf '  rankinite describe YOUR.txt\n  rankinite train YOUR.txt --valid YOUR-VALID.txt --out new.rankinite\n'
printf '  rankinite compare old=old-scores.txt new=new.rankinite --data YOUR-TEST.txt\n'
