"""Numbers from outside become vectors in one place, checked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memlab.errors import EncoderError, EncoderMismatch
from memlab.unit_rows import unit_rows


def test_rows_are_divided_by_their_length():
    found = unit_rows(np.array([[3.0, 4.0], [0.0, -2.0]]), 2, 2, "e")
    assert found.tolist() == [[np.float32(0.6), np.float32(0.8)], [0.0, -1.0]]


def test_a_zero_row_stays_zero():
    assert unit_rows([[0.0, 0.0]], 1, 2, "e").tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("scale", [1e-320, 1e-40, 1e30, 1e300])
def test_very_small_and_very_large_rows_keep_their_direction(scale):
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0]]) * scale, 1, 2, "e"), [[0.6, 0.8]], rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint32"])
def test_any_real_dtype_becomes_contiguous_float32_of_its_own(dtype):
    given_rows = np.asfortranarray(np.array([[3, 4], [6, 8], [1, 0]], dtype=dtype))
    found = unit_rows(given_rows, 3, 2, "e")
    assert found.dtype == np.float32
    assert found.flags.c_contiguous
    assert found.flags.writeable
    assert not np.shares_memory(found, given_rows)


@given(arrays(np.float32, (5, 3), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
@settings(max_examples=100, deadline=None)
def test_every_finite_row_comes_out_of_length_one_or_zero(rows):
    lengths = np.linalg.norm(unit_rows(rows, 5, 3, "e").astype(np.float64), axis=1)
    zero = (rows == 0).all(axis=1)
    assert (lengths[zero] == 0).all()
    np.testing.assert_allclose(lengths[~zero], 1.0, atol=1e-6)


def test_rows_beyond_one_block_are_checked_too():
    rows = np.ones((5000, 2))
    assert np.allclose(unit_rows(rows, 5000, 2, "e"), np.sqrt(0.5))
    rows[4999, 1] = np.nan
    with pytest.raises(EncoderError, match="text 4999"):
        unit_rows(rows, 5000, 2, "e")


@pytest.mark.parametrize("columns", [4, 6])
def test_another_width_is_refused_with_both_numbers_never_padded_or_cut(columns):
    with pytest.raises(EncoderMismatch, match=rf"rows of {columns} numbers where 5 were expected"):
        unit_rows(np.ones((2, columns)), 2, 5, "mine")


@pytest.mark.parametrize("rows", [1, 3])
def test_another_number_of_rows_is_refused_with_both_numbers(rows):
    with pytest.raises(EncoderError, match=rf"gave {rows} rows for 2 texts"):
        unit_rows(np.ones((rows, 5)), 2, 5, "mine")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused_by_the_place_of_the_text(number):
    rows = np.ones((3, 2))
    rows[1, 0] = number
    with pytest.raises(EncoderError, match="NaN or infinity for text 1"):
        unit_rows(rows, 3, 2, "mine")


@pytest.mark.parametrize(
    ("given_rows", "found"),
    [
        (np.array([["1", "2"]]), "dtype <U1"),
        (np.array([[object()]]), "dtype object"),
        (np.array([[1 + 2j]]), "dtype complex128"),
        (np.array([[True]]), "dtype bool"),
        ([[1.0, 2.0], [1.0]], "no matrix"),
        (np.ones(2), r"shape \(2,\)"),
        (np.ones((1, 2, 3)), r"shape \(1, 2, 3\)"),
        (None, "dtype object"),
    ],
)
def test_what_is_no_matrix_of_real_numbers_is_refused_in_words(given_rows, found):
    with pytest.raises(EncoderError, match=found):
        unit_rows(given_rows, 1, 2, "mine")
