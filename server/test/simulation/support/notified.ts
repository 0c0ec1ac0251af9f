/**
 * A notification that is told of every run that ends, and its target, which is often busy.
 *
 * I11 The end of each run is told at least once, under one id, and nothing else is told.
 */
import type { EffectResult } from '../../../src/engine/flow/messages.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/engine/values/json.js';
import { writeSettings } from '../../../src/runtime/notifications/notification-codec.js';
import type { StepBodyContext } from '../../../src/step-bodies/step-body.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';
import { isTimed } from './definitions.js';
import { hold } from './violation.js';

const NAME = 'told';
/** More than a simulation can have. */
const DELIVERIES_MAX = 10_000;
/** An attempt up to this one may meet a busy target. Later ones would have to wait for minutes. */
const BUSY_ATTEMPTS = 2;

/** Whether a seed has a notification; none of those that once found a bug, and none that removes runs soon. */
export function hasNotification(seed: number): boolean {
  return !isTimed(seed) && [0, 12].includes(seed % 17);
}

/** Before the first node starts, so that every end has to be told. */
export async function addNotification(store: Store): Promise<void> {
  const settings = writeSettings({
    url: 'https://told.example/',
    on: ['completed', 'failed', 'terminated'],
    definitionId: null,
    where: [],
    include: 'summary',
    sealedSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    changedBy: 'somebody',
    changedAt: 0,
  });
  await store.putNotification({ name: NAME, settings, paused: null });
}

/** What the target of notifications has accepted. */
export class NotifiedTarget {
  /** The runs by message id. */
  readonly #told = new Map<string, string>();

  receive(inputs: JsonObject, { attempt, idempotencyKey: id }: StepBodyContext): EffectResult {
    const isBusy = attempt <= BUSY_ATTEMPTS && (id.codePointAt(id.length - 1) ?? 0) % 3 === 0;
    if (isBusy) return { ok: true, values: { ResponseCode: 503 } };
    const { data } = JSON.parse(textOf(inputs['Body'])) as { readonly data: JsonObject };
    const headers = isJsonObject(inputs['Headers'] ?? null) ? inputs['Headers'] : {};
    hold(
      isJsonObject(headers ?? null) && (headers as JsonObject)['webhook-id'] === id,
      'I11 a message has its id',
      () => id,
    );
    const workflowId = textOf(data['workflowId']);
    const before = this.#told.get(id) ?? workflowId;
    hold(before === workflowId, 'I11 an id names one message', () => `${id}: ${workflowId}`);
    this.#told.set(id, workflowId);
    return { ok: true, values: { ResponseCode: 204 } };
  }

  async check(store: Store, runs: Iterable<InstanceRecord>): Promise<void> {
    const deliveries = await store.listDeliveries({ notification: NAME }, null, DELIVERIES_MAX);
    const left = deliveries.find(({ state }) => state !== 'delivered');
    hold(left === undefined, 'I11 every message is delivered', () => JSON.stringify(left));
    const told = new Map<string, number>();
    for (const workflowId of this.#told.values()) {
      told.set(workflowId, (told.get(workflowId) ?? 0) + 1);
    }
    for (const { id } of runs) {
      hold(told.get(id) === 1, 'I11 the end of a run is told', () => `${id}: ${told.get(id) ?? 0}`);
      told.delete(id);
    }
    hold(told.size === 0, 'I11 only ends are told', () => [...told.keys()].join());
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A message that waits for its next attempt. */
export async function waitingMessage(store: Store): Promise<string | null> {
  const filter = { notification: NAME, state: 'waiting' } as const;
  const [waiting] = await store.listDeliveries(filter, null, 1);
  return waiting === undefined ? null : `the message ${waiting.id} waits`;
}
