/** Tables that fit the terminal. Texts are shortened where it matters least, and never in a pipe. */
import widthOf from 'string-width';
import type { Paint, Style } from './paint.js';
import { plain } from './plain-text.js';

export interface Column<Row> {
  readonly title: string;
  /** @param now the time that relative times start from */
  readonly text: (row: Row, now: number) => string;
  readonly style?: (row: Row) => Style | null;
  /** Ids must be complete because users copy them; long texts can be shortened. */
  readonly canShrink?: boolean;
  /** Omitted if the table doesn't fit otherwise, the last ones first. */
  readonly isOptional?: boolean;
  readonly alignRight?: boolean;
}

interface Fitted<Row> {
  readonly column: Column<Row>;
  /** The title followed by the cells. */
  readonly texts: readonly string[];
  readonly width: number;
}

const GAP = '  ';
const SHRUNK_WIDTH_MIN = 8;
/** No terminal is wider. Avoids measuring huge texts. */
const TEXT_LENGTH_MAX = 2000;

interface TableStyle {
  readonly paint: Paint;
  /** The width of the terminal; null for no limit. */
  readonly widthMax: number | null;
  /** The time that relative times start from. */
  readonly now: number;
}

export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { now, paint, widthMax }: TableStyle,
): string {
  const texts = columns.map(({ text, title }) => [
    title,
    ...rows.map((row) => plain(text(row, now)).slice(0, TEXT_LENGTH_MAX)),
  ]);
  // Empty columns are omitted.
  const filled = columns
    .map((column, index) => ({ column, texts: texts[index] ?? [] }))
    .filter((each) => each.texts.slice(1).some((text) => text !== ''))
    .map((each): Fitted<Row> => ({
      ...each,
      width: Math.max(...each.texts.map((text) => widthOf(text))),
    }));
  const fitted = widthMax === null ? filled : fit(filled, widthMax);
  const lines = [null, ...rows].map((row, line) => lineOf(fitted, line, row, paint));
  return lines.join('\n');
}

/** Shrinks columns and, if that isn't enough, omits some. */
function fit<Row>(columns: readonly Fitted<Row>[], widthMax: number): readonly Fitted<Row>[] {
  const shrunk = shrink(columns, widthMax);
  const last = columns.findLastIndex(({ column }) => column.isOptional === true);
  if (last < 0 || totalOf(shrunk) <= widthMax) return shrunk;
  return fit(columns.toSpliced(last, 1), widthMax);
}

/** @param row null for the header line */
function lineOf<Row>(
  columns: readonly Fitted<Row>[],
  line: number,
  row: Row | null,
  paint: Paint,
): string {
  const cells = columns.map(({ column, texts, width }) => {
    const text = shorten(texts[line] ?? '', width);
    const style = row === null ? 'bold' : (column.style?.(row) ?? null);
    const painted = style === null || text === '' ? text : paint(style, text);
    const space = ' '.repeat(Math.max(0, width - widthOf(text)));
    return column.alignRight === true ? space + painted : painted + space;
  });
  return cells.join(GAP).trimEnd();
}

/** Shrinks the widest shrinkable column until the line fits or nothing can shrink further. */
function shrink<Row>(columns: readonly Fitted<Row>[], widthMax: number): readonly Fitted<Row>[] {
  const widths = columns.map(({ width }) => width);
  let excess = totalOf(columns) - widthMax;
  while (excess > 0) {
    const candidates = columns.flatMap(({ column }, index) =>
      column.canShrink === true && (widths[index] ?? 0) > shrunkWidthOf(column.title)
        ? [index]
        : [],
    );
    if (candidates.length === 0) break;
    const widest = candidates.reduce((one, other) =>
      (widths[other] ?? 0) > (widths[one] ?? 0) ? other : one,
    );
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return columns.map((each, index) => ({ ...each, width: widths[index] ?? 0 }));
}

/** A title is never cut. */
function shrunkWidthOf(title: string): number {
  return Math.max(SHRUNK_WIDTH_MIN, widthOf(title));
}

function totalOf<Row>(columns: readonly Fitted<Row>[]): number {
  return columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1));
}

/** Ends with `…` if it doesn't fit. */
function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let shown = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}
