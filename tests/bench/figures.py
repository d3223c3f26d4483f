#!/usr/bin/env python3
"""Figures beside their aims. Each bench adds those that it has measured to a file (--figures); this
program prints the file as a table in Markdown.

What a figure is measured with stands in its row, and took turns with it, round by round. Where the
ratios of the rounds are too far apart, the row says so and has no figure."""

import argparse
import json
import os
import statistics
import sys

# The largest ratio of the middle half of all by the smallest, for a figure to be told.
NOISE = 1.25


def parse(parser, rounds, rounds_if_short):
    """The arguments, with the options that all benches have."""
    parser.add_argument("--runs", type=int, help=f"rounds ({rounds}, {rounds_if_short} if short)")
    parser.add_argument("--figures", help="file to which figures with aims are added")
    parser.add_argument("--short", action="store_true", help="less, and fewer rounds")
    args = parser.parse_args()
    os.environ["CCACHE_DISABLE"] = "1"  # compilers shall work
    args.runs = args.runs or (rounds_if_short if args.short else rounds)
    return args


def quarters(values):
    """The ends of the middle half, and the median between them."""
    return statistics.quantiles(values, n=4) if len(values) > 1 else values * 3


def add(args, what, aim, measured, beside):
    if args.figures:
        with open(args.figures, "a", encoding="utf-8") as file:
            file.write(json.dumps([what, aim, measured, beside]) + "\n")


def ratio(args, what, aim, ratios, beside):
    """Adds the median of the rounds' ratios."""
    low, middle, high = quarters(ratios)
    if high > low * NOISE:
        add(args, what, aim, f"not told: {low:.3g} to {high:.3g} ×", "")
    elif len(ratios) > 1:
        add(args, what, aim, f"{middle:.3g} × ({low:.3g} to {high:.3g})", beside)
    else:
        add(args, what, aim, f"{middle:.3g} ×", beside)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    args = parser.parse_args()
    with open(args.file, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    print("medians of the rounds, and of the middle half of them the least and the most\n")
    print("| figure | aim | measured | beside it |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    sys.exit(main())
