"""Basics of compiled kernels: the decorator, bit operations and random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
_ALL_BITS = (1 << 64) - 1


def kernel(func: _Kernel) -> _Kernel:
    """Compile `func` on its first call; cache it on disk where a cache can be written.

    Kernels take and return plain arrays and numbers. A kernel and the kernels it calls share a
    file, because numba's cache does not see edits in other files; those of this file and of
    `cluster/_drawn.py` are the exception, because they do not change.
    """
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        return njit(cache=True, **options)(func)
    except RuntimeError:  # no writable cache directory, e.g. a read-only container
        return njit(**options)(func)


def inlined(func: _Kernel) -> _Kernel:
    """Compile `func` as a part of each kernel that calls it, which is faster for small functions.

    A call costs more than a small function itself if arrays are passed.
    """
    return njit(nogil=True, error_model="numpy", inline="always")(func)


@contextmanager
def interrupts_as_such() -> Iterator[None]:
    """Raise KeyboardInterrupt if Ctrl-C comes while a kernel is called.

    If it comes while numba unpacks the arguments, numba raises SystemError from it.
    """
    try:
        yield
    except SystemError as error:
        if not is_interrupt(error):
            raise
        raise KeyboardInterrupt from error


def is_interrupt(error: BaseException | None) -> bool:
    """Tell whether an error is, or was caused by, a Ctrl-C."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


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


# Overloads, so that kernels also run as plain Python with NUMBA_DISABLE_JIT=1.
@overload(popcount, inline="always")
def _popcount(word):
    return lambda word: types.int64(_ctpop(word))


@overload(lowest_bit, inline="always")
def _lowest_bit(word):
    return lambda word: types.int64(_cttz(word))


# Assigning an array to a slice, as in `target[:] = source`, compiles for a second longer than a
# loop, because numba then also compiles the message about shapes that differ.


@kernel
def copy_to(target, source):
    """Copy the values of a vector to another of the same length."""
    for i in range(source.size):
        target[i] = source[i]


@kernel
def copy_rows_to(target, source):
    """Copy the values of a matrix to another of the same shape."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


# Random numbers: splitmix64 (Steele, Lea and Flood 2014). Its state is one word, so every resample
# can have its own generator; numba supports no numpy generator that is as cheap to create.


@kernel
def random_state_of(seed):
    """Return the state of a new generator."""
    state = np.empty(1, dtype=np.uint64)
    state[0] = np.uint64(seed)
    return state


def random_word(state):
    """Return the next 64 random bits."""
    state[0] = counter = (int(state[0]) + 0x9E3779B97F4A7C15) & _ALL_BITS
    word = ((counter ^ (counter >> 30)) * 0xBF58476D1CE4E5B9) & _ALL_BITS
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _ALL_BITS
    return np.uint64(word ^ (word >> 31))


# The same with 64-bit words, which overflow silently in a kernel; numpy would warn.
@overload(random_word)
def _random_word(state):
    def advance(state):
        state[0] += np.uint64(0x9E3779B97F4A7C15)
        word = state[0]
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return word ^ (word >> np.uint64(31))

    return advance


@kernel
def random_below(state, bound):
    """Return a random integer from 0 to `bound` - 1."""
    return np.int64((random_word(state) >> np.uint64(1)) % np.uint64(bound))


@kernel
def random_uniform(state):
    """Return a random number in [0, 1)."""
    return np.float64(random_word(state) >> np.uint64(11)) * 2.0**-53


@kernel
def random_place(state, cumulative):
    """Return a random place, with the increments of `cumulative` as weights."""
    aim = random_uniform(state) * cumulative[-1]
    low = 0
    high = cumulative.size - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > aim:
            high = middle
        else:
            low = middle + 1
    return low
