/**
 * A definition whose runs no client starts: its triggers do, at times and on events, while everything else goes wrong and the
 * definition is replaced.
 *
 * I10 Each due time starts one run, none is left out, and starts go on. Each event starts one run of the trigger that listens
 * to it.
 */
import type { JsonObject } from '../../../src/engine/values/json.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import { isTimed } from './definitions.js';
import type { Plan } from './plan.js';
import { hold } from './violation.js';
import { call, step } from './workflow.js';
import type { World } from './world.js';

export const TRIGGERED = 'triggered';
const TICK_MS = 5000;
const EVENTS = 3;

/** Whether a seed has triggers; none of those that once found a bug, and none that removes runs soon. */
export function hasTriggers(seed: number): boolean {
  return !isTimed(seed) && [3, 11].includes(seed % 17);
}

export function triggeredDocument(description: string): JsonObject {
  return {
    Id: TRIGGERED,
    Description: description,
    Triggers: [
      { Name: 'tick', Cron: '*/5 * * * * *', Overlap: 'Allow', CatchUp: '1h' },
      {
        Name: 'heard',
        Event: { Name: 'noted', Key: 'k' },
        Data: { '@note': 'context.Trigger.EventData' },
      },
    ],
    Steps: [call('tr1', { NextStepId: 'tr2' }), step('tr2', 'NoOp', { Outputs: { done: '1' } })],
  };
}

/** Registers the definition, publishes events, replaces it, and stops its clock when nothing goes wrong any more. */
export class TriggerClient {
  readonly #world: World;
  /** The data of events whose publication was answered. */
  readonly #published: string[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  async play(): Promise<void> {
    const { scheduler } = this.#world;
    await scheduler.pause('an author waits', 300);
    await this.#register('first');
    for (let made = 1; made <= EVENTS; made += 1) {
      await scheduler.pause('a publisher waits', made * 900);
      await this.#publish(`note ${made}`);
      if (made === 2) await this.#register('second');
    }
    while (!this.#world.isCalm) await scheduler.pause('an author waits', 1000);
    await this.#untilFired(scheduler.now + TICK_MS);
    await this.#world.persist((host) => host.triggers.pause(TRIGGERED, 'tick'));
  }

  check(runs: readonly { readonly record: InstanceRecord; readonly data: JsonObject }[]): void {
    for (const { data, record } of runs) {
      const { id, outcome } = record;
      hold(outcome === 'Succeeded', 'I1 the run ends as the model predicts', () => id);
      hold(data['done'] === 1, 'I2 data is what the model predicts', () => id);
    }
    this.#checkTicks(runs.flatMap(({ record }) => timeOf(record, 'tick') ?? []));
    const heard = runs.filter(({ record }) => timeOf(record, 'heard') !== null);
    this.#checkEvents(heard.map(({ data: { note } }) => (typeof note === 'string' ? note : '')));
  }

  #checkTicks(times: readonly number[]): void {
    const sorted = [...times].sort((left, right) => left - right);
    hold(sorted.length > 0, 'I10 due times start runs', () => 'none was started');
    for (const [at, time] of sorted.slice(1).entries()) {
      const before = sorted[at] ?? 0;
      const text = (): string => `${new Date(before).toISOString()}, then +${time - before} ms`;
      hold(time !== before, 'I10 a due time starts one run', text);
      hold(time === before + TICK_MS, 'I10 no due time is left out', text);
    }
  }

  #checkEvents(heard: readonly string[]): void {
    for (const note of this.#published) {
      const times = heard.filter((each) => each === note).length;
      const isOnce = times === 1 || (times === 0 && hasWrongClocks(this.#world.plan));
      hold(isOnce, 'I10 an event starts one run', () => `${note}: ${times}`);
    }
    const unknown = heard.filter((note) => !this.#published.includes(note));
    hold(unknown.length === 0, 'I10 no event is invented', () => unknown.join());
  }

  async #register(description: string): Promise<void> {
    const posted = { document: triggeredDocument(description), source: null };
    const idempotency = { key: `register ${description}`, requestHash: description };
    await this.#world.persist((host) => host.definitions.register(posted, idempotency));
  }

  async #publish(note: string): Promise<void> {
    const idempotency = { key: note, requestHash: note };
    const request = { name: 'noted', key: 'k', data: note, idempotency };
    await this.#world.persist((host) => host.events.publish(request));
    this.#published.push(note);
  }

  /** Waits for a start that was due at that time or later. */
  async #untilFired(time: number): Promise<void> {
    for (;;) {
      const triggers = await this.#world.persist((host) => host.triggers.list(TRIGGERED));
      const last = triggers.find(({ name }) => name === 'tick')?.last ?? null;
      if (last !== null && last.time >= time) return;
      await this.#world.scheduler.pause('an author looks again', 1000);
    }
  }
}

/** An event that a node with a fast clock stores before the trigger was known to a slow one may be older than the trigger. */
function hasWrongClocks({ jump, skewMs }: Plan): boolean {
  return jump > 0 || skewMs > 0;
}

/** The time for which the trigger of this name has started the run; null: it has not. */
function timeOf({ startedBy }: InstanceRecord, name: string): number | null {
  if (startedBy === null) return null;
  const start = JSON.parse(startedBy) as { readonly name: string; readonly time: number };
  return start.name === name ? start.time : null;
}
