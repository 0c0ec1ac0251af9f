/** Misbehaving instances: each ends in a state with a reason, in limited time, while others continue. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/engine/values/json.js';
import { fresh, type Client } from './support/client.js';
import { CAMEL_JSON } from './support/dialects.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, mark, step } from './support/steps.js';

const ENVIRONMENT = {
  python_processes: '1',
  python_spares: '1',
  expression_timeout_ms: '500',
  script_timeout_ms: '700',
  steps_without_wait_max: '1000',
  open_steps_max: '4000',
  instance_bytes_max: '3000000',
};

/** Longer than any limit, including the time in which a busy machine starts an interpreter. */
const BOUND_MS = 15_000;

interface BadStep {
  readonly does: string;
  readonly source: string;
  readonly type: RegExp;
}

const EXPRESSIONS: readonly BadStep[] = [
  {
    does: 'an infinite loop',
    source: '[x for x in iter(int, 1)]',
    type: /Timeout|MemoryLimit|MemoryError/,
  },
  { does: 'an infinite sum', source: 'sum(1 for _ in iter(int, 1))', type: /Timeout/ },
  { does: 'a huge power', source: '10 ** 10 ** 8', type: /Timeout|Memory/ },
  {
    does: 'a regular expression with catastrophic backtracking',
    source: 're.match("(a+)+$", "a" * 40 + "b")',
    type: /Timeout/,
  },
  {
    does: 'infinite recursion',
    source: '(lambda f: f(f))(lambda f: f(f))',
    type: /RecursionError|Timeout|Crash/,
  },
  { does: 'a huge string', source: '"x" * 10 ** 7', type: /ResultTooLarge|Timeout/ },
  { does: 'a string that exceeds the memory', source: '"x" * 10 ** 10', type: /Memory|Overflow/ },
  { does: 'a huge list', source: '[0] * 10 ** 7', type: /ResultTooLarge|Timeout|Memory/ },
  { does: 'a list that exceeds the memory', source: '[0] * 10 ** 9', type: /Memory/ },
  {
    does: 'a deeply nested value',
    source: '__import__("functools").reduce(lambda v, _: [v], range(5000), 1)',
    type: /./,
  },
  { does: 'a value that contains itself', source: '(lambda x: [x.append(x), x])([])', type: /./ },
];

const SCRIPTS: readonly BadStep[] = [
  { does: 'an infinite loop', source: 'while True:\n  pass', type: /Timeout/ },
  {
    does: 'an infinite loop that catches every exception',
    source: 'while True:\n  try:\n    while True: pass\n  except BaseException:\n    pass',
    type: /Timeout/,
  },
  {
    does: 'a list that grows without end',
    source: 'a = []\nwhile True: a.append("x" * 100000)',
    type: /Memory|Timeout/,
  },
  { does: 'infinite recursion', source: 'def f(): return f()\nf()', type: /RecursionError/ },
  {
    does: 'a result that is too large',
    source: 'v = "x" * 10 ** 7',
    type: /ResultTooLarge|Timeout/,
  },
  { does: 'an exit', source: 'raise SystemExit(0)', type: /SystemExit/ },
  { does: 'an endless output', source: 'while True: print("x" * 1000)', type: /Timeout|Output/ },
];

/**
 * Runs small workflows, one after another, while something else is in progress; returns the duration of the slowest.
 */
async function othersWhile(client: Client, something: Promise<unknown>): Promise<number> {
  const definition = await client.define(
    chain(
      mark('a'),
      step('b', 'Delay', { Period: 0.01 }),
      compute('c', { done: 'len(data.trail) == 1' }),
    ),
  );
  const state = { isOver: false };
  void something.finally(() => (state.isOver = true)).catch(() => undefined);
  let slowestMs = 0;
  do {
    const startedAt = Date.now();
    expect((await client.ended(await client.start(definition))).data).toEqual({
      trail: ['a'],
      done: true,
    });
    slowestMs = Math.max(slowestMs, Date.now() - startedAt);
  } while (!state.isOver);
  await something;
  return slowestMs;
}

const suspended = (client: Client, id: string) =>
  client.untilWorkflow(id, ({ status }) => status === 'Suspended');

