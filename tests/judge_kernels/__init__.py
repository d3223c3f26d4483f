"""A second reference of the sample kernels, written from docs/sample-kernels.md and what `skirc opt
--op-type` says, alone. It shares nothing with the kernels, nor with tests/cases: what two of them
disagree on is a fault of one of them or of the page."""
