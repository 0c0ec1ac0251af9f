/**
 * W9, the speed of search: one million runs with four index fields and two tags on the embedded store.
 *
 * Run it with `pnpm bench:search`. It fills a store through its contract, and measures pages, counts and housekeeping when it
 * holds a tenth of the runs and when it holds all of them. Not a test: its numbers go into docs/evidence/search.md.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IndexValue } from '../../src/engine/values/index-fields.js';
import type { IndexCondition } from '../../src/store/records/index-conditions.js';
import type { InstanceFilter } from '../../src/store/records/instance-lists.js';
import type { InstanceRecord } from '../../src/store/records/instances.js';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { instanceOf, NO_SIDE } from './records.js';

const RUNS = Number(process.env['runs'] ?? 1_000_000);
const TOGETHER = 2000;
const PAGES = 40;
const PAGE_SIZE = 50;

/** Everything spreads over all runs, except what only a few have: those are among the first tenth. */
function runOf(n: number): InstanceRecord {
  const isOpen = n % 20 === 0;
  return instanceOf(`01${n.toString(36).padStart(18, '0')}`, {
    definitionId: `definition-${n % 7}`,
    startTime: 1_700_000_000_000 + n * 10,
    lastChangeAt: 1_700_000_000_000 + n * 10,
    status: isOpen ? 'Suspended' : 'Complete',
    ...(isOpen ? {} : { endTime: 1_700_000_000_000 + n * 10 + 5, outcome: 'Succeeded' }),
    reference: `order-${n}`,
    index: {
      customer: n < 100_000 && n % 5000 === 0 ? 'rare' : `C-${n}`,
      amount: n % 10_007,
      country: ['ch', 'de', 'fr', 'it'][n % 4] ?? 'ch',
      campaign: n < 100_000 && n % 100 === 0 ? 'summer' : 'none',
    },
    tags: { team: `team-${n % 5}`, priority: n % 2 === 0 ? 'high' : 'low' },
    state: JSON.stringify({ data: { n, text: 'x'.repeat(300) } }),
  });
}

function where(name: string, operator: IndexCondition['operator'], value: IndexValue) {
  const isTag = name.startsWith('tag.');
  const of = isTag ? ('tag' as const) : ('field' as const);
  return { of, name: isTag ? name.slice(4) : name, operator, values: [value] };
}

const rare = where('customer', '=', 'rare');
const summer = where('campaign', '=', 'summer');
const FILTERS: Readonly<Record<string, InstanceFilter>> = {
  '20 match': { where: [rare] },
  '20 match, status and definition': {
    where: [rare],
    status: 'Suspended',
    definitionId: 'definition-1',
  },
  '1,000 match': { where: [summer] },
  '1,000 match, status and definition': {
    where: [summer],
    status: 'Suspended',
    definitionId: 'definition-1',
  },
  '1,000 match, two tags': {
    where: [summer, where('tag.team', '=', 'team-0'), where('tag.priority', '=', 'high')],
  },
  'nothing matches': { where: [where('customer', '=', 'nobody')] },
  'nothing matches, status and definition': {
    where: [where('customer', '=', 'nobody')],
    status: 'Complete',
    definitionId: 'definition-3',
  },
  'nothing of 1,000 matches': { where: [summer], status: 'Terminated' },
  'prefix, 11 of few': { where: [where('customer', '^=', 'C-9999')] },
  'a quarter matches': { where: [where('country', '=', 'de')] },
  'a range of many': { where: [where('amount', '<', 5000)] },
  'many, with a range': { where: [where('country', '=', 'de'), where('amount', '<', 100)] },
  'ended in one second': { endedFrom: 1_700_000_500_000, endedTo: 1_700_000_501_000 },
};

async function fill(store: Store, from: number, to: number): Promise<number> {
  const start = performance.now();
  for (let at = from; at < to; at += TOGETHER) {
    const numbers = Array.from({ length: Math.min(TOGETHER, to - at) }, (_, n) => at + n);
    await Promise.all(
      numbers.map((n) => store.insertInstance({ record: runOf(n), side: NO_SIDE })),
    );
  }
  return (to - from) / ((performance.now() - start) / 1000);
}

async function medianMs(call: () => Promise<unknown>, calls = PAGES): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < calls; n += 1) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  return times.sort((left, right) => left - right)[Math.floor(calls / 2)] ?? 0;
}

async function measure(store: Store): Promise<void> {
  for (const [name, filter] of Object.entries(FILTERS)) {
    const page = { filter, after: null, limit: PAGE_SIZE };
    const { items, searchedTo } = await store.listInstances(page);
    const pageMs = await medianMs(() => store.listInstances(page));
    const countMs = await medianMs(
      () => store.countInstances({ filter, after: null, max: 10_001 }),
      5,
    );
    const found = `${items.length} found${searchedTo === null ? '' : ', more to search'}`;
    console.log(
      `  ${name}: page ${pageMs.toFixed(2)} ms (${found}), count ${countMs.toFixed(1)} ms`,
    );
  }
  console.log(`  statistics: ${(await medianMs(() => store.statistics(), 5)).toFixed(1)} ms`);
  const nothing = {
    instancesEndedBefore: 0,
    untoldEndedBefore: 0,
    eventsPublishedBefore: 0,
    activitiesDoneBefore: 0,
    limit: 1000,
  };
  console.log(
    `  purge of nothing: ${(await medianMs(() => store.purge(nothing), 5)).toFixed(2)} ms`,
  );
}

const directory = await mkdtemp(join(tmpdir(), 'stepwright-search-'));
const path = join(directory, 'search.db');
const store = createSqliteStore({ path });
await store.start();
try {
  let filled = 0;
  for (const size of [RUNS / 10, RUNS]) {
    const perSecond = await fill(store, filled, size);
    filled = size;
    const { size: bytes } = await stat(path);
    console.log(
      `${size} runs (${Math.round(perSecond)} inserts/s, ${Math.round(bytes / 2 ** 20)} MiB):`,
    );
    await measure(store);
  }
  const purgedMs = await medianMs(
    () =>
      store.purge({
        instancesEndedBefore: 1_700_000_000_000 + RUNS * 10,
        untoldEndedBefore: 1_700_000_000_000 + RUNS * 10,
        eventsPublishedBefore: 0,
        activitiesDoneBefore: 0,
        limit: 200,
      }),
    10,
  );
  console.log(`  purge of 200 runs: ${purgedMs.toFixed(1)} ms`);
} finally {
  await store.stop();
  await rm(directory, { recursive: true });
}
