/** The time from the address to the first row of the list, and to the graph of a run. */
import type { Browser, Page } from 'playwright-core';
import type { ManyRuns } from './many-runs.js';
import { openPage, type Measured } from './tasks.js';

const TIMES = 9;

interface Load {
  readonly task: string;
  readonly path: string;
  /** A selector of what counts as shown. */
  readonly shows: string;
  readonly goalMs: number;
}

export async function measureLoads(browser: Browser, runs: ManyRuns): Promise<Measured[]> {
  const loads: readonly Load[] = [
    { task: 'First row of the list', path: '/runs', shows: 'tbody tr', goalMs: 800 },
    {
      task: 'A run with its graph',
      path: `/runs/${runs.waiting}`,
      shows: '.react-flow__node',
      goalMs: 1500,
    },
    {
      task: 'A run of 2,000 turns with its graph',
      path: `/runs/${runs.live}`,
      shows: '.react-flow__node',
      goalMs: 1500,
    },
  ];
  const measured: Measured[] = [];
  for (const load of loads) {
    measured.push(
      await measure(`${load.task}, first visit`, load, () => firstVisit(browser, runs, load)),
    );
    const page = await openPage(browser);
    await shownAfter(page, runs, load);
    measured.push(
      await measure(`${load.task}, files in the cache`, load, () => shownAfter(page, runs, load)),
    );
    await page.context().close();
  }
  return measured;
}

async function measure(
  task: string,
  { goalMs }: Load,
  time: () => Promise<number>,
): Promise<Measured> {
  const times: number[] = [];
  for (let n = 0; n < TIMES; n += 1) times.push(await time());
  times.sort((left, right) => left - right);
  const median = times[Math.floor(TIMES / 2)] ?? Infinity;
  const slowest = times.at(-1) ?? Infinity;
  return {
    task,
    result: `${seconds(median)} s (slowest of ${TIMES}: ${seconds(slowest)} s)`,
    goal: `${seconds(goalMs)} s`,
    isMet: median <= goalMs,
  };
}

async function firstVisit(browser: Browser, runs: ManyRuns, load: Load): Promise<number> {
  const page = await openPage(browser);
  const ms = await shownAfter(page, runs, load);
  await page.context().close();
  return ms;
}

async function shownAfter(
  page: Page,
  { server }: ManyRuns,
  { path, shows }: Load,
): Promise<number> {
  await page.goto('about:blank');
  const start = performance.now();
  await page.goto(`${server.url}/ui${path}`, { waitUntil: 'commit' });
  await page.locator(shows).first().waitFor();
  return performance.now() - start;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
