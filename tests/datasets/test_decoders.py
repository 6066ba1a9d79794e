"""From the bytes of a file to arrays, and the hash of their content."""

from __future__ import annotations

import io
import json
import lzma
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from skem import datasets
from skem.datasets import _decode
from skem.datasets._waveform import waveform

rng = np.random.default_rng(0)


def decoded(decoder: str, blobs: list[bytes], **spec) -> tuple[np.ndarray, np.ndarray]:
    return _decode._DECODERS[decoder][1](blobs, spec)


def test_all_forms_of_cifar_agree():
    pictures = rng.integers(0, 256, (12, 32, 32, 3), dtype=np.uint8)
    labels = rng.integers(0, 10, 12)
    parts = [slice(2 * part, 2 * part + 2) for part in range(6)]
    planes = pictures.transpose(0, 3, 1, 2).reshape(12, -1)
    rows = np.column_stack([labels.astype(np.uint8), planes])
    binary = [rows[part].tobytes() for part in parts]

    def pickled(part):
        """A batch as CIFAR's authors wrote it, in Python 2."""
        pixels, integers = planes[part].tobytes(), b"".join(b"K" + bytes([label]) for label in labels[part])
        shape = b"K\x02M\x00\x0c\x86"  # (2, 3072)
        return (
            b"\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x06labelsq\x03U\x06labelsq\x04]q\x05(" + integers + b"e"
            b"U\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\n(" + shape + b"T"
            + len(pixels).to_bytes(4, "little") + pixels + b"tRu."
        )  # fmt: skip

    images = []
    for part in parts:
        stream = io.BytesIO()
        Image.fromarray(pictures[part].reshape(2, 1024, 3)).save(stream, "PNG")
        images.append(stream.getvalue())
    lists = [json.dumps(part.tolist()).encode() for part in (labels[:10], labels[10:])]
    forms = {"cifar_binary": binary, "cifar_pickled": [pickled(part) for part in parts]}
    for decoder, blobs in (forms | {"cifar_png": images + lists}).items():
        data, target = decoded(decoder, blobs, shape=[12, 32, 32, 3])
        assert np.array_equal(data, pictures)
        assert np.array_equal(target, labels)


def test_digits_csv():
    blob = b"label,1x1,1x2,2x1,2x2\n5,0,255,1,2\n0,3,4,5,6\n"
    data, target = decoded("digits_csv", [blob, blob], shape=[4, 2, 2])
    assert data.tolist() == [[[0, 255], [1, 2]], [[3, 4], [5, 6]]] * 2
    assert target.tolist() == [5, 0, 5, 0]


NO_YES = {"target_names": ["no", "yes"], "shape": [2, 2]}


def assert_table(blobs, data, target, decoder="table", **spec):
    found, codes = decoded(decoder, blobs, **NO_YES | spec)
    np.testing.assert_array_equal(found, data)
    assert not np.signbit(found[found == 0]).any()
    assert codes.tolist() == target


def test_table_with_and_without_header():
    rows = b"1, -0.0,g\r\n% more\r\n2,3e-1,b\r\n"
    header = b"% a remark\r\n@RELATION radar\r\n@ATTRIBUTE x Real\r\n\r\n@DATA\r\n"
    for blob in (rows, header + rows, header + rows.strip()):
        assert_table([blob], [[1, 0], [2, 0.3]], [1, 0], labels=["b", "g"])
    with pytest.raises(ValueError, match="not in list"):
        decoded("table", [b"1,2,x\n"], **NO_YES)
    with pytest.raises(ValueError, match="inhomogeneous"):
        decoded("table", [b"1,2,no\n1,no\n"], **NO_YES)


def test_intervals_and_words():
    spec = {"feature_names": ["age", "side", "grade"], "levels": {"side": ["left", "right"]}, "shape": [2, 3]}
    assert_table([b"40-49,right,3,yes\n5-9,left,-1,no\n"], [[40, 1, 3], [5, 0, -1]], [1, 0], **spec)
    with pytest.raises(ValueError, match="not in list"):
        decoded("table", [b"40-49,both,3,yes\n"], **NO_YES | spec)


