"""Vector registers in compiled loops, and sums whose order does not depend on how wide they are.

A loop that adds up over the samples of a tile has 64 bytes of sums: of every sixteenth sample in float32, of every eighth in float64. They are
added in one order: each half by a tree in its type, then the halves in float64. Products are fused with sums only where `fma` says so.
So results have the same bits on all processors with fused multiply-adds, whatever the compiler makes of a loop.
"""

from __future__ import annotations

import operator
import platform
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

_features = config.CPU_FEATURES  # type: ignore[attr-defined]
if _features is None:
    _features = llvmlite.binding.get_host_cpu_features().flatten()

BYTES = 64 if "+avx512f" in _features else 32
"""Size of a vector: that of a register, or of two on processors with 16 bytes. numba's cache on disk does not know of another one."""

HALVES = 64 // BYTES
"""Vectors that the sums of a loop fill."""

HAS_FMA = "+fma" in _features or platform.machine().lower() in ("aarch64", "arm64")
"""False on processors where the C library would compute a fused multiply-add, in a hundred times the time."""

_int32 = ir.IntType(32)


class Vector(types.Type):
    """numba's type of as many numbers as some registers hold."""

    def __init__(self, element: types.Float, registers: int = 1) -> None:
        self.element, self.lanes = element, registers * BYTES * 8 // element.bitwidth
        super().__init__(f"Vector({element}, {self.lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Vector) -> None:
        element = manager.lookup(fe_type.element).get_value_type()
        super().__init__(manager, fe_type, ir.VectorType(element, fe_type.lanes))


def _of_indices(indices: list[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(_int32, len(indices)), indices)


def _pointer(context, builder, array_type, array, i, t, lanes):
    """Pointer to array[i, t:t + lanes], or of one dimension array[t:t + lanes]."""
    array = cgutils.create_struct_proxy(array_type)(context, builder, array)
    strides = cgutils.unpack_tuple(builder, array.strides)
    size = strides[-1].type
    i, t = (builder.zext(number, size) if number.type.width < size.width else number for number in (i, t))
    offset = builder.mul(t, ir.Constant(size, array_type.dtype.bitwidth // 8))
    if array_type.ndim == 2:
        offset = builder.add(builder.mul(i, strides[0]), offset)
    vector = ir.VectorType(context.get_value_type(array_type.dtype), lanes)
    return builder.bitcast(cgutils.pointer_add(builder, array.data, offset), vector.as_pointer())


@intrinsic
def lanes(typingctx, array):
    """How many numbers of an array a vector holds."""

    def codegen(context, builder, sig, args):
        return context.get_constant(types.intp, Vector(array.dtype).lanes)

    return types.intp(array), codegen


def _load(array: Any, i: Any, t: Any, registers: int) -> Any:
    vector = Vector(array.dtype, registers)

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], *args, vector.lanes)
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return vector(array, i, t), codegen


@intrinsic
def load(typingctx, array, i, t):
    """The vector array[i, t:t + lanes] of a C-contiguous array; of one dimension, array[t:t + lanes]. Nothing checks the indices."""
    return _load(array, i, t, 1)


@intrinsic
def load4(typingctx, array, i, t):
    """Four consecutive vectors as one, see `load`."""
    return _load(array, i, t, 4)


@intrinsic
def store(typingctx, array, i, t, value):
    """array[i, t:t + lanes] = value, see `load`."""

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], *args[:3], value.lanes)
        builder.store(args[3], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.none(array, i, t, value), codegen


def _splat(context, builder, vector, number):
    undefined = ir.Constant(context.get_value_type(vector), ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_int32, 0))
    return builder.shuffle_vector(first, undefined, _of_indices([0] * vector.lanes))


@intrinsic
def splat(typingctx, number):
    """A vector of equal numbers."""
    vector = Vector(number)

    def codegen(context, builder, sig, args):
        return _splat(context, builder, vector, args[0])

    return vector(number), codegen


@intrinsic
def transpose(typingctx, x, rows, t, i, factors, m, target):
    """target[i + j, t + s] = x[rows[t + s], i + j] * factors[i + j], in float32, for eight samples s and features j.

    Features from m on are zero; their numbers are read from behind the sample, and from ``factors``.
    """
    size = 8

    def codegen(context, builder, sig, args):
        x, rows, t, i, factors, m, target = args
        types_of = dict(zip(("x", "rows", "t", "i", "factors", "m", "target"), sig.args, strict=True))
        zero = context.get_constant(types.uintp, 0)
        numbers = ir.VectorType(zero.type, size)

        def read(name, array, row, first):
            pointer = _pointer(context, builder, types_of[name], array, row, first, size)
            return builder.load(pointer, align=8)

        def of_equal(number):
            first = builder.insert_element(ir.Constant(numbers, ir.Undefined), number, ir.Constant(_int32, 0))
            return builder.shuffle_vector(first, first, _of_indices([0] * size))

        features = builder.add(of_equal(i), ir.Constant(numbers, list(range(size))))
        used = builder.icmp_unsigned("<", features, of_equal(m))
        factor, indices = read("factors", factors, zero, i), read("rows", rows, zero, t)
        block = []
        for s in range(size):
            row = builder.extract_element(indices, ir.Constant(_int32, s))
            product = builder.fmul(read("x", x, row, i), factor)
            single = builder.fptrunc(product, ir.VectorType(ir.FloatType(), size))
            block.append(builder.select(used, single, ir.Constant(single.type, [0.0] * size)))
        # Pairs of rows exchange halves, then quarters, then single numbers.
        for width in (4, 2, 1):
            for s in range(size):
                if s & width:
                    continue
                a, b = block[s], block[s + width]
                keep = [p if not p & width else size + p - width for p in range(size)]
                move = [p + width if not p & width else size + p for p in range(size)]
                block[s] = builder.shuffle_vector(a, b, _of_indices(keep))
                block[s + width] = builder.shuffle_vector(a, b, _of_indices(move))
        for j in range(size):
            row = builder.add(i, ir.Constant(i.type, j))
            pointer = _pointer(context, builder, types_of["target"], target, row, t, size)
            builder.store(block[j], pointer, align=4)
        return context.get_dummy_value()

    return types.none(x, rows, t, i, factors, m, target), codegen


