import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { KINDS } from './support/definitions.js';
import type { Fleet } from './support/fleet.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, WorkItem } from './support/wire.js';

const PER_SECOND = 20;
const OUTAGE_SECONDS = 15;
/** While the backlog is processed, new work keeps arriving; it must not overtake. */
const LATE_SHARE = 0.2;
const SAMPLE_EVERY = 10;
const SERVER_CLOCK_MS = 50;

interface Sample {
  readonly waiting: number;
  readonly ageSeconds: number;
  /** The time at which the oldest available item was offered. */
  readonly oldestAt: number;
}

async function backlogOf(fleet: Fleet): Promise<Sample> {
  const { url } = fleet.node(0);
  const before = Date.now();
  const text = await (await fetch(`${url}/metrics`)).text();
  // The ages are measured at some time during the call.
  const now = (before + Date.now()) / 2;
  const read = (name: string): number =>
    Number(new RegExp(`^${name}\\{activity="work"\\} (\\S+)`, 'm').exec(text)?.[1] ?? 0);
  const ageSeconds = read('stepwright_activities_oldest_age_seconds');
  const waiting = read('stepwright_activities_waiting');
  return { waiting, ageSeconds, oldestAt: now - ageSeconds * 1000 };
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-23 a queue without workers for a while on $store',
  ({ store }) => {
    it('is then processed by one worker, oldest item first', { timeout: 600_000 }, async () => {
      await withFleet({ count: 2, store }, async ({ fleet }) => {
        const client = new PersistentClient(() => fleet.urls);
        await client.call('POST', '/api/definition', { body: KINDS.activity.definition });
        const started: string[] = [];
        const start = async (count: number): Promise<void> => {
          for (let at = 0; at < count; at += 1) {
            const n = started.length;
            const body = { name: `run-${n}`, n };
            const answer = await client.call('POST', '/api/workflow/activity', { body });
            started.push((answer.body as Instance).workflowId);
            // The pace of the load: items offered in the same millisecond have no order.
            await setTimeout(1000 / PER_SECOND);
          }
        };
        await start(scaled(OUTAGE_SECONDS * PER_SECOND));
        const backlog = await backlogOf(fleet);
        expect(backlog.waiting).toBe(started.length);
        expect(backlog.ageSeconds).toBeGreaterThan(started.length / PER_SECOND);

        const total = Math.round(started.length * (1 + LATE_SHARE));
        const late = start(total - started.length);
        const taken: string[] = [];
        const samples = [backlog];
        while (taken.length < total) {
          const path = '/api/activity/work?workerId=only&timeout=5';
          const found = await client.call('GET', path, { expected: [200, 404] });
          if (found.status === 404) continue;
          const { attempt, token, workflowId } = found.body as WorkItem;
          expect(attempt).toBe(1);
          taken.push(workflowId);
          await client.call('POST', `/api/activity/success/${token}`, { body: taken.length });
          if (taken.length % SAMPLE_EVERY === 0) samples.push(await backlogOf(fleet));
        }
        await late;
        // Once there is no backlog, an item goes to whichever node the worker polls first.
        expect(taken.slice(0, backlog.waiting)).toEqual(started.slice(0, backlog.waiting));
        expect(new Set(taken)).toEqual(new Set(started));
        for (const id of started) expect((await untilEnded(client, id)).status).toBe('Complete');
        // The age falls as fast as the oldest item changes to a newer one; the time of the oldest item never goes back.
        const behind = samples.filter(({ waiting }) => waiting > 0);
        for (const [at, { oldestAt }] of behind.slice(1).entries()) {
          expect(oldestAt).toBeGreaterThan((behind[at]?.oldestAt ?? 0) - SERVER_CLOCK_MS);
        }
        const end = await backlogOf(fleet);
        expect(end).toMatchObject({ waiting: 0, ageSeconds: 0 });
        const ages = samples.map(({ ageSeconds }) => Math.round(ageSeconds * 10) / 10);
        console.log(`T-23 ${store}`, { items: total, ages: ages.join(' ') });
      });
    });
  },
);
