/** Goal: the keys of a step's limits are evaluated as its inputs are, and a step without keys costs no evaluation. */
import { expect, it } from 'vitest';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { nextWork } from '../../../src/engine/flow/step-work.js';
import type { Session } from '../../../src/engine/session/session.js';
import { evaluateWork } from '../../../src/runtime/passes/evaluate-work.js';
import { Evaluator } from '../../../src/runtime/passes/evaluator.js';
import { PendingEvaluation } from '../../../src/runtime/passes/pending-evaluation.js';
import type { EvaluationResult, ScriptRuntime } from '../../../src/scripts/script-runtime.js';
import { define, type StepSource } from '../../engine/support/define.js';
import { work } from '../../engine/support/steps.js';
import { createSimulatedScripts } from '../../simulation/support/simulated-scripts.js';

interface Evaluated {
  readonly session: Session;
  /** Number of expressions of each evaluation. */
  readonly asked: readonly number[];
}

type Evaluate = ScriptRuntime['evaluate'];

/** Evaluates and enters the first step. `evaluate`: replaces Python. */
async function enter(
  limits: NonNullable<StepSource['limits']>,
  options: { readonly evaluate?: Evaluate; readonly callOff?: boolean } = {},
): Promise<Evaluated> {
  const scripts = createSimulatedScripts(() => null);
  const asked: number[] = [];
  const evaluator = new Evaluator({
    ...scripts,
    evaluate: (expressions, ...others) => {
      asked.push(expressions.length);
      return (options.evaluate ?? scripts.evaluate)(expressions, ...others);
    },
  });
  const step = work('a', { limits, retryInterval: 60, inputs: { x: 1 } });
  const start = { id: 'w', data: { customer: 'c7' }, reference: null, parent: null };
  const session = startSession(define([step]), start, 0);
  const clock = { now: () => session.now, at: () => () => undefined };
  const pending = new PendingEvaluation(clock);
  if (options.callOff === true) pending.callOff();
  await evaluateWork({ clock, evaluator }, session, { pending, work: nextWork(session)! });
  return { session, asked };
}

function failing(type: string): Evaluate {
  const error = { type, message: 'it says why' };
  return () => ({ ok: false, index: 0, error }) satisfies EvaluationResult;
}

function stateOf({ session }: Evaluated): string | undefined {
  return session.instance.pointers.get(1)?.state.kind;
}

it('evaluates the keys of all limits at once', async () => {
  const evaluated = await enter([
    { name: 'a', key: 'data.customer' },
    'b',
    { name: 'c', key: "data.customer + '-x'", units: 2 },
  ]);
  expect(evaluated.session.changes.takenSlots).toEqual([
    {
      execution: 'w/1/1',
      needs: [
        { limit: 'a', key: 'c7', units: 1 },
        { limit: 'b', key: '', units: 1 },
        { limit: 'c', key: 'c7-x', units: 2 },
      ],
    },
  ]);
  expect(evaluated.asked).toEqual([2]);
});

it.each([{ limits: [] }, { limits: ['a', 'b'] }])(
  'evaluates nothing for limits without keys: $limits',
  async ({ limits }) => {
    const evaluated = await enter(limits);
    expect(stateOf(evaluated)).toBe('effect');
    expect(evaluated.asked).toEqual([]);
  },
);

it('waits for Python', async () => {
  const evaluate: Evaluate = () => Promise.resolve({ ok: true, values: ['later'] });
  const { session } = await enter([{ name: 'a', key: 'data.customer' }], { evaluate });
  expect(session.changes.takenSlots[0]?.needs[0].key).toBe('later');
});

it('names the limit whose key fails', async () => {
  const { session } = await enter(['b', { name: 'a', key: 'data.none' }], {
    evaluate: failing('FieldMissing'),
  });
  expect(session.instance.lastError).toMatchObject({
    type: 'InvalidLimitKey',
    message: "Key of the limit 'a': FieldMissing: it says why in expression 'data.none'",
    retryable: false,
  });
  expect(session.instance.status).toBe('Suspended');
  expect(session.changes.takenSlots).toEqual([]);
});

it.each(['Overloaded', 'Unavailable'])('retries if Python is %s', async (type) => {
  const evaluated = await enter([{ name: 'a', key: 'data.x' }], { evaluate: failing(type) });
  expect(stateOf(evaluated)).toBe('sleeping');
  expect(evaluated.session.instance.lastError).toMatchObject({ type });
});

it('returns the step to the queue if the evaluation is called off', async () => {
  const evaluate = failing('Aborted');
  const evaluated = await enter([{ name: 'a', key: 'data.x' }], { evaluate, callOff: true });
  expect(stateOf(evaluated)).toBe('ready');
  expect(evaluated.session.queue).toEqual(new Set([1]));
  expect(evaluated.session.instance.lastError).toBeNull();
});
