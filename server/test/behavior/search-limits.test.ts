/** Counts stop at 10,000; and index fields are brought up to date by whoever lives (section 13 of the contract). */
import { expect, it } from 'vitest';
import type { WorkflowPage } from '../../src/api/wire/models/workflow.js';
import type { WorkflowCount } from '../../src/api/wire/models/workflow-filter.js';
import { TAGS_MAX, type Tags } from '../../src/engine/values/tags.js';
import { observeStore } from '../../src/store/observed-store.js';
import type { Store } from '../../src/store/store.js';
import { eventually } from '../../../sdk/test/support/eventually.js';
import { instanceOf, NO_SIDE } from '../store/records.js';
import { Client, fresh } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { startServer } from './support/server.js';
import { startProcess, temporaryFolder } from './support/server-process.js';
import { step } from './support/steps.js';

const COUNT_MAX = 10_000;
const MANY_NAMES = 50_000;
/** Not the calls that a node makes from time to time. */
const SEARCHES: ReadonlySet<string> = new Set(['listInstances', 'countInstances']);
/** For busy machines. */
const PATIENCE_MS = 60_000;

/** Ended runs, without the time that it would take to run them. */
async function insertRuns(
  store: Store,
  definitionId: string,
  ids: readonly string[],
  tagsOf: (id: string) => Tags = () => ({}),
) {
  const ended = { status: 'Complete', outcome: 'Succeeded', endTime: 2000 } as const;
  for (let at = 0; at < ids.length; at += 1000) {
    await Promise.all(
      ids.slice(at, at + 1000).map(async (id, n) => {
        const startTime = 1000 + at + n;
        const record = instanceOf(id, { ...ended, definitionId, startTime, tags: tagsOf(id) });
        const result = await store.insertInstance({ record, side: NO_SIDE });
        expect(result.outcome).toBe('inserted');
      }),
    );
  }
}

everyStore(
  'counts of more than 10,000 runs',
  (at) => {
    it('reports the limit as a lower bound', async () => {
      const { client, kind } = at;
      const id = await client.define([step('a', 'NoOp')]);
      const store = at.store.open();
      await store.start();
      try {
        const ids = Array.from({ length: COUNT_MAX + 1 }, (_, n) => `${id}-${n}`);
        const counted = async (): Promise<WorkflowCount> =>
          (await client.get<WorkflowCount>(`/api/workflow/count?definitionId=${id}`)).body;
        // On a busy machine, a count may stop early because of its time.
        const countsTo = async (expected: WorkflowCount) =>
          eventually(
            `${expected.count}, exact: ${expected.exact}`,
            async () => {
              const { count, exact } = await counted();
              return count === expected.count && exact === expected.exact;
            },
            PATIENCE_MS,
          );
        await insertRuns(store, id, ids.slice(0, COUNT_MAX));
        await countsTo({ count: COUNT_MAX, exact: true });
        await insertRuns(store, id, ids.slice(COUNT_MAX));
        await countsTo({ count: COUNT_MAX, exact: false });
      } finally {
        // The memory store has one object for all.
        if (kind !== 'memory') await store.stop();
      }
    }, 150_000);
  },
  { dialects: 'alternating' },
);