# Of numbers as well as vectors.


@intrinsic
def cast(typingctx, x, number):
    """A number in the type of x, the number or the vector."""
    element = x.element if isinstance(x, Vector) else x

    def codegen(context, builder, sig, args):
        value = context.cast(builder, args[1], number, element)
        return _splat(context, builder, x, value) if isinstance(x, Vector) else value

    return x(x, number), codegen


@intrinsic
def larger(typingctx, a, b, this, that):
    """``this`` where a > b, and ``that`` elsewhere."""

    def codegen(context, builder, sig, args):
        return builder.select(builder.fcmp_ordered(">", *args[:2]), *args[2:])

    return a(a, a, a, a), codegen


@intrinsic
def add_to_exponent(typingctx, p, shifted):
    """p 2^n, where the last bits of ``shifted`` are n."""
    width, digits = (32, 23) if "float32" in str(p) else (64, 52)

    def codegen(context, builder, sig, args):
        whole = ir.IntType(width)
        whole = ir.VectorType(whole, p.lanes) if isinstance(p, Vector) else whole
        places = ir.Constant(whole, [digits] * p.lanes if isinstance(p, Vector) else digits)
        p_bits, n_bits = (builder.bitcast(value, whole) for value in args)
        return builder.bitcast(builder.add(p_bits, builder.shl(n_bits, places)), args[0].type)

    return p(p, p), codegen


@intrinsic
def fma(typingctx, a, b, c):
    """a * b + c of numbers or vectors of one type, rounded once where the processor can."""

    def codegen(context, builder, sig, args):
        if not HAS_FMA:
            return builder.fadd(builder.fmul(*args[:2]), args[2])
        if not isinstance(c, Vector):
            return builder.fma(*args)
        vector = args[2].type
        name = f"llvm.fma.v{c.lanes}f{c.element.bitwidth}"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)
        return builder.call(function, args)

    return c(c, c, c), codegen


def _define(operation: Any, instruction: str) -> None:
    """Define a binary operator on vectors."""

    @infer_global(operation)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Vector) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    @lower_builtin(operation, Vector, Vector)
    def _lower(context, builder, sig, args):
        return getattr(builder, instruction)(*args)


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")


def _fold(builder: Any, a: Any, b: Any, group: int) -> Any:
    """Sums of neighbours in each ``group`` of numbers: in a, and then in b."""
    even = [
        first + start + p
        for first in range(0, a.type.count, group)
        for start in (0, a.type.count)
        for p in range(0, group, 2)
    ]
    return builder.fadd(
        builder.shuffle_vector(a, b, _of_indices(even)),
        builder.shuffle_vector(a, b, _of_indices([p + 1 for p in even])),
    )


@intrinsic
def add_totals(typingctx, target, i, j, vectors):
    """Add the sums of one, two or four vectors to target[i, j], target[i, j + 1], ..., float64; see `load`."""
    vector, n_sums = vectors[0], len(vectors)
    # Within 16 bytes numbers change places at no cost.
    group = 16 * 8 // vector.element.bitwidth

    def codegen(context, builder, sig, args):
        sums = cgutils.unpack_tuple(builder, args[3])
        for _ in range(group.bit_length() - 1):
            pairs = zip(sums[::2], sums[1::2] or sums, strict=True)
            sums = [_fold(builder, a, b, group) for a, b in pairs]
        pointer = _pointer(context, builder, sig.args[0], *args[:3], n_sums)
        result = builder.load(pointer, align=8)
        for half in range(0, vector.lanes, 2 * group):
            places = [
                n * vector.lanes + half + p for n in range(len(sums)) for p in range(min(n_sums, group))
            ]
            low = builder.shuffle_vector(sums[0], sums[-1], _of_indices(places))
            high = builder.shuffle_vector(sums[0], sums[-1], _of_indices([p + group for p in places]))
            total = builder.fadd(low, high)
            if vector.element == types.float32:
                total = builder.fpext(total, result.type)
            result = builder.fadd(result, total)
        builder.store(result, pointer, align=8)
        return context.get_dummy_value()

    return types.none(target, i, j, vectors), codegen
