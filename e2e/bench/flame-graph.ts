/** Flame graphs as SVG, from the top down: wide frames took long. Tooltips show names and shares. */
import type { Frame } from './cpu-profile.ts';

const WIDTH = 1200;
const ROW = 16;
const HEAD = 24;
/** Narrower frames are omitted, which keeps the files small. */
const NARROWEST = 3;
/** The average width of a character in this font. */
const LETTER_WIDTH = 6.1;

const COLORS: readonly (readonly [RegExp, string])[] = [
  [/^node_modules/, '#e9c46a'],
  [/^node:/, '#a8c5da'],
  [/^api\//, '#f4a261'],
  [/^runtime\//, '#8ab17d'],
  [/^engine\//, '#c7d98c'],
  [/^store\//, '#d8a7ca'],
  [/./, '#c9b79c'],
];
/** Frames without a file: native functions and garbage collection. */
const NATIVE = '#d9d9d9';

interface Flame {
  readonly title: string;
  readonly root: Frame;
}

/** Places one graph below the other, each as wide as the image. */
export function drawFlames(flames: readonly Flame[]): string {
  const parts: string[] = [];
  let top = 0;
  for (const { root, title } of flames) {
    const label = `${title}: ${root.totalMs.toFixed(0)} ms busy`;
    parts.push(`<text x="4" y="${top + 16}" class="t">${escaped(label)}</text>`);
    const rows = drawBelow(root, { left: 0, top: top + HEAD, allMs: root.totalMs }, parts);
    top += HEAD + rows * ROW + 8;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" font-family="sans-serif" font-size="11">`,
    '<style>.t{font-size:14px;font-weight:bold}rect{stroke:#fff;stroke-width:.5}</style>',
    `<rect width="${WIDTH}" height="${top}" fill="#fff"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

interface Position {
  readonly left: number;
  readonly top: number;
  readonly allMs: number;
}

/** @returns the number of rows */
function drawBelow(frame: Frame, { allMs, left, top }: Position, parts: string[]): number {
  let rows = 0;
  let x = left;
  const children = [...frame.children.values()].sort((a, b) => b.totalMs - a.totalMs);
  for (const child of children) {
    const width = (child.totalMs / allMs) * WIDTH;
    if (width < NARROWEST) break;
    parts.push(drawFrame(child, { x, top, width }, child.totalMs / allMs));
    rows = Math.max(rows, 1 + drawBelow(child, { left: x, top: top + ROW, allMs }, parts));
    x += width;
  }
  return rows;
}

function drawFrame(
  { name, place }: Frame,
  { top, width, x }: { readonly x: number; readonly top: number; readonly width: number },
  share: number,
): string {
  const about = `${name}${place === '' ? '' : ` (${place})`} ${(share * 100).toFixed(1)}%`;
  const letters = Math.floor((width - 4) / LETTER_WIDTH);
  const label = letters < 3 ? '' : name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
  const text =
    label === '' ? '' : `<text x="${(x + 2).toFixed(1)}" y="${top + 12}">${escaped(label)}</text>`;
  const box = `x="${x.toFixed(1)}" y="${top}" width="${width.toFixed(1)}" height="${ROW}"`;
  return `<g><title>${escaped(about)}</title><rect ${box} fill="${colorOf(place)}"/>${text}</g>`;
}

function colorOf(place: string): string {
  return COLORS.find(([pattern]) => pattern.test(place))?.[1] ?? NATIVE;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
