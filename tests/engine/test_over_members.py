"""What holds for the data of all members: the same as for all data in one place, to the last bit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from oracles.members import Group, parts_of
from rankinite.engine.over_members import exact_sum, exact_terms, gathered, is_any, largest, total

NUMBERS = np.concatenate((np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(-250, 250), [1e300, -1e300, 0.1, 0.2]))


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.5), (0.1, 0.0, 0.9)])
def test_sums_are_those_of_one_place(shares):
    parts = [NUMBERS[part] for part in parts_of(len(NUMBERS), shares)]
    found = Group(len(shares)).run(lambda member: exact_sum(member, parts[member.number].tolist()))
    assert set(found) == {math.fsum(NUMBERS.tolist())}
    assert exact_sum(None, NUMBERS.tolist()) == math.fsum(NUMBERS.tolist())


@pytest.mark.parametrize("values", [[], [0.0], [0.1] * 10, [1e300, 1.0, -1e300], [1e-320, 1e300], NUMBERS.tolist()])
def test_few_terms_have_exactly_the_same_sum(values):

    terms = exact_terms(values)
    assert sum(map(Fraction, terms), Fraction(0)) == sum(map(Fraction, values), Fraction(0))
    assert len(terms) <= 40  # a float has 53 bits of the 2,100 that exponents span


def test_an_endless_sum_stays_one():
    assert exact_sum(None, [math.inf, 1.0]) == math.inf


def test_numbers_and_flags_of_all():
    def ask(member):
        mine = np.arange(member.number, dtype=np.float32)
        return (
            gathered(member, mine).tolist(),
            total(member, member.number + 1),
            largest(member, 5 - member.number),
            is_any(member, member.number == 2),
            is_any(member, False),
        )

    assert Group(3).run(ask) == [([0.0, 0.0, 1.0], 6, 5, True, False)] * 3
    assert gathered(None, np.arange(3)).tolist() == [0, 1, 2]
    assert (total(None, 4), largest(None, 4), is_any(None, [1])) == (4, 4, True)
