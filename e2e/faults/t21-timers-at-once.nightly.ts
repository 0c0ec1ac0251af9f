import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { assign, definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, Page } from './support/wire.js';

const TIMERS = 10_000;
const STARTERS = 24;
/** Goal: 10 s. The assertion leaves room for a busy machine. */
const LATE_MS_MAX = 90_000;
const ANSWER_MS_MAX = 15_000;

const TIMER = definition('timer', [
  { Id: 'pause', StepType: 'Delay', Inputs: { Period: 'data.seconds' } },
  assign('end', { rang: true }),
]);

interface Listed extends Instance {
  readonly endTime: string | null;
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-21 each of ten thousand timers in one second on $store',
  ({ store }) => {
    it('fires, never early, and the API responds in the meantime', async () => {
      await withFleet({ count: 2, store }, async ({ fleet }) => {
        const client = new PersistentClient(() => fleet.urls);
        await client.call('POST', '/api/definition', { body: TIMER });
        const timers = scaled(TIMERS);
        const startAll = async (count: number, dueAt: number, prefix: string): Promise<void> => {
          let left = count;
          const starter = async (): Promise<void> => {
            while (left > 0) {
              left -= 1;
              const body = { seconds: Math.max(0, dueAt - Date.now()) / 1000 };
              await client.call('POST', `/api/workflow/timer?reference=${prefix}`, {
                body,
                key: `${prefix}-${left}`,
              });
            }
          };
          await Promise.all(Array.from({ length: STARTERS }, starter));
        };
        // The speed of this machine determines how far ahead all timers can be due at once.
        const trial = Math.ceil(timers / 20);
        const trialAt = Date.now();
        await startAll(trial, trialAt, 'trial');
        const dueAt = Date.now() + 5000 + (Date.now() - trialAt) * 20 * 2;
        await startAll(timers, dueAt, 'timer');
        const leadMs = dueAt - Date.now();
        expect(leadMs).toBeGreaterThan(0);
        await setTimeout(leadMs);
        const answers: number[] = [];
        const running = (): Promise<number> =>
          fleet.metric('stepwright_workflows{status="Runnable"}');
        await eventually(
          'all timers fire',
          async () => {
            const askedAt = Date.now();
            for (const url of fleet.urls) {
              expect((await fetch(`${url}/api/workflow?limit=1`)).status).toBe(200);
            }
            answers.push((Date.now() - askedAt) / fleet.urls.length);
            return (await running()) === 0;
          },
          LATE_MS_MAX,
        );
        const ends = await readEnds(client, 'timer');
        const lates = ends.map((endedAt) => endedAt - dueAt).sort((a, b) => a - b);
        console.log(`T-21 ${store}`, {
          timers,
          leadMs,
          firstLateMs: lates[0],
          medianLateMs: lates[Math.floor(lates.length / 2)],
          lastLateMs: lates.at(-1),
          answers: answers.length,
          slowestAnswerMs: Math.max(...answers),
        });
        expect(lates).toHaveLength(timers);
        expect(lates[0]).toBeGreaterThanOrEqual(0);
        expect(Math.max(...answers)).toBeLessThan(ANSWER_MS_MAX);
        expect(fleet.faults).toEqual([]);
      });
    }, 1_800_000);
  },
);

/** The times, in milliseconds, at which the runs with a reference ended. */
async function readEnds(client: PersistentClient, reference: string): Promise<readonly number[]> {
  const ends: number[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await client.call(
      'GET',
      `/api/workflow?reference=${reference}&status=Complete&limit=200${cursor}`,
    );
    const page = body as Page<Listed>;
    for (const { endTime } of page.items) ends.push(Date.parse(endTime ?? ''));
    if (page.nextCursor === null) return ends;
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}
