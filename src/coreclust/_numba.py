"""The one place where kernels meet numba: the decorator and two bit tricks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit, types
from numba.extending import intrinsic, overload

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


def kernel(func: _Kernel) -> _Kernel:
    """Compile `func` on its first call; cache it on disk where a cache can be written.

    Kernels take and return plain arrays and numbers. A kernel and the kernels it
    calls share a file, because numba's cache does not see edits elsewhere.
    """
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(func)
    except RuntimeError:  # no writable cache directory, e.g. a read-only container
        return njit(nogil=True, error_model="numpy")(func)


def popcount(word: int) -> int:
    """Return the number of set bits of a 64-bit word."""
    return int(word).bit_count()


def lowest_bit(word: int) -> int:
    """Return the position of the lowest set bit of a non-zero 64-bit word."""
    value = int(word)
    return (value & -value).bit_length() - 1


@intrinsic
def _ctpop(_context: Any, word: Any) -> Any:
    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def _cttz(_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, 0))

    return types.uint64(types.uint64), codegen


# Overloads rather than intrinsics under the public names, so that the same kernels
# also run as plain Python with NUMBA_DISABLE_JIT=1.
@overload(popcount, inline="always")
def _popcount(word):
    return lambda word: types.int64(_ctpop(word))


@overload(lowest_bit, inline="always")
def _lowest_bit(word):
    return lambda word: types.int64(_cttz(word))
