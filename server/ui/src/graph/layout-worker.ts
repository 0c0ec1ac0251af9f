/**
 * The layout engine in a thread of its own, so that a large definition does not stop the page. One for the whole page;
 * made when the first graph is drawn.
 */
import ELK from 'elkjs/lib/elk-api.js';
import workerUrl from 'elkjs/lib/elk-worker.min.js?url';
import type { GraphModel } from './graph-model.js';
import { layoutGraph, type PlacedGraph } from './layout-graph.js';

/** A definition can be made that no layout ends for; its steps are listed instead. */
const LAYOUT_MS_MAX = 20_000;

let engine: InstanceType<typeof ELK> | null = null;
let newest: Promise<unknown> = Promise.resolve();

/**
 * One layout at a time; those that are no longer wanted when their turn comes are left out.
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
    return await Promise.race([layoutGraph(model, current), timeOut]);
  } finally {
    clearTimeout(timer);
  }
}
