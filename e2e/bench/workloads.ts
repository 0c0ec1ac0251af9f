/**
 * The workloads. Each one prepares its definitions and returns its numbers; the name of a number ends with its unit.
 */
import { setTimeout } from 'node:timers/promises';
import type { BenchServer } from './bench-server.ts';
import { latencyOf, throughputOf } from './measure.ts';

export type Numbers = Readonly<Record<string, number>>;

export interface Workload {
  readonly name: string;
  readonly about: string;
  run(server: BenchServer, scale: number): Promise<Numbers>;
}

interface Started {
  readonly workflowId: string;
}

interface Ended {
  readonly status: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly startTime: string;
  readonly endTime: string | null;
}

async function define(server: BenchServer, id: string, steps: readonly object[]): Promise<void> {
  await server.client.call('POST', '/api/definition', { Id: id, Steps: steps });
}

async function start(server: BenchServer, id: string, data: object): Promise<string> {
  const { json } = await server.client.call('POST', `/api/workflow/${id}`, data);
  return (json as Started).workflowId;
}

async function ended(server: BenchServer, workflowId: string, seconds = 30): Promise<Ended> {
  const { json } = await server.client.call('GET', `/api/workflow/${workflowId}?wait=${seconds}`);
  const workflow = json as Ended;
  if (workflow.status !== 'Complete') throw new Error(`${workflowId} is ${workflow.status}`);
  return workflow;
}

/** The cost for each of `count` runs of what happens in `work`. */
async function costs(
  server: BenchServer,
  count: number,
  work: () => Promise<Numbers>,
): Promise<Numbers> {
  const before = await server.spent();
  const numbers = await work();
  const after = await server.spent();
  return {
    ...numbers,
    cpuMsEach: (after.cpuMs - before.cpuMs) / count,
    storeOperationsEach: (after.storeOperations - before.storeOperations) / count,
    rssMb: after.rssBytes / 1e6,
  };
}

const THREE_STEPS = [
  {
    Id: 'a',
    StepType: 'EmitLog',
    Inputs: { Message: '"hello"', Level: '"Trace"' },
    NextStepId: 'b',
  },
  { Id: 'b', StepType: 'NoOp', NextStepId: 'c' },
  { Id: 'c', StepType: 'NoOp', Outputs: { seen: 'data.n' } },
];

const threeStepsLatency: Workload = {
  name: 'W1',
  about: 'three in-engine steps, from the start to Complete, one after the other',
  async run(server, scale) {
    await define(server, 'three', THREE_STEPS);
    const count = 500 * scale;
    return costs(server, count + 100, async () => ({
      ...(await latencyOf(count, 100, async (n) => {
        await ended(server, await start(server, 'three', { n }));
      })),
    }));
  },
};

const threeStepsThroughput: Workload = {
  name: 'W2',
  about: 'the same, started with 32 in parallel',
  async run(server, scale) {
    await define(server, 'three', THREE_STEPS);
    const count = 2000 * scale;
    return costs(server, count, async () => ({
      perSecond: await throughputOf(count, 32, async (n) => {
        await start(server, 'three', { n });
      }),
    }));
  },
};

const activity: Workload = {
  name: 'W3',
  about: 'one activity and one worker; then 1,000 with 32 in parallel',
  async run(server, scale) {
    const inputs = { ActivityName: '"bench"', Parameters: { '@n': 'data.n' } };
    await define(server, 'activity', [
      { Id: 'work', StepType: 'Activity', Inputs: inputs, Outputs: { result: 'step.Result' } },
    ]);
    const workOnce = async (seconds = 10): Promise<boolean> => {
      const poll = `/api/activity/bench?timeout=${seconds}`;
      const { json, status } = await server.client.call('GET', poll);
      if (status === 404) return false;
      const { token } = json as { readonly token: string };
      await server.client.call('POST', `/api/activity/success/${token}`, { ok: true });
      return true;
    };
    const latency = await latencyOf(200 * scale, 50, async (n) => {
      const worked = workOnce();
      const workflowId = await start(server, 'activity', { n });
      await worked;
      await ended(server, workflowId);
    });
    const count = 1000 * scale;
    const numbers = await costs(server, count, async () => {
      let left = count;
      const workers = Array.from({ length: 32 }, async () => {
        while (left > 0) if (await workOnce()) left -= 1;
      });
      const perSecond = await throughputOf(count, 32, async (n) => {
        await ended(server, await start(server, 'activity', { n }));
      });
      // The last polls wait for work that never comes: one more item for each lets them end.
      await Promise.all(Array.from({ length: 32 }, () => start(server, 'activity', { n: 0 })));
      await Promise.all(workers);
      return { ...latency, perSecond };
    });
    // Items that no poll was left for. The next measurement on this server must not get them.
    while (await workOnce(1));
    return numbers;
  },
};