def test_a_table_of_numbers_below_names():
    """Labels are in no order, and numbers of samples stand before the features."""
    blobs = [b'"n";"a b";"c";"quality"\n1;1;-0.0;5\n2;2;.5;3\n', b'"n";"a b";"c";"quality"\n3;7;8;4\n']
    spec = {"target_names": ["poor", "good", "fair"], "labels": ["3", "5", "4"]}
    assert_table(blobs, [[1, 0], [2, 0.5], [7, 8]], [1, 0, 2], **spec)
    for label in (b"6", b"2", b"nan"):
        with pytest.raises(_decode.SourceError, match="none of the classes"):
            decoded("table", [b"1,2," + label], **NO_YES | spec)


def test_words_alone_are_samples_and_rare_classes_are_left_out():
    spec = {"columns": ["x", "class"], "feature_names": ["x=a", "x=b"], "left_out": ["rare"]}
    for header in (b"", b"x,class\n"):
        assert_table([header + b"a,yes\nb,no\na,rare\n"], [[1, 0], [0, 1]], [1, 0], **spec)


def test_labels_in_a_file_of_their_own():
    spec = {"decoder": "features_and_labels", "labels": ["-1", "1"]}
    assert_table([b"1 2 \n3 4 \n", b"1\n-1\n"], [[1, 2], [3, 4]], [1, 0], **spec)
    with pytest.raises(ValueError, match="shorter"):
        assert_table([b"1 2\n3 4\n", b"1\n"], [], [], **spec)


def test_columns_are_selected_by_name():
    blob = b'"id","kind","x","sign"\n7,"3","0.5","s"\n8,"4",?,"t"\n9,"5",-0,"s"\n'
    spec = {"columns": ["id", "class", "x", "sign"], "feature_names": ["sign=s", "x"]}
    data = [[1, 0.5], [0, np.nan], [1, 0]]
    assert_table([blob], data, [0, 0, 1], **spec, labels=[["3", "4"], "5"])
    with pytest.raises(KeyError, match="5"):
        decoded("table", [blob], **NO_YES, **spec, labels=["3", "4"])


def test_a_table_without_labels_has_one_class():
    assert_table([b" 1 2\n 3 4\n"], [[1, 2], [3, 4]], [0, 0], target_names=["row"])


def test_unknown_values_and_dates():
    blob = b"1/2/1998,0.5,?,0.\n1/3/1998,?,7,1.\n"
    assert_table([blob], [[0.5, np.nan], [np.nan, 7]], [0, 1], labels=["0.", "1."])


def test_pickled_tables_execute_nothing():
    class Bomb:
        def __reduce__(self):
            raise_ = "raise AssertionError('executed')"
            return exec, (raise_,)

    features = rng.normal(size=(2, 5))
    integers = np.array([np.arange(5), [0, 1, 1, 0, 1]])
    content = [Bomb(), bytearray(features.tobytes()), bytearray(integers.astype("<i8").tobytes())]
    blob = lzma.compress(pickle.dumps(content, protocol=5))
    data, target = decoded("pickled_frame", [blob, blob], shape=[10, 2])
    assert np.array_equal(data, np.concatenate([features.T] * 2))
    assert target.tolist() == [0, 1, 1, 0, 1] * 2


def test_waves_are_those_of_the_definition():
    data, target = waveform(4000, 0)
    position = np.arange(1, 22)
    middle, right, left = (np.maximum(6 - np.abs(position - peak), 0) for peak in (11, 15, 7))
    assert_allclose(data[target == 1].mean(axis=0), (middle + right) / 2, atol=0.2)
    assert_allclose(data[target == 0].mean(axis=0), (middle + right + 2 * left) / 4, atol=0.2)
    assert target.mean() == pytest.approx(1 / 3, abs=0.03)
    assert np.array_equal(waveform(4000, 0)[0], data)
    assert not np.array_equal(waveform(4000, 1)[0], data)


def test_content_hash_is_of_the_content():
    data, target = rng.normal(size=(4, 3)), np.arange(4)
    found = datasets.content_hash(data, target)
    assert found == datasets.content_hash(np.asfortranarray(data), target.astype(">i8"))
    assert found == datasets.content_hash(np.repeat(data, 2, axis=0)[::2], target)
    for other in (data + 1, data.view(np.int64), data.reshape(-1, 1, data.shape[1])):
        assert found != datasets.content_hash(other, target)
    assert found != datasets.content_hash(data, target + 1)