everyStore(
  'misbehaving Python',
  (at) => {
    const failsWhileOthersRun = async (bad: JsonObject, type: RegExp): Promise<void> => {
      const { client } = at;
      const startedAt = Date.now();
      const id = await client.defineAndStart({ DefaultErrorBehavior: 'Suspend', Steps: [bad] });
      expect(Date.now() - startedAt, 'the start does not wait for it').toBeLessThan(BOUND_MS);
      const failing = suspended(client, id);
      expect(await othersWhile(client, failing)).toBeLessThan(BOUND_MS);
      const { data, lastError } = await failing;
      expect(data).toEqual({});
      expect(lastError!.type).toMatch(type);
      expect(lastError!.message.length).toBeLessThan(5000);
      expect(lastError!.message).toMatch(/\w/);
    };

    describe('an expression', () => {
      it.each(EXPRESSIONS)('fails without slowing others: $does', async ({ source, type }) => {
        await failsWhileOthersRun(compute('s', { v: source }), type);
      });
    });

    describe('a custom script', () => {
      it.each(SCRIPTS)('fails without slowing others: $does', async ({ source, type }) => {
        const name = await at.client.script(source);
        await failsWhileOthersRun(step('s', name, {}, { Outputs: { v: 'step["v"]' } }), type);
      });
    });
  },
  // The store makes no difference to Python.
  { dialects: [CAMEL_JSON], stores: ['sqlite'], environment: ENVIRONMENT, ownPython: true },
);

