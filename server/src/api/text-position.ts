/** Offsets in a text as people count: lines and columns from 1. */
import type { TextPosition } from './request-context.js';

export function positionAt(text: string, offset: number): TextPosition {
  let line = 1;
  let lineStart = 0;
  for (;;) {
    const newline = text.indexOf('\n', lineStart);
    if (newline === -1 || newline >= offset) break;
    line += 1;
    lineStart = newline + 1;
  }
  return { line, column: offset - lineStart + 1 };
}
