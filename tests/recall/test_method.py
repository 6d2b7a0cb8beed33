"""Methods: checked when made, printed so that they can be made again."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlab.errors import MethodError
from memlab.recall.method import CHANNELS, Method, preset, presets

SHARES = st.floats(0, 1)
WEIGHTS = st.floats(0.001, 1000)


def test_the_presets_are_the_four_that_every_part_of_memlab_names():
    assert list(presets()) == ["lexical", "dense", "hybrid", "default"]
    assert preset("lexical").weights == {"lexical": 1.0}
    assert preset("dense").weights == {"dense": 1.0}
    assert preset("hybrid").weights == {"dense": 0.5, "lexical": 0.5}
    assert set(preset("default").weights) == set(CHANNELS)


def test_presets_can_not_be_written():
    with pytest.raises(TypeError):
        presets()["mine"] = preset("dense")
    with pytest.raises(dataclasses.FrozenInstanceError):
        preset("dense").dense = 2.0


def test_an_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(MethodError, match=r"no method is called 'bm25'; there are lexical, dense, hybrid, default"):
        preset("bm25")
    with pytest.raises(MethodError, match="no method is called 7"):
        preset(7)


@given(
    WEIGHTS, st.none() | WEIGHTS, st.none() | SHARES, st.sampled_from(["score", "rrf"]), st.integers(1, 1000), SHARES
)
def test_a_printed_method_reads_back_as_the_same_method(dense, lexical, neighbours, fusion, rrf_k, diversify):
    method = Method(
        "mine", dense, lexical or 0.0, neighbours=neighbours or 0.0, fusion=fusion, rrf_k=rrf_k, diversify=diversify
    )
    options = eval(repr(method).replace("mine(", "dict("))
    assert Method("mine", **options) == method


def test_equal_methods_print_alike_whatever_kind_of_number_made_them():
    plain = Method("m", dense=1, lexical=0.25, rrf_k=10)
    arrays = Method("m", dense=np.int64(1), lexical=np.float32(0.25), rrf_k=np.int32(10))
    assert repr(plain) == repr(arrays) == "m(dense=1.0, lexical=0.25, rrf_k=10)"
    assert plain == arrays
    assert hash(plain) == hash(arrays)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"dense": -0.1}, "dense is -0.1; it must be a number from 0 up"),
        ({"dense": float("nan")}, "dense is nan"),
        ({"dense": float("inf")}, "dense is inf"),
        ({"dense": True}, "dense is True"),
        ({"dense": np.True_}, "dense is "),
        ({"dense": "1"}, "dense is '1'"),
        ({"dense": None}, "dense is None"),
        ({"neighbours": 1.01}, "neighbours is 1.01; it must be a number from 0 to 1"),
        ({"associations": -1}, "associations is -1"),
        ({"diversify": 2}, "diversify is 2"),
        ({"fusion": "sum"}, "fusion is 'sum'; it is 'score' or 'rrf'"),
        ({"rrf_k": 0}, "rrf_k is 0; it must be a whole number from 1 up"),
        ({"rrf_k": 60.0}, r"rrf_k is 60\.0"),
        ({"rrf_k": True}, "rrf_k is True"),
        ({"name": " "}, "a method's name"),
        ({"name": None}, "a method's name"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(wrong, said):
    with pytest.raises(MethodError, match=said):
        Method(**{"name": "m", "lexical": 1.0, **wrong})


def test_salience_alone_ranks_nothing():
    with pytest.raises(MethodError, match="nothing would rank"):
        Method("m", salience=1.0)
    with pytest.raises(MethodError, match="nothing would rank"):
        Method("m")


def test_but_changes_what_is_named_and_keeps_the_rest():
    changed = preset("hybrid").but(lexical=0.2, name="mine")
    assert changed == Method("mine", dense=0.5, lexical=0.2)
    assert preset("hybrid").lexical == 0.5


def test_but_refuses_what_a_method_does_not_have():
    with pytest.raises(MethodError, match=r"a method has no \['splade'\]; it has \["):
        preset("hybrid").but(splade=0.2)
    with pytest.raises(MethodError, match="diversify is 3"):
        preset("hybrid").but(diversify=3)