everyStore(
  'misbehaving instances',
  (at) => {
    describe('a loop without a wait', () => {
      it.each([
        ['a While', [step('loop', 'While', { Condition: 'True' }, { Do: [[step('in', 'NoOp')]] })]],
        [
          'a chain whose last step leads to the first',
          [step('a', 'NoOp', {}, { NextStepId: 'b' }), step('b', 'NoOp', {}, { NextStepId: 'a' })],
        ],
        [
          'a loop that doubles its branches each time',
          [
            step('a', 'NoOp', {}, { NextStepId: 'b', SelectNextStep: { c: 'True' } }),
            step('b', 'NoOp', {}, { NextStepId: 'a' }),
            step('c', 'NoOp', {}, { NextStepId: 'a' }),
          ],
        ],
      ])('is stopped if it is %s', async (_, steps) => {
        const { client } = at;
        const id = await client.defineAndStart(steps);
        const failing = suspended(client, id);
        expect(await othersWhile(client, failing)).toBeLessThan(BOUND_MS);
        expect((await failing).lastError).toMatchObject({ type: 'StepLimit' });
        expect((await client.terminate(id)).body.status).toBe('Terminated');
      });
    });

    describe('exponential growth', () => {
      const many = (count: number, prefix: string) =>
        Array.from({ length: count }, (_, index) => `${prefix}${index}`);

      it.each([
        [
          'nested loops over long lists',
          step(
            'outer',
            'Foreach',
            { Collection: 'data.list' },
            {
              Do: [
                [
                  step(
                    'inner',
                    'Foreach',
                    { Collection: 'data.list' },
                    { Do: [[step('in', 'Delay', { Period: 3600 })]] },
                  ),
                ],
              ],
            },
          ),
          // Items are opened gradually, so that the limit on open steps need not be the first one to be exceeded.
          /^(StepLimit|OpenStepLimit|InstanceTooLarge)$/,
        ],
        [
          'hundreds of branches that lead back to their container',
          step(
            'all',
            'Parallel',
            {},
            { Do: many(300, 'branch').map((id) => [step(id, 'NoOp', {}, { NextStepId: 'all' })]) },
          ),
          /^OpenStepLimit$/,
        ],
      ])('is stopped for %s', async (_, bad, type) => {
        const { client } = at;
        const list = Array.from({ length: 1000 }, (_, index) => index);
        const id = await client.defineAndStart([bad], { list });
        const failing = suspended(client, id);
        expect(await othersWhile(client, failing)).toBeLessThan(BOUND_MS);
        const { lastError } = await failing;
        expect(lastError!.type).toMatch(type);
        const { body } = await client.get<{ summary: string }>(`/api/workflow/${id}/explain`);
        expect(body.summary).toContain(lastError!.message);
        expect((await client.terminate(id)).body.status).toBe('Terminated');
      });

      it('fails the step if a large value is in thousands of outputs', async () => {
        const { client } = at;
        const outputs = Object.fromEntries(many(300, 'out').map((name) => [name, 'data.text']));
        const bad = step('a', 'NoOp', {}, { Outputs: outputs, ErrorBehavior: 'Suspend' });
        const id = await client.defineAndStart([bad], { text: 'x'.repeat(20_000) });
        expect((await suspended(client, id)).lastError).toMatchObject({ type: 'ResultTooLarge' });
      });
    });

    it('stops an instance before the change that makes it too large', async () => {
      const { client } = at;
      const value = 'x'.repeat(100_000);
      const id = await client.defineAndStart(
        [
          step(
            'each',
            'Foreach',
            { Collection: 'data.list' },
            { Do: [[step('wait', 'Activity', { ActivityName: "'never'", Parameters: '1' })]] },
          ),
        ],
        { list: Array.from({ length: 5 }, () => value) },
      );
      // Each of the five waits holds its item: one megabyte including the list, which is allowed.
      await client.untilWaiting(id, 'wait');
      const bad = await client.defineAndStart(
        [
          step(
            'each',
            'Foreach',
            { Collection: 'data.list' },
            {
              Do: Array.from({ length: 10 }, (_, index) => [
                step(`wait ${index}`, 'Activity', { ActivityName: "'never'", Parameters: '1' }),
              ]),
            },
          ),
        ],
        { list: Array.from({ length: 5 }, () => value) },
      );
      const failing = suspended(client, bad);
      expect(await othersWhile(client, failing)).toBeLessThan(BOUND_MS);
      expect((await failing).lastError).toMatchObject({ type: 'InstanceTooLarge' });
      const { body } = await client.get<{ summary: string }>(`/api/workflow/${bad}/explain`);
      expect(body.summary).toMatch(/would exceed 3000000 bytes/);
      expect((await client.control(bad, 'resume')).status).toBe(200);
      await suspended(client, bad);
      expect((await client.terminate(bad)).body.status).toBe('Terminated');
    });

    it('keeps other runs fast while a step fails at once and is retried without an interval', async () => {
      const { client } = at;
      const retried = { ErrorBehavior: 'Retry', RetryInterval: 0 };
      const id = await client.defineAndStart([step('a', 'HttpRequest', { BaseUrl: '0' }, retried)]);
      const late = client.untilStep(id, 'a', ({ attempt }) => attempt > 12);
      expect(await othersWhile(client, late)).toBeLessThan(BOUND_MS);
      expect((await client.terminate(id)).body.status).toBe('Terminated');
    });

    it('stops a run whose data grows without limit', async () => {
      const { client } = at;
      const id = await client.defineAndStart(
        {
          DefaultErrorBehavior: 'Suspend',
          Steps: [
            step(
              'loop',
              'While',
              { Condition: 'True' },
              { Do: [[compute('double', { v: 'data.v + data.v' })]] },
            ),
          ],
        },
        { v: 'xxxxxxxx' },
      );
      const failing = suspended(client, id);
      expect(await othersWhile(client, failing)).toBeLessThan(BOUND_MS);
      expect((await failing).lastError!.type).toMatch(/TooLarge|Memory|StepLimit|Timeout/);
    });

    it('limits a Foreach over very many items, and keeps other runs fast', async () => {
      const { client } = at;
      const id = await client.defineAndStart({
        DefaultErrorBehavior: 'Suspend',
        Steps: [
          step(
            'each',
            'Foreach',
            { Collection: 'list(range(100000))' },
            { Do: [[step('in', 'NoOp')]] },
          ),
        ],
      });
      const over = client.untilWorkflow(id, ({ status }) => status !== 'Runnable');
      expect(await othersWhile(client, over)).toBeLessThan(BOUND_MS);
      expect(['Suspended', 'Complete']).toContain((await over).status);
    });

    it('starts a new instance fast despite many waiting ones', async () => {
      const { client } = at;
      const name = fresh('event');
      const definition = await client.define([
        step('wait', 'WaitFor', { EventName: `"${name}"`, EventKey: '"k"' }),
      ]);
      const ids = await Promise.all(Array.from({ length: 200 }, () => client.start(definition)));
      for (const id of [ids[0]!, ids.at(-1)!]) await client.untilWaiting(id, 'wait');
      const published = client.publish(name, 'k', 1);
      expect(await othersWhile(client, published)).toBeLessThan(BOUND_MS);
      for (const id of ids) expect((await client.ended(id)).status).toBe('Complete');
    });
  },
  { dialects: [CAMEL_JSON], environment: ENVIRONMENT, ownPython: true },
);
