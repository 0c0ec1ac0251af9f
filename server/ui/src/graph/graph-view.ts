/** The initial viewport of the graph. Pure. */
import { START_ID } from './graph-model.js';
import type { PlacedGraph } from './layout-graph.js';

interface Box {
  readonly width: number;
  readonly height: number;
}

/** Below this zoom, text is illegible. */
const LEGIBLE_ZOOM = 0.45;
const MARGIN = 10;

/** Shows the whole graph if it is legible at that size, else its start at a legible size. */
export function startView(
  placed: PlacedGraph,
  box: Box,
): { readonly x: number; readonly y: number; readonly zoom: number } {
  const room = { width: box.width - 2 * MARGIN, height: box.height - 2 * MARGIN };
  const whole = Math.min(1, room.width / placed.width, room.height / placed.height);
  if (whole >= LEGIBLE_ZOOM) {
    return {
      x: (box.width - placed.width * whole) / 2,
      y: (box.height - placed.height * whole) / 2,
      zoom: whole,
    };
  }
  const zoom = Math.min(1, Math.max(LEGIBLE_ZOOM, room.width / placed.width));
  const start = placed.nodes.find(({ node }) => node.id === START_ID);
  const middle = start === undefined ? placed.width / 2 : start.x + start.width / 2;
  const isWider = placed.width * zoom > room.width;
  const center = isWider ? middle : placed.width / 2;
  return { x: box.width / 2 - center * zoom, y: MARGIN, zoom };
}
