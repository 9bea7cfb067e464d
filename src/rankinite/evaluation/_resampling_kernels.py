"""Resampling sums for the significance tests.

Random numbers are a pure function of (seed, resample, block), so a resample gives the same sum whichever
thread computes it. The function is splitmix64.

Notation: n differences, resamples numbered from ``first``.
"""

from __future__ import annotations

import numpy as np

from rankinite.engine._hash_kernels import STEP, mixed
from rankinite.engine.kernel import Floats, kernel

# All uint64: a uint64 added to an int64 would silently become a float64.
_LOW_HALF = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


@kernel
def stream(seed: np.uint64, resample: np.uint64) -> np.uint64:
    """Where the counter of one resample starts."""
    return mixed(mixed(seed + STEP) + (resample + _ONE) * STEP)


@kernel
def sign_flip_sums(magnitudes: Floats, seed: np.uint64, first: int, out_sums: Floats) -> None:
    """Sum ``magnitudes`` (n) with random signs, once for each entry of ``out_sums`` (resamples).

    Eight magnitudes at a time: the 256 signed sums they can give are tabled once and then looked up by eight
    random bits for each resample.
    """
    n, resamples = len(magnitudes), len(out_sums)
    table = np.empty(256, np.float64)
    starts = np.empty(resamples, np.uint64)
    words = np.empty(resamples, np.uint64)
    for r in range(resamples):
        starts[r] = stream(seed, np.uint64(first + r))
        out_sums[r] = 0.0
    for begin in range(0, n, 8):
        if begin % 64 == 0:
            offset = np.uint64(begin // 64 + 1) * STEP
            for r in range(resamples):
                words[r] = mixed(starts[r] + offset)
        size = min(8, n - begin)
        table[0] = 0.0
        for i in range(size):
            half = 1 << i
            for sign_bits in range(half):
                below = table[sign_bits]
                table[sign_bits] = below - magnitudes[begin + i]
                table[sign_bits + half] = below + magnitudes[begin + i]
        shift = np.uint64(begin % 64)
        mask = np.uint64((1 << size) - 1)
        for r in range(resamples):
            out_sums[r] += table[(words[r] >> shift) & mask]


@kernel
def bootstrap_sums(values: Floats, seed: np.uint64, first: int, out_sums: Floats) -> None:
    """Sum n draws with replacement from ``values`` (n), once for each entry of ``out_sums`` (resamples)."""
    n = len(values)
    count = np.uint64(n)
    half_word = np.uint64(32)
    for r in range(len(out_sums)):
        counter = stream(seed, np.uint64(first + r))
        # Two draws per word, in two sums: the additions need not wait for each other.
        even, odd = 0.0, 0.0
        for _ in range(n // 2):
            counter += STEP
            word = mixed(counter)
            even += values[((word >> half_word) * count) >> half_word]
            odd += values[((word & _LOW_HALF) * count) >> half_word]
        if n % 2:
            even += values[((mixed(counter + STEP) >> half_word) * count) >> half_word]
        out_sums[r] = even + odd
