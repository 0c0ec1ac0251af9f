/**
 * `pnpm bench:bulk [--runs=10000] [--per-second=200] [--action=suspend]`: how exactly bulk jobs keep to their rate, and
 * how much they delay other runs.
 *
 * One job acts on `runs` waiting runs at `per-second`, then another one on a fifth of that at a quarter of the rate.
 * Before, between and after the jobs, and meanwhile, runs of three steps start at a fixed rate and answer when they have
 * ended. Their duration counts from the moment at which they are due, so that a server that hangs does not hide it.
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BenchServer } from './bench-server.ts';
import { latencyFrom, throughputOf, type Latency } from './measure.ts';
import { defineRuns } from './mixed-runs.ts';

const HEALTHY_PER_SECOND = 50;
const ALONE_MS = 20_000;
const POLL_MS = 200;
const WARM_UP_RUNS = 200;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    'per-second': { type: 'string', default: '200' },
    action: { type: 'string', default: 'suspend' },
  },
});
const runs = Number(values.runs);
const perSecond = Number(values['per-second']);
const JOBS = [
  { definitionId: 'many', count: runs, perSecond },
  { definitionId: 'few', count: Math.ceil(runs / 5), perSecond: perSecond / 4 },
];

interface Job {
  readonly id: string;
  readonly state: 'Running' | 'Done' | 'Stopped';
  readonly matched: number;
  readonly done: number;
  readonly startTime: string;
  readonly endTime: string | null;
}

const server = await BenchServer.start();
const { client } = server;
try {
  await measure();
} finally {
  await server.stop();
}

async function measure(): Promise<void> {
  await fill();
  let before = await healthyDuring(() => setTimeout(ALONE_MS));
  say('healthy runs alone', words(latencyFrom(before)));
  for (const { count, definitionId, perSecond: rate } of JOBS) {
    const meanwhile = await healthyDuring(async () => {
      const job = await finishedJob(definitionId, rate);
      if (job.done !== count) throw new Error(`The job has acted on ${job.done} of ${count} runs`);
      reportRate(job, rate);
    });
    const after = await healthyDuring(() => setTimeout(ALONE_MS));
    reportLatency(latencyFrom([...before, ...after]), latencyFrom(meanwhile));
    before = after;
  }
}

async function fill(): Promise<void> {
  await defineRuns(client);
  const Steps = [{ Id: 'wait', StepType: 'Activity', Inputs: { ActivityName: '"nobody"' } }];
  for (const { count, definitionId: Id } of JOBS) {
    await client.call('POST', '/api/definition', { Id, Steps });
    await throughputOf(count, 32, async (n) => {
      await client.call('POST', `/api/workflow/${Id}`, { n });
    });
  }
  for (let n = 0; n < WARM_UP_RUNS; n += 1) await healthyRun(n);
}

async function finishedJob(definitionId: string, rate: number): Promise<Job> {
  const request = {
    action: values.action,
    filter: { definitionId },
    reason: 'benchmark',
    perSecond: rate,
  };
  const { json } = await client.call('POST', '/api/bulk', request);
  const { id } = json as Job;
  for (;;) {
    const job = (await client.call('GET', `/api/bulk/${id}`)).json as Job;
    if (job.state !== 'Running') return job;
    await setTimeout(POLL_MS);
  }
}

/** The durations of runs that start at a fixed rate while the work lasts. */
async function healthyDuring(work: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  const underWay: Promise<void>[] = [];
  const phase = { isOver: false };
  const working = work().finally(() => (phase.isOver = true));
  const beganAt = performance.now();
  for (let n = 0; !phase.isOver; n += 1) {
    const dueAt = beganAt + (n * 1000) / HEALTHY_PER_SECOND;
    await setTimeout(Math.max(0, dueAt - performance.now()));
    const ended = healthyRun(n).then(() => {
      times.push(performance.now() - dueAt);
    });
    // An error is reported at the end.
    ended.catch(() => undefined);
    underWay.push(ended);
  }
  await working;
  await Promise.all(underWay);
  return times;
}

async function healthyRun(n: number): Promise<void> {
  const { json } = await client.call('POST', '/api/workflow/three?wait=30', { n });
  const { status } = json as { readonly status: string };
  if (status !== 'Complete') throw new Error(`A run of three steps is ${status}`);
}

function reportRate({ endTime, matched, startTime }: Job, rate: number): void {
  const seconds = (Date.parse(endTime ?? '') - Date.parse(startTime)) / 1000;
  const achieved = matched / seconds;
  const share = ((100 * achieved) / rate).toFixed(1);
  say(
    `${values.action}: ${matched} runs at ${rate}/s`,
    `${achieved.toFixed(1)}/s, ${share}% of perSecond (${seconds.toFixed(1)} s)`,
  );
}

function reportLatency(alone: Latency, meanwhile: Latency): void {
  say('  healthy runs, before and after', words(alone));
  say('  healthy runs meanwhile', words(meanwhile));
  const ratio = (name: keyof Latency): string => (meanwhile[name] / alone[name]).toFixed(2);
  say('  ratio', `p50 ${ratio('p50Ms')}, p99 ${ratio('p99Ms')}`);
}

function words({ p50Ms, p99Ms }: Latency): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
}

function say(what: string, value: string): void {
  console.log(`${what.padEnd(36)} ${value}`);
}