everyStore(
  'many distinct names of tags',
  (at) => {
    it('causes no more calls per search, and no more text in the metrics', async () => {
      const calls: string[] = [];
      const counting = await startServer({
        store: at.store.open(),
        wrapStore: (store) => observeStore(store, { before: ({ name }) => void calls.push(name) }),
      });
      const store = at.store.open();
      await store.start();
      try {
        const client = new Client(counting.url, at.client.dialect);
        const id = await client.define([step('a', 'NoOp')]);
        const searches = async (name: string) => {
          calls.length = 0;
          const found: number[] = [];
          for (const condition of [
            `tag.${name}=x`,
            `tag.${name}!=y`,
            `tag.${name}^=x`,
            'tag.no=1',
          ]) {
            const where = `where=${encodeURIComponent(condition)}`;
            for (const more of [
              '',
              `&definitionId=${id}`,
              '&status=Complete&startedFrom=1970-01-01',
            ]) {
              const list = await client.get<WorkflowPage>(`/api/workflow?${where}${more}`);
              expect(list.status, list.text).toBe(200);
              const count = await client.get<WorkflowCount>(`/api/workflow/count?${where}${more}`);
              expect(count.body).toEqual({ count: list.body.items.length, exact: true });
              found.push(count.body.count);
            }
          }
          return { found, calls: calls.filter((call) => SEARCHES.has(call)).length };
        };
        const tagsOf = (run: string): Tags =>
          Object.fromEntries(Array.from({ length: TAGS_MAX }, (_, n) => [`${run}.${n}`, 'x']));

        await insertRuns(store, id, [`${id}-first`], tagsOf);
        const few = await searches(`${id}-first.7`);
        const before = (await client.get('/metrics')).text;
        expect(few.found).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
        const runs = Array.from({ length: MANY_NAMES / TAGS_MAX }, (_, n) => `${id}-${n}`);
        await insertRuns(store, id, runs, tagsOf);
        for (const name of [`${id}-first.7`, `${runs.at(-1)}.19`]) {
          expect(await searches(name)).toEqual(few);
        }
        // No line is about a tag; other lines appear when something happens for the first time.
        const after = (await client.get('/metrics')).text;
        expect(after).not.toContain('-first.7');
        expect(after.split('\n').length - before.split('\n').length).toBeLessThan(MANY_NAMES / 100);
      } finally {
        if (at.kind !== 'memory') await store.stop();
        await counting.stop();
      }
    }, 120_000);
  },
  { dialects: 'alternating' },
);

it('updates the index fields of open runs although the server is killed in between', async () => {
  const environment = { DATA_DIR: await temporaryFolder(), PORT: '0', HOST: '127.0.0.1' };
  const first = await startProcess(environment);
  const client = new Client(first.url, CAMEL_JSON);
  // Twenty batches, between which the server pauses.
  const runs = 1000;
  const Id = fresh('refreshed');
  const Steps = [step('wait', 'Delay', { Period: 3600 })];
  const post = async (version: number): Promise<void> => {
    const Index = { [`V${version}`]: 'data.n' };
    expect((await client.postDefinition({ Id, Steps, Index })).status).toBe(201);
  };
  const found = async (of: Client, version: number): Promise<number> => {
    const where = encodeURIComponent(`V${version}>=0`);
    const path = `/api/workflow/count?definitionId=${Id}&where=${where}`;
    return (await of.get<WorkflowCount>(path)).body.count;
  };
  const metric = async (of: Client, name: string): Promise<number> => {
    const { text } = await of.get('/metrics');
    return Number(new RegExp(`^stepwright_index_refresh_${name} (\\d+)`, 'm').exec(text)?.[1]);
  };

  await post(1);
  for (let n = 0; n < runs; n += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, k) => client.start(Id, { n: n + k })));
  }
  // Until the server is seen in the middle of its pass; usually, that is the first one.
  let version = 1;
  const isInTheMiddle = async (): Promise<boolean> => {
    version += 1;
    await post(version);
    const done = await eventually(
      'some runs are up to date',
      async () => (await found(client, version)) || false,
    );
    if (done === runs || (await metric(client, 'definitions')) === 0) return false;
    expect(await metric(client, 'instances')).toBeGreaterThan(0);
    return true;
  };
  await eventually('a pass is under way', isInTheMiddle, PATIENCE_MS);
  await first.kill();

  const second = await startProcess(environment);
  const next = new Client(second.url, CAMEL_JSON);
  await eventually(
    'all runs are up to date',
    async () => (await found(next, version)) === runs,
    PATIENCE_MS,
  );
  await eventually(
    'nothing is left',
    async () => (await metric(next, 'definitions')) === 0,
    PATIENCE_MS,
  );
  expect(await metric(next, 'instances')).toBeLessThanOrEqual(runs);
  // Nothing is left of the earlier fields, and the runs still wait.
  expect(await found(next, 1)).toBe(0);
  const { items } = (await next.get<WorkflowPage>(`/api/workflow?definitionId=${Id}`)).body;
  expect(items[0]).toMatchObject({ status: 'Runnable', version: 1 });
  expect(Object.keys(items[0]?.index ?? {})).toEqual([`V${version}`]);
}, 240_000);
