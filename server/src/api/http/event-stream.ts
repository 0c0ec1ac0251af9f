/** Changes as server-sent events: `event:` and `data:` lines, a comment when nothing happened for a while. */
import type { Response } from 'express';
import type { ChangeBatch } from '../../backplane/backplane.js';
import { writeJson } from '../../engine/values/exact-json.js';
import type { ChangeListener } from '../../runtime/changes/change-watch.js';
import { toWorkflowSummary } from '../wire/map/workflow.js';

/** Proxies and clients take a connection that says nothing for longer than a minute or so for dead. */
const COMMENT_INTERVAL_MS = 15_000;
/** Whoever takes nothing for so long is gone, or might as well be. */
const STALLED_MS = 60_000;
/** After a lost connection a browser connects again after so long. */
const RECONNECT_MS = 2000;

/**
 * Sends what the listener hears until the caller hangs up, `endsAt` has come (milliseconds since 1970) or the server stops.
 * What the caller does not take in time is never kept: the listener drops it and says so.
 */
export async function sendChanges(
  response: Response,
  listener: ChangeListener,
  endsAt: number | null,
): Promise<void> {
  response.once('close', () => listener.close());
  if (response.destroyed) listener.close();
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    // Proxies must neither keep, change nor collect it.
    'Cache-Control': 'no-cache, no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  let text = `retry: ${RECONNECT_MS}\n\n`;
  for (;;) {
    if (text !== '' && !response.write(text)) await drained(response);
    const leftMs = endsAt === null ? COMMENT_INTERVAL_MS : endsAt - Date.now();
    if (leftMs <= 0) break;
    const changes = await listener.next(Math.min(COMMENT_INTERVAL_MS, leftMs));
    if (changes === null) break;
    text = eventsOf(changes);
  }
  listener.close();
  response.end();
}

function eventsOf({ definitions, lagged, workflows }: ChangeBatch): string {
  const events = definitions.map(({ id, version }) => eventText('definition', { id, version }));
  for (const change of workflows) events.push(eventText('workflow', toWorkflowSummary(change)));
  if (lagged) events.push(eventText('lag', {}));
  return events.length === 0 ? ': nothing changed\n\n' : events.join('');
}

/** JSON has no line breaks outside of its texts, and writes those inside as two letters. */
function eventText(event: string, data: object): string {
  return `event: ${event}\ndata: ${writeJson(data)}\n\n`;
}

/** Resolves when the caller has taken what was written or is gone; one that takes nothing is hung up on. */
function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), STALLED_MS);
    const done = (): void => {
      clearTimeout(timer);
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (response.destroyed) done();
  });
}
