/** Changes as server-sent events: `event:` and `data:` lines, and a comment after a while without changes. */
import type { Response } from 'express';
import type { ChangeBatch } from '../../backplane/backplane.js';
import { writeJson } from '../../engine/values/exact-json.js';
import type { ChangeListener } from '../../runtime/changes/change-watch.js';
import type { Admission } from '../access/admission.js';
import { toWorkflowChange } from '../wire/map/workflow.js';
import { drained } from './piecewise-answer.js';

/** Proxies and clients consider a connection dead when it has been silent for about a minute. */
const COMMENT_INTERVAL_MS = 15_000;
/** How long a browser waits before it reconnects. */
const RECONNECT_MS = 2000;

/**
 * Sends the changes of the listener until the caller disconnects, its right ends or the server stops. Changes that the caller does not read in time are not kept: the listener drops them and reports that.
 */
export async function sendChanges(
  response: Response,
  listener: ChangeListener,
  admission: Pick<Admission, 'ended' | 'isValid'> | null,
): Promise<void> {
  const close = (): void => listener.close();
  response.once('close', close);
  admission?.ended.addEventListener('abort', close, { once: true });
  if (response.destroyed || admission?.ended.aborted === true) close();
  const isAdmitted = async (): Promise<boolean> => admission === null || admission.isValid();
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    // Proxies must not cache, change or buffer it.
    'Cache-Control': 'no-cache, no-store, no-transform',
    'X-Accel-Buffering': 'no',
  });
  let text = `retry: ${RECONNECT_MS}\n\n`;
  for (;;) {
    if (text !== '' && !response.write(text)) await drained(response);
    if (!(await isAdmitted())) break;
    const changes = await listener.next(COMMENT_INTERVAL_MS);
    if (changes === null || !(await isAdmitted())) break;
    text = eventsOf(changes);
  }
  listener.close();
  response.end();
}

function eventsOf({ definitions, lagged, workflows }: ChangeBatch): string {
  const events = definitions.map(({ id, version }) => eventText('definition', { id, version }));
  for (const change of workflows) events.push(eventText('workflow', toWorkflowChange(change)));
  if (lagged) events.push(eventText('lag', {}));
  return events.length === 0 ? ': nothing changed\n\n' : events.join('');
}

/** JSON has no line breaks outside strings, and escapes those inside. */
function eventText(event: string, data: object): string {
  return `event: ${event}\ndata: ${writeJson(data)}\n\n`;
}
