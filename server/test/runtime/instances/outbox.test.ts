/** What a parent learns of a child whose end it reads late: after the child was purged, or from an older server. */
import { expect, it } from 'vitest';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import type { OutboxMessage } from '../../../src/engine/model/instance.js';
import type { ChildMessage } from '../../../src/engine/flow/child-end.js';
import {
  childReference,
  inboxMessage,
  readMessage,
  type ChildReference,
} from '../../../src/runtime/instance-state/message-codec.js';
import { Outbox } from '../../../src/runtime/instances/outbox.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { define } from '../../engine/support/define.js';
import { createLogger } from '../../../src/base/logger.js';
import { systemClock } from '../../../src/base/clock.js';
import { INBOX_BYTES_MAX, messageBytes } from '../../../src/store/records/messages.js';

/** Nothing is in its store. */
const outbox = new Outbox({
  lookAtLimits: () => undefined,
  store: createMemoryStore(),
  clock: systemClock,
  placesOf: () => Promise.resolve(null),
  logger: createLogger({ level: 'silent' }),
  announcer: { send: () => Promise.reject(new Error('nobody is told')) },
  posted: () => undefined,
  controlled: () => undefined,
});

const END: ChildMessage = {
  kind: 'child',
  pointerId: 3,
  attempt: 2,
  workflowId: 'child',
  status: 'Terminated',
  outcome: 'Compensated',
  error: { stepId: 'pay', type: 'HttpStatus', message: 'status 402', data: { code: 7 } },
  data: { total: 9 },
};

function referenceTo(end: ChildMessage): ChildReference {
  const { body } = childReference(inboxMessage('child/child', end), end);
  return readMessage(body) as ChildReference;
}

it('keeps the outcome and the error of a purged child for its parent', async () => {
  expect(await outbox.loadEnd(referenceTo(END))).toEqual({
    ...END,
    error: { ...END.error, data: null },
    data: null,
  });
  const succeeded: ChildMessage = { ...END, status: 'Complete', outcome: 'Succeeded', error: null };
  expect(await outbox.loadEnd(referenceTo(succeeded))).toEqual({ ...succeeded, data: null });
});

it('reports a child as gone for a reference of an earlier server version', async () => {
  const { attempt, cost, kind, pointerId, status, workflowId } = referenceTo(END);
  const older: ChildReference = { attempt, cost, kind, pointerId, status, workflowId };
  const end = await outbox.loadEnd(older);
  expect(end).toMatchObject({ status: 'Terminated', error: { type: 'Gone' }, data: null });
  expect(end).not.toHaveProperty('outcome');
});

it('ignores a message of a later server version', async () => {
  const definition = define([{ id: 'a', stepType: 'NoOp' }]);
  const start = { id: 'w', data: {}, reference: null, parent: null };
  const { instance } = startSession(definition, start, 0);
  const later = { kind: 'wave', workflowId: 'w' } as unknown as OutboxMessage; // Not known here.
  await expect(outbox.send(instance, later)).resolves.toBeUndefined();
  expect(readMessage('{"kind":"wave","workflowId":"w"}')).toBeNull();
});

it('writes a short reference to a child, however long its error is', () => {
  const long = 'x'.repeat(100_000);
  const end = { ...END, error: { stepId: long, type: long, message: long, data: long } };
  const message = childReference(inboxMessage('child/child', end), end);
  // A thousand children fit beside a full inbox.
  expect(messageBytes(message) * 1000).toBeLessThan(INBOX_BYTES_MAX);
});
