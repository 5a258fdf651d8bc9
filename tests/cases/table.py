"""Every case, with what is to come of it. Letters such as E4 stand for public reports of that kind of trouble."""

from cases.rows_answers import LAYERS, NUMERICS
from cases.rows_code import PYTHON, TEXT
from cases.rows_processes import PROCESSES
from cases.rows_timing import SHAPES, TIMING

CASES = (*TIMING, *SHAPES, *TEXT, *PYTHON, *NUMERICS, *LAYERS, *PROCESSES)
