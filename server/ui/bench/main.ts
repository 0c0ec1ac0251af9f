/**
 * `pnpm bench:page [--runs=101000] [--minutes=3] [--rate=5] [--only=loads,tasks,live,heap]`: the operator's page on a store with many
 * runs, in a real browser: times, clicks, what open pages cost the server, and whether their memory grows.
 *
 * Not a test: its table goes into docs/evidence/operator-page.md. The times mean something only on a quiet machine.
 */
import { parseArgs } from 'node:util';
import { launchBrowser } from '../test/support/browser.js';
import { measureHeap, measureLiveRun } from './live-pages.js';
import { measureLoads } from './loads.js';
import { manyRuns } from './many-runs.js';
import { measureTasks, type Measured } from './tasks.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '101000' },
    minutes: { type: 'string', default: '3' },
    /** Starts a second while the heap is watched. */
    rate: { type: 'string', default: '5' },
    only: { type: 'string', default: 'loads,live,heap,tasks' },
  },
});
const parts = new Set(values.only.split(','));

console.error('storing the runs …');
const runs = await manyRuns(Number(values.runs));
const browser = await launchBrowser();
try {
  console.error('measuring …');
  const watch = { minutes: Number(values.minutes), startsPerSecond: Number(values.rate) };
  // The tasks change the runs, so they come last.
  const measured: Measured[] = [
    ...(parts.has('loads') ? await measureLoads(browser, runs) : []),
    ...(parts.has('live') ? await measureLiveRun(browser, runs) : []),
    ...(parts.has('heap') ? await measureHeap(browser, runs, watch) : []),
    ...(parts.has('tasks') ? await measureTasks(browser, runs) : []),
  ];
  print(measured);
} finally {
  await browser.close();
  await runs.remove();
}

function print(measured: readonly Measured[]): void {
  console.log(`With ${Number(values.runs).toLocaleString('en')} runs:\n`);
  console.log('| Task | Result | Goal |  |');
  console.log('| ---- | ------ | ---- | --- |');
  for (const { task, result, goal, isMet } of measured) {
    console.log(`| ${task} | ${result} | ${goal} | ${isMet ? 'met' : '**missed**'} |`);
  }
}