const events: Workload = {
  name: 'W4',
  about: 'from the publication of an event to Complete',
  async run(server, scale) {
    const inputs = { EventName: '"bench"', EventKey: 'context.Workflow.Id' };
    await define(server, 'event', [
      { Id: 'wait', StepType: 'WaitFor', Inputs: inputs, Outputs: { got: 'step.EventData' } },
    ]);
    const count = 300 * scale;
    const waiting: string[] = [];
    for (let n = 0; n < count + 50; n += 1) waiting.push(await start(server, 'event', { n }));
    return costs(server, count + 50, async () => ({
      ...(await latencyOf(count, 50, async (n) => {
        const workflowId = waiting[n] ?? '';
        await server.client.call('POST', `/api/event/bench/${workflowId}`, n);
        await ended(server, workflowId);
      })),
    }));
  },
};

const expressions: Workload = {
  name: 'W5',
  about: 'ten steps with a Python expression each, with data of 1 kB and of 50 kB',
  async run(server, scale) {
    const steps = Array.from({ length: 10 }, (_, n) => ({
      Id: `s${n}`,
      StepType: 'NoOp',
      // A function call: an expression that the server evaluates itself would not measure Python.
      Outputs: { x: 'abs(data.x * 2 % 1000 + 1)' },
      ...(n < 9 ? { NextStepId: `s${n + 1}` } : {}),
    }));
    await define(server, 'python', steps);
    const count = 100 * scale;
    const measure = async (bytes: number): Promise<Numbers> => {
      const data = { x: 1, filler: 'y'.repeat(bytes) };
      return costs(server, count + 20, async () => ({
        ...(await latencyOf(count, 20, async () => {
          await ended(server, await start(server, 'python', data));
        })),
      }));
    };
    const small = await measure(1000);
    const large = await measure(50_000);
    return { ...small, p50MsLarge: large['p50Ms'] ?? 0, cpuMsEachLarge: large['cpuMsEach'] ?? 0 };
  },
};

const waiting: Workload = {
  name: 'W6',
  about: 'start 10,000 waiting instances, then wake all of them with one event',
  async run(server, scale) {
    const inputs = { EventName: '"wake"', EventKey: '"all"' };
    await define(server, 'sleeper', [
      { Id: 'wait', StepType: 'WaitFor', Inputs: inputs, Outputs: { woken: true } },
    ]);
    const count = Math.round(10_000 * scale);
    const before = await server.spent();
    let last = '';
    const startsPerSecond = await throughputOf(count, 32, async (n) => {
      last = await start(server, 'sleeper', { n });
    });
    const after = await server.spent();
    const idleStart = await server.spent();
    await setTimeout(3000);
    const idleEnd = await server.spent();
    const wokenAt = performance.now();
    await server.client.call('POST', '/api/event/wake/all', true);
    await ended(server, last, 60);
    for (;;) {
      const { json } = await server.client.call(
        'GET',
        '/api/workflow?definitionId=sleeper&status=Runnable&limit=1',
      );
      if ((json as { readonly items: readonly unknown[] }).items.length === 0) break;
      // Asking all the time would be a load of its own.
      await setTimeout(20);
    }
    return {
      startsPerSecond,
      growthMb: (after.rssBytes - before.rssBytes) / 1e6,
      idleCpuPercent: (idleEnd.cpuMs - idleStart.cpuMs) / 30,
      wakesPerSecond: count / ((performance.now() - wokenAt) / 1000),
    };
  },
};

