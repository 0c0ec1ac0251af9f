/** Tables that fit the terminal: texts are shortened where that costs least, and never in a pipe. */
import stringWidth from 'string-width';
import type { Paint, Style } from './paint.js';
import { plain } from './plain-text.js';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly style?: (row: Row) => Style | null;
  /** Ids must be complete, because they are copied; long texts can be shortened. */
  readonly canShrink?: boolean;
  readonly alignRight?: boolean;
}

interface Cells {
  readonly texts: readonly string[];
  readonly styles: readonly (Style | null)[];
}

const GAP = '  ';
const SHRUNK_WIDTH_MIN = 8;
/** No terminal is wider; the bound keeps huge texts away from the measuring. */
const TEXT_LENGTH_MAX = 2000;

/** @param columnsMax the width of the terminal; null: no limit */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { paint, widthMax }: { readonly paint: Paint; readonly widthMax: number | null },
): string {
  // A column without any text says nothing.
  const cellsOf = rows.map((row) =>
    columns.map(({ text }) => plain(text(row)).slice(0, TEXT_LENGTH_MAX)),
  );
  const shown = columns.flatMap((_, index) =>
    cellsOf.some((cells) => cells[index] !== '') ? [index] : [],
  );
  const used = shown.flatMap((index) => columns[index] ?? []);
  const body = rows.map((row, line): Cells => ({
    texts: shown.map((index) => cellsOf[line]?.[index] ?? ''),
    styles: used.map(({ style }) => style?.(row) ?? null),
  }));
  const head: Cells = { texts: used.map(({ title }) => title), styles: used.map(() => 'bold') };
  const lines = [head, ...body];
  const natural = used.map((_, index) =>
    Math.max(...lines.map(({ texts }) => stringWidth(texts[index] ?? ''))),
  );
  const widths = widthMax === null ? natural : shrink(natural, used, widthMax);
  return lines.map((cells) => lineOf(cells, used, widths, paint)).join('\n');
}

function lineOf<Row>(
  { styles, texts }: Cells,
  columns: readonly Column<Row>[],
  widths: readonly number[],
  paint: Paint,
): string {
  const cells = texts.map((text, index) => {
    const width = widths[index] ?? 0;
    const fitting = shorten(text, width);
    const style = styles[index] ?? null;
    const painted = style === null || fitting === '' ? fitting : paint(style, fitting);
    const space = ' '.repeat(Math.max(0, width - stringWidth(fitting)));
    if (columns[index]?.alignRight === true) return space + painted;
    // No spaces at the end of a line.
    return index === texts.length - 1 ? painted : painted + space;
  });
  return cells.join(GAP).trimEnd();
}

/** Takes from the widest column that can shrink, until the line fits or nothing can shrink any more. */
function shrink<Row>(
  natural: readonly number[],
  columns: readonly Column<Row>[],
  widthMax: number,
): number[] {
  const widths = [...natural];
  let excess =
    widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1) - widthMax;
  while (excess > 0) {
    const candidates = widths.flatMap((width, index) =>
      columns[index]?.canShrink === true && width > SHRUNK_WIDTH_MIN ? [index] : [],
    );
    if (candidates.length === 0) break;
    const widest = candidates.reduce((one, other) =>
      (widths[other] ?? 0) > (widths[one] ?? 0) ? other : one,
    );
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

/** With `…` at the end, if it does not fit. */
export function shorten(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let shown = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}
