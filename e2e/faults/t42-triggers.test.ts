import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from './support/eventually.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import { withFleet } from './support/with-fleet.js';
import type { Instance, Page } from './support/wire.js';

const IS_ALL = process.env['FAULTS'] === 'all';
/** Due at every second, however many runs are open; whatever a storm delays is made up for. */
const [TRIGGERS, KILLS] = IS_ALL ? [100, 30] : [50, 3];
const KILL_EVERY_MS = 3000;
const SECOND_MS = 1000;
/** So long after a due time, its runs are being started: kills fall into that. */
const STARTING_MS = 150;

type Started = Instance & { readonly trigger: { readonly name: string; readonly time: string } };

const DEFINITION = {
  Id: 'ticking',
  Triggers: Array.from({ length: TRIGGERS }, (_, n) => ({
    Name: `t${n}`,
    Cron: '* * * * * *',
    Overlap: 'Allow',
    CatchUp: '1h',
  })),
  Steps: [{ Id: 'only', StepType: 'NoOp' }],
};

/** The planned times of each trigger's runs, in milliseconds, the earliest first. */
async function timesByTrigger(client: PersistentClient): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  let cursor: string | null = '';
  while (cursor !== null) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/api/workflow?definitionId=ticking&limit=500${after}`;
    const page = (await client.call('GET', path)).body as Page<Started>;
    for (const { trigger } of page.items) {
      const before = times.get(trigger.name) ?? [];
      times.set(trigger.name, [...before, Date.parse(trigger.time)]);
    }
    cursor = page.nextCursor;
  }
  for (const each of times.values()) each.sort((left, right) => left - right);
  return times;
}

describe.each(
  IS_ALL
    ? [{ store: 'sqlite' as const }, { store: 'mongo' as const }, { store: 'postgres' as const }]
    : [{ store: 'sqlite' as const }],
)('T-42 a trigger on $store', ({ store }) => {
  it('starts one run per due time, however often nodes are killed', async () => {
    await withFleet({ count: 3, store }, async ({ fleet, random }) => {
      const client = new PersistentClient(() => fleet.urls);
      const registered = client.call('POST', '/api/definition', { body: DEFINITION });
      await registered;
      const from = Date.now();
      for (let kill = 0; kill < scaled(KILLS); kill += 1) {
        await setTimeout(KILL_EVERY_MS);
        await setTimeout(SECOND_MS - (Date.now() % SECOND_MS) + random() * STARTING_MS);
        // In turn, because one node starts the runs of all triggers.
        const victim = kill % fleet.size;
        await fleet.kill(victim);
        await setTimeout(random() * SECOND_MS);
        await fleet.restart(victim);
      }
      const to = Date.now();
      const seconds = Math.floor((to - from) / SECOND_MS) - 1;
      let found = new Map<string, number[]>();
      await eventually('all triggers have caught up', async () => {
        found = await timesByTrigger(client);
        return found.size === TRIGGERS && [...found.values()].every((times) => times.at(-1)! > to);
      });
      for (const [name, times] of found) {
        expect(new Set(times).size, `${name} started two runs for one time`).toBe(times.length);
        const gaps = times.slice(1).filter((time, at) => time - times[at]! !== SECOND_MS);
        expect(
          gaps.map((time) => new Date(time).toISOString()),
          name,
        ).toEqual([]);
        expect(times[0]! - from, name).toBeLessThanOrEqual(2 * SECOND_MS);
        expect(times.length, name).toBeGreaterThanOrEqual(seconds);
      }
      console.log(`T-42 ${store}`, { kills: scaled(KILLS), triggers: TRIGGERS, seconds });
    });
  });
});
