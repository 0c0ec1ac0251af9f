/** The visible part of the graph, and its zoom. Pure. */
import { absoluteBoxes, type Box } from './graph-family.js';
import { START_ID } from './graph-model.js';
import type { PlacedGraph } from './layout-graph.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Below this zoom, text is hard to read. */
const READABLE_ZOOM = 0.55;
const MARGIN = 10;
const HEIGHT_MIN = 180;
const HEIGHT_MAX = 640;
/** The part of the window that the graph may fill, so that the page around it can still be scrolled by touch. */
const WINDOW_PART = 0.7;

/** Whether the graph is wider than the frame even at the smallest readable size. */
export function isTooWide(placed: PlacedGraph, width: number): boolean {
  return (width - 2 * MARGIN) / placed.width < READABLE_ZOOM;
}

/** The height of the frame: the graph's height at its initial zoom, within limits. */
export function frameHeight(placed: PlacedGraph, width: number, windowHeight: number): number {
  const zoom = clamp((width - 2 * MARGIN) / placed.width, READABLE_ZOOM, 1);
  const most = Math.min(HEIGHT_MAX, windowHeight * WINDOW_PART);
  return Math.round(clamp(placed.height * zoom + 2 * MARGIN, HEIGHT_MIN, most));
}

/** Shows everything, however small. */
export function wholeView(placed: PlacedGraph, frame: Size): Viewport {
  const zoom = wholeZoom(placed, frame);
  return {
    x: (frame.width - placed.width * zoom) / 2,
    y: (frame.height - placed.height * zoom) / 2,
    zoom,
  };
}

/** Shows everything if that is readable; otherwise, the relevant node in the middle, at a readable size. */
export function openingView(placed: PlacedGraph, frame: Size, nodeId: string | null): Viewport {
  if (wholeZoom(placed, frame) >= READABLE_ZOOM) return wholeView(placed, frame);
  const zoom = clamp((frame.width - 2 * MARGIN) / placed.width, READABLE_ZOOM, 1);
  const boxes = absoluteBoxes(placed.nodes);
  const box = (nodeId === null ? undefined : boxes.get(nodeId)) ?? boxes.get(START_ID);
  const middle = box === undefined ? { x: 0, y: 0 } : middleOfHead(box);
  return {
    x: offset(middle.x * zoom, placed.width * zoom, frame.width),
    y: offset(middle.y * zoom, placed.height * zoom, frame.height),
    zoom,
  };
}

/** Whether the heading of the node is entirely in the frame. */
export function isInView(
  placed: PlacedGraph,
  frame: Size,
  { view, nodeId }: { readonly view: Viewport; readonly nodeId: string },
): boolean {
  const box = absoluteBoxes(placed.nodes).get(nodeId);
  if (box === undefined) return true;
  const [left, top] = [box.x * view.zoom + view.x, box.y * view.zoom + view.y];
  const head = Math.min(box.height, HEAD_HEIGHT) * view.zoom;
  return (
    left >= 0 &&
    top >= 0 &&
    left + box.width * view.zoom <= frame.width &&
    top + head <= frame.height
  );
}

/** The zoom at which everything is shown. */
export function wholeZoom(placed: PlacedGraph, { width, height }: Size): number {
  return Math.min(1, (width - 2 * MARGIN) / placed.width, (height - 2 * MARGIN) / placed.height);
}

/** A container can be larger than the frame; its heading says what it is. */
const HEAD_HEIGHT = 76;

function middleOfHead({ x, y, width, height }: Box): { readonly x: number; readonly y: number } {
  return { x: x + width / 2, y: y + Math.min(height, HEAD_HEIGHT) / 2 };
}

/** Puts the point in the middle of the frame, but leaves no empty space that the graph could fill. */
function offset(point: number, length: number, frame: number): number {
  if (length <= frame - 2 * MARGIN) return (frame - length) / 2;
  return clamp(frame / 2 - point, frame - MARGIN - length, MARGIN);
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
