/**
 * Runs the layout engine in a web worker, so that a large definition does not block the page. The page has one worker,
 * created with the first graph.
 */
import ELK from 'elkjs/lib/elk-api.js';
import workerUrl from 'elkjs/lib/elk-worker.min.js?url';
import type { GraphModel } from './graph-model.js';
import { estimatedWidth, type MeasureText } from './step-name.js';
import { layoutGraph, type PlacedGraph } from './layout-graph.js';

/** For some definitions, the layout never ends; the page then lists the steps instead. */
const LAYOUT_MS_MAX = 20_000;

let engine: InstanceType<typeof ELK> | null = null;
let newest: Promise<unknown> = Promise.resolve();

/**
 * Runs one layout at a time, and skips layouts that have since been aborted.
 *
 * @throws the signal's reason; Error when the layout fails or takes too long
 */
export function layoutInWorker(model: GraphModel, signal: AbortSignal): Promise<PlacedGraph> {
  const mine = newest
    .catch(() => undefined)
    .then(() => {
      signal.throwIfAborted();
      return layoutInTime(model);
    });
  newest = mine;
  return mine;
}

async function layoutInTime(model: GraphModel): Promise<PlacedGraph> {
  engine ??= new ELK({ workerFactory: () => new Worker(workerUrl) });
  const current = engine;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      current.terminateWorker();
      engine = null;
      reject(new Error('the layout takes too long'));
    }, LAYOUT_MS_MAX);
  });
  try {
    return await Promise.race([layoutGraph(model, current, nameMeasure()), timeOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Measures in the font of the page. */
function nameMeasure(): MeasureText {
  const context = document.createElement('canvas').getContext('2d');
  if (context === null) return estimatedWidth;
  const { fontSize, fontFamily } = getComputedStyle(document.body);
  context.font = `580 ${fontSize} ${fontFamily}`;
  return (text) => context.measureText(text).width;
}
