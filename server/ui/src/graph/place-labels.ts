/**
 * Moves the labels of edges so that they don't overlap anything. Pure.
 *
 * The layout engine reserves a place for each label, except on edges that cross the border of a container.
 */
import type { Box } from './graph-family.js';
import type { Point } from './layout-graph.js';

export interface Label {
  /** The corners of its edge. */
  readonly points: readonly Point[];
  /** The preferred positions of the label, best first. Not empty; all have the same size. */
  readonly wanted: readonly [Box, ...Box[]];
}

interface Area {
  readonly width: number;
  readonly height: number;
}

const GAP = 2;
const CELL = 160;
/** Rings around the middle of the edge. */
const RINGS_MAX = 24;
const RING_STEP = 20;

/** The labels' boxes, and the height that the graph needs for them. */
export function placeLabels(
  labels: readonly Label[],
  obstacles: readonly Box[],
  area: Area,
): { readonly boxes: readonly Box[]; readonly height: number } {
  const taken = new TakenSpace();
  for (const obstacle of obstacles) taken.add(obstacle);
  let { height } = area;
  const boxes = labels.map((label) => {
    const free = firstThat(candidates(label), (box) => isWithin(box, area) && taken.isFree(box));
    const box = free ?? { ...label.wanted[0], x: GAP, y: height };
    // Below the graph, there is always room.
    if (free === undefined) height += box.height + 2 * GAP;
    taken.add(box);
    return box;
  });
  return { boxes, height };
}

function firstThat<Item>(items: Iterable<Item>, isGood: (item: Item) => boolean): Item | undefined {
  for (const item of items) if (isGood(item)) return item;
  return undefined;
}

/** Near to far: the wanted places, then along the edge, then around its middle. */
function* candidates({ points, wanted }: Label): Generator<Box> {
  yield* wanted;
  const [{ width, height }] = wanted;
  const at = ({ x, y }: Point): Box => ({ x: x - width / 2, y: y - height / 2, width, height });
  for (const part of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9]) {
    const point = pointAt(points, part);
    yield at(point);
    yield at({ x: point.x + width / 2 + GAP, y: point.y });
    yield at({ x: point.x - width / 2 - GAP, y: point.y });
  }
  const middle = pointAt(points, 0.5);
  for (let ring = 1; ring <= RINGS_MAX; ring += 1) {
    const [dx, dy] = [(ring * (width + RING_STEP)) / 4, ring * RING_STEP];
    for (const [x, y] of [
      [0, 1],
      [0, -1],
      [1, 0],
      [-1, 0],
      [1, 1],
      [-1, 1],
      [1, -1],
      [-1, -1],
    ] as const) {
      yield at({ x: middle.x + x * dx, y: middle.y + y * dy });
    }
  }
}

/** The point at a fraction, from 0 to 1, of the line's length. */
function pointAt(points: readonly Point[], part: number): Point {
  const lengths = points.slice(1).map((to, index) => distance(points[index] ?? to, to));
  let left = part * lengths.reduce((sum, length) => sum + length, 0);
  for (const [index, length] of lengths.entries()) {
    const [from, to] = [points[index], points[index + 1]];
    if (from === undefined || to === undefined) break;
    if (left <= length && length > 0) {
      const share = left / length;
      return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
    }
    left -= length;
  }
  return points.at(-1) ?? { x: 0, y: 0 };
}

function distance(from: Point, to: Point): number {
  return Math.hypot(to.x - from.x, to.y - from.y);
}

function isWithin(box: Box, area: Area): boolean {
  return (
    box.x >= 0 && box.y >= 0 && box.x + box.width <= area.width && box.y + box.height <= area.height
  );
}

/** Boxes in a grid, so that a thousand labels aren't compared with every box. */
class TakenSpace {
  readonly #cells = new Map<string, Box[]>();

  add(box: Box): void {
    for (const key of cellsOf(box)) {
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [box]);
      else cell.push(box);
    }
  }

  isFree(box: Box): boolean {
    const around = {
      x: box.x - GAP,
      y: box.y - GAP,
      width: box.width + 2 * GAP,
      height: box.height + 2 * GAP,
    };
    for (const key of cellsOf(around)) {
      if (this.#cells.get(key)?.some((other) => overlap(around, other)) === true) return false;
    }
    return true;
  }
}

function* cellsOf({ x, y, width, height }: Box): Generator<string> {
  for (let column = Math.floor(x / CELL); column <= Math.floor((x + width) / CELL); column += 1) {
    for (let row = Math.floor(y / CELL); row <= Math.floor((y + height) / CELL); row += 1) {
      yield `${column} ${row}`;
    }
  }
}

export function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}
