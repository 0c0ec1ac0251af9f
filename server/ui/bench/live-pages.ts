/** What open pages cost while something changes: CPU time of the server, and memory of the browser. */
import { setTimeout } from 'node:timers/promises';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { usageOf } from '../../../e2e/bench/process-usage.js';
import { until, type ManyRuns } from './many-runs.js';
import { openPage, type Measured } from './tasks.js';

const PAGES = 5;
const WATCH_MS = 60_000;
const CPU_GOAL = 2;

/** Five pages, each of another browser profile, so that nothing is shared, on one run that changes each second. */
export async function measureLiveRun(browser: Browser, runs: ManyRuns): Promise<Measured[]> {
  const alone = await cpuShare(runs);
  const pages: Page[] = [];
  for (let n = 0; n < PAGES; n += 1)
    pages.push(await openLive(browser, runs, `/runs/${runs.live}`));
  const share = (await cpuShare(runs)) - alone;
  for (const page of pages) await page.context().close();
  return [
    {
      task: `${PAGES} pages on one live run of 2,000 turns, CPU of the server`,
      result: `${share.toFixed(1)} % of a core (${alone.toFixed(1)} % without pages)`,
      goal: `${CPU_GOAL} %`,
      isMet: share < CPU_GOAL,
    },
  ];
}

async function openLive(browser: Browser, { server }: ManyRuns, path: string): Promise<Page> {
  const page = await openPage(browser);
  await page.goto(`${server.url}/ui${path}`);
  await page.getByText('Live', { exact: true }).waitFor();
  await until(async () => (await page.locator('main .loading').count()) === 0);
  return page;
}

async function cpuShare({ server }: ManyRuns): Promise<number> {
  const before = usageOf(server.pid).cpuMs;
  await setTimeout(WATCH_MS);
  return (100 * (usageOf(server.pid).cpuMs - before)) / WATCH_MS;
}

/** By then, caches are full. */
const WARM_UP_MS = 60_000;
const SAMPLE_MS = 30_000;
const GROWTH_GOAL_MB = 2;

export interface HeapWatch {
  readonly minutes: number;
  readonly startsPerSecond: number;
}

/** The list, and a run of many turns, while runs start and end: does the heap of the page grow? */
export async function measureHeap(
  browser: Browser,
  runs: ManyRuns,
  { minutes, startsPerSecond }: HeapWatch,
): Promise<Measured[]> {
  const work = { isOver: false };
  const starting = startRuns(runs, startsPerSecond, work);
  const measured: Measured[] = [];
  try {
    const paths = { 'the list': '/runs', 'a run of 2,000 turns': `/runs/${runs.live}` };
    const watched = await Promise.all(
      Object.entries(paths).map(async ([name, path]) => {
        const page = await openLive(browser, runs, path);
        return { name, page, session: await page.context().newCDPSession(page) };
      }),
    );
    await setTimeout(WARM_UP_MS);
    const samples = watched.map((): number[] => []);
    const end = performance.now() + minutes * 60_000;
    do {
      for (const [at, { session }] of watched.entries()) samples[at]?.push(await heapMb(session));
      console.error(samples.map((values) => values.at(-1)?.toFixed(1)).join(' '));
      await setTimeout(SAMPLE_MS);
    } while (performance.now() < end);
    for (const [at, { name, page }] of watched.entries()) {
      const task = `Heap of ${name} in ${minutes} minutes of ${startsPerSecond} starts a second`;
      measured.push(heapOf(task, samples[at] ?? []));
      await page.context().close();
    }
  } finally {
    work.isOver = true;
    await starting;
  }
  return measured;
}

async function startRuns(
  { client }: ManyRuns,
  startsPerSecond: number,
  work: { readonly isOver: boolean },
): Promise<void> {
  for (let number = 0; !work.isOver; number += 1) {
    const data = { number: `H-${number}`, customer: `H-${number}`, price: 3, isLarge: false };
    await client.workflows.start('order', data, { reference: `order-H-${number}` });
    await setTimeout(1000 / startsPerSecond);
  }
}

/** What is still reachable, in MB. */
async function heapMb(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 2 ** 20;
}

/** The means of the first and the last third, because a single sample may contain an answer that is being read. */
function heapOf(task: string, samples: readonly number[]): Measured {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const [first, last] = [mean(samples.slice(0, third)), mean(samples.slice(-third))];
  return {
    task,
    result: `${first.toFixed(1)} MB, then ${last.toFixed(1)} MB (${samples.map((mb) => mb.toFixed(1)).join(', ')})`,
    goal: `+${GROWTH_GOAL_MB} MB`,
    isMet: last - first < GROWTH_GOAL_MB,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
