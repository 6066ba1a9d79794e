"""Draw the figures of the claims."""

from skem.repro.files import plain_errors
from skem.repro.papers import claims_figures

with plain_errors():
    claims_figures.draw("results")