const loops: Workload = {
  name: 'W7',
  about:
    'While with 10,000 iterations and Foreach over 1,000 items: cost of an iteration at the start and at the end, and with Python',
  async run(server) {
    const loop = (Condition: string, i: string): readonly object[] => [
      {
        Id: 'loop',
        StepType: 'While',
        Inputs: { Condition },
        Do: [[{ Id: 'turn', StepType: 'NoOp', Outputs: { i } }]],
      },
    ];
    await define(server, 'while', loop('data.i < data.turns', 'data.i + 1'));
    await define(server, 'while-python', loop('data.i < abs(data.turns)', 'abs(data.i + 1)'));
    await define(server, 'foreach', [
      {
        Id: 'each',
        StepType: 'Foreach',
        Inputs: { Collection: 'data.items' },
        Do: [[{ Id: 'item', StepType: 'NoOp', Outputs: { sum: 'data.sum + context.Item' } }]],
      },
    ]);
    const timed = async (
      id: string,
      count: number,
      data: object,
    ): Promise<{ wallMs: number; cpuMs: number }> => {
      const { cpuMsEach = 0, wallMsEach = 0 } = await costs(server, count, async () => {
        const { endTime, startTime } = await ended(server, await start(server, id, data), 120);
        return { wallMsEach: (Date.parse(endTime ?? '') - Date.parse(startTime)) / count };
      });
      return { wallMs: wallMsEach, cpuMs: cpuMsEach };
    };
    const turn = (id: string, turns: number) => timed(id, turns, { i: 0, turns });
    await turn('while', 500);
    const first = await turn('while', 1000);
    const all = await turn('while', 10_000);
    await turn('while-python', 500);
    const python = await turn('while-python', 1000);
    const items = Array.from({ length: 1000 }, (_, n) => n);
    const item = await timed('foreach', items.length, { items, sum: 0 });
    return {
      whileTurnMsFirst: first.wallMs,
      whileTurnMsAll: all.wallMs,
      whileTurnCpuMsFirst: first.cpuMs,
      whileTurnCpuMsAll: all.cpuMs,
      whileTurnMsPython: python.wallMs,
      whileTurnCpuMsPython: python.cpuMs,
      foreachItemMs: item.wallMs,
      foreachItemCpuMs: item.cpuMs,
    };
  },
};

const wide: Workload = {
  name: 'W8',
  about:
    'Foreach over 20,000 items: its cost compared with 1,000 items, and the delay of short runs in the meantime',
  async run(server, scale) {
    await define(server, 'wide', [
      {
        Id: 'each',
        StepType: 'Foreach',
        Inputs: { Collection: 'list(range(data.n))' },
        Do: [[{ Id: 'item', StepType: 'NoOp' }]],
      },
    ]);
    await define(server, 'short', THREE_STEPS);
    const short = async (): Promise<void> => {
      await ended(server, await start(server, 'short', { n: 1 }));
    };
    const itemMs = async (n: number): Promise<number> => {
      const { endTime, startTime } = await ended(server, await start(server, 'wide', { n }), 120);
      return (Date.parse(endTime ?? '') - Date.parse(startTime)) / n;
    };
    // One of them takes a fraction of a second, too short a time on a busy machine.
    const narrow: number[] = [];
    for (let run = 0; run < 7; run += 1) narrow.push(await itemMs(1000));
    const narrowItemMs = narrow.sort((a, b) => a - b)[3] ?? 0;
    const alone = await latencyOf(200, 50, short);
    const state = { isOver: false };
    const all = itemMs(Math.round(20_000 * scale)).finally(() => (state.isOver = true));
    const beside: number[] = [];
    while (!state.isOver) beside.push((await latencyOf(1, 0, short)).p50Ms);
    const wideItemMs = await all;
    beside.sort((a, b) => a - b);
    return {
      narrowItemMs,
      wideItemMs,
      itemRatio: wideItemMs / narrowItemMs,
      shortAloneP50Ms: alone.p50Ms,
      shortBesideP50Ms: beside[Math.floor(beside.length / 2)] ?? 0,
      shortBesideMaxMs: beside.at(-1) ?? 0,
    };
  },
};

export const WORKLOADS: readonly Workload[] = [
  threeStepsLatency,
  threeStepsThroughput,
  activity,
  events,
  expressions,
  waiting,
  loops,
  wide,
];

/** @throws Error if there is none of this name */
export function workloadNamed(name: string): Workload {
  const found = WORKLOADS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no workload ${name}`);
  return found;
}
