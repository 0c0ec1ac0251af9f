/** Sends changes as server-sent events: `event:` and `data:` lines, and a comment after a while without changes. */
import type { Response } from 'express';
import type { ChangeBatch, ChangedInstance } from '../../backplane/backplane.js';
import type { HeldMemory } from '../../base/limits/held-memory.js';
import { nextSlice } from '../../base/slices.js';
import { writeJson } from '../../engine/values/exact-json.js';
import type { ChangeListener } from '../../runtime/changes/change-watch.js';
import type { Admission } from '../access/admission.js';
import { toWorkflowChange } from '../wire/map/workflow.js';
import { drained } from './piecewise-answer.js';
import { contextOf } from './request-context.js';

/** Proxies and clients consider a connection dead after about a minute of silence. */
const COMMENT_INTERVAL_MS = 15_000;
/** How long a browser waits before it reconnects. */
const RECONNECT_MS = 2000;

/** Shorter events go straight to the kernel and aren't counted. In bytes. */
const UNCOUNTED_MAX = 16 * 1024;
/** Sent instead of changes when there is no memory for them. */
const LAG_TEXT = eventText('lag', {});
const LAG = Buffer.from(LAG_TEXT);

/**
 * Sends the listener's changes until the caller disconnects, its authorization ends or the server stops. Changes that the caller
 * doesn't read in time are dropped, and the listener reports that.
 */
export async function sendChanges(
  response: Response,
  listener: ChangeListener,
  admission: Pick<Admission, 'ended' | 'isValid'> | null,
): Promise<void> {
  const { memory } = contextOf(response.req).caller;
  const close = (): void => listener.close();
  response.once('close', close);
  admission?.ended.addEventListener('abort', close, { once: true });
  if (response.destroyed || admission?.ended.aborted === true) close();
  const isAdmitted = async (): Promise<boolean> => admission === null || admission.isValid();
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    // Proxies must not cache, change or buffer the stream.
    'Cache-Control': 'no-cache, no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  response.write(`retry: ${RECONNECT_MS}\n\n`);
  for (;;) {
    if (!(await isAdmitted())) break;
    const changes = await listener.next(COMMENT_INTERVAL_MS);
    if (changes === null || !(await isAdmitted())) break;
    // Many streams may have received the same changes.
    await nextSlice();
    await write(response, eventsOf(changes), memory);
  }
  listener.close();
  response.end();
}

/** Resolves when the caller has read the event, except for the part that the connection buffers. */
async function write(response: Response, events: Buffer, memory: HeldMemory): Promise<void> {
  const isLong = events.length > UNCOUNTED_MAX;
  const held = isLong ? memory.tryReserve('streams', events.length) : null;
  const isRead = response.write(isLong && held === null ? LAG : events);
  if (!isRead) await drained(response);
  held?.release();
}

/** Streams with the same filter share batches, and all streams share changes, so each is serialized once. */
const batches = new WeakMap<ChangeBatch, Buffer>();
const changeTexts = new WeakMap<ChangedInstance, string>();

function eventsOf(batch: ChangeBatch): Buffer {
  const known = batches.get(batch);
  if (known !== undefined) return known;
  const events = Buffer.from(textOf(batch));
  batches.set(batch, events);
  return events;
}

function textOf({ definitions, lagged, workflows }: ChangeBatch): string {
  const events = definitions.map(({ id, version }) => eventText('definition', { id, version }));
  for (const change of workflows) events.push(changeText(change));
  if (lagged) events.push(LAG_TEXT);
  return events.length === 0 ? ': nothing changed\n\n' : events.join('');
}

function changeText(change: ChangedInstance): string {
  const known = changeTexts.get(change);
  if (known !== undefined) return known;
  const text = eventText('workflow', toWorkflowChange(change));
  changeTexts.set(change, text);
  return text;
}

/** JSON has no line breaks outside strings, and escapes those inside. */
function eventText(event: string, data: object): string {
  return `event: ${event}\ndata: ${writeJson(data)}\n\n`;
}
