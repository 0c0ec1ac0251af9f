import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { inLanes } from './support/lanes.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance } from './support/wire.js';

/** An event is published at most this long before or after its wait should start. */
const SPREAD_MS = 60;
const RACES_AT_A_TIME = 20;
/** The test repeats until both outcomes of the race have occurred, up to this multiple of its size. */
const ROUNDS_MAX = 6;

const RACE = definition('race', [
  { Id: 'pause', StepType: 'Delay', Inputs: { Period: 'data.pause' } },
  ...['first', 'second'].map((id) => ({
    Id: id,
    StepType: 'WaitFor',
    Inputs: { EventName: '"go"', EventKey: 'data.name' },
    Outputs: { [id]: 'step.EventData' },
  })),
]);

/** How much longer each side of a race pauses. */
interface Pauses {
  readonly workflowMs: number;
  readonly publisherMs: number;
  /** The number of adjustments before it. */
  readonly adjustments: number;
}

/**
 * Keeps the wait and its event close together, however slow this machine is: the side that came first is delayed next
 * time, and more so if it comes first repeatedly. A race that began before the last adjustment does not count: the races
 * in progress would all demand the same correction, and together cause pauses of many seconds.
 */
class Handicap {
  /** How much longer than the publisher the run pauses; if negative, the publisher waits. */
  #aheadMs = 0;
  #strideMs = 10;
  #wasWaiting = false;
  #adjustments = 0;

  learn({ adjustments }: Pauses, wasWaiting: boolean): void {
    if (adjustments !== this.#adjustments) return;
    this.#adjustments += 1;
    this.#strideMs = wasWaiting === this.#wasWaiting ? Math.min(this.#strideMs * 1.5, 2000) : 10;
    this.#wasWaiting = wasWaiting;
    this.#aheadMs += wasWaiting ? this.#strideMs : -this.#strideMs;
  }

  get pauses(): Pauses {
    return {
      workflowMs: Math.max(0, this.#aheadMs),
      publisherMs: Math.max(0, -this.#aheadMs),
      adjustments: this.#adjustments,
    };
  }
}

describe.each([
  { store: 'sqlite', count: 200 },
  { store: 'mongo', count: 100 },
  { store: 'postgres', count: 100 },
] as const)('T-10 an event and its wait at the same time on $store', ({ store, count }) => {
  it('gives every wait its event once', async () => {
    await withFleet({ count: 2, store }, async ({ fleet, random }) => {
      const starter = new PersistentClient(() => [fleet.node(0).url]);
      const publisher = new PersistentClient(() => [fleet.node(1).url]);
      await starter.call('POST', '/api/definition', { body: RACE });
      const handicap = new Handicap();
      const met = { waiting: 0, early: 0 };
      const race = async (name: string): Promise<void> => {
        const { pauses } = handicap;
        const pause = (SPREAD_MS + pauses.workflowMs) / 1000;
        const pauseMs = 2 * random() * SPREAD_MS + pauses.publisherMs;
        const start = { body: { name, pause }, key: name };
        const started = await starter.call('POST', '/api/workflow/race', start);
        const { workflowId } = started.body as Instance;
        await setTimeout(pauseMs);
        // With a key, because a repeated call must not publish a second event.
        const publish = (client: PersistentClient, body: string) =>
          client.call('POST', `/api/event/go/${name}`, { body, key: `${name} ${body}` });
        const event = await publish(publisher, 'one');
        const wasWaiting = (event.body as { readonly deliveredTo: number }).deliveredTo > 0;
        met[wasWaiting ? 'waiting' : 'early'] += 1;
        handicap.learn(pauses, wasWaiting);
        const read = async (): Promise<Instance> =>
          (await publisher.call('GET', `/api/workflow/${workflowId}`)).body as Instance;
        await eventually(`${name} takes its event`, async () => {
          return (await read()).data['first'] === 'one';
        });
        // If the first event were delivered twice, the second wait would have taken it by now, or would take it instead
        // of this one.
        await publish(starter, 'two');
        await eventually(`${name} ends`, async () => (await read()).status === 'Complete');
        expect((await read()).data).toEqual({ name, pause, first: 'one', second: 'two' });
      };
      const hasMetBoth = (): boolean => met.waiting > 0 && met.early > 0;
      for (let round = 0; round === 0 || (!hasMetBoth() && round < ROUNDS_MAX); round += 1) {
        const names = Array.from({ length: scaled(count) }, (_, at) => `run-${round}-${at}`);
        await inLanes(RACES_AT_A_TIME, names, race);
      }
      console.log(`T-10 ${store}`, met);
      // Some waits must precede their event, and others follow it; otherwise the test has tested nothing.
      expect(hasMetBoth()).toBe(true);
    });
  });
});
