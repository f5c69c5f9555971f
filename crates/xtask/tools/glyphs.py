#!/usr/bin/env python3
"""Writes crates/xtask/src/pictures/glyphs.tsv: outlines of the icons that are in docs/pictures.

    pip install fonttools brotli
    npm pack @azurity/pure-nerd-font && tar xf azurity-*.tgz    # Nerd Fonts' symbols alone; any Nerd Font will do
    python3 crates/xtask/tools/glyphs.py package/PureNerdFont.woff2 f024b e7a8 ... > crates/xtask/src/pictures/glyphs.tsv

A line is the code point, the name that the font has for it, and an SVG path in thousandths of an em, y downwards.
"""

import sys

from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont

font = TTFont(sys.argv[1])
glyphs, names, scale = font.getGlyphSet(), font.getBestCmap(), 1000 / font["head"].unitsPerEm
for code in sorted({int(word, 16) for word in sys.argv[2:]}):
    pen = SVGPathPen(glyphs, ntos=lambda number: str(round(number)))
    glyphs[names[code]].draw(TransformPen(pen, (scale, 0, 0, -scale, 0, 0)))
    print(f"{code:x}", names[code], pen.getCommands(), sep="\t")
