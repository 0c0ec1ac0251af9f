/** Which results of modifications an instance keeps, and for how long. */
import { expect, it } from 'vitest';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { applyMessage, type ModifyMessage } from '../../../src/engine/flow/messages.js';
import type { Session } from '../../../src/engine/session/session.js';
import { answerTo, forgetAnswers, keepAnswer } from '../../../src/engine/repair/answers.js';
import { define } from '../support/define.js';
import { waitFor } from '../support/steps.js';

const YEAR_MS = 366 * 86_400_000;

function newRun(): Session {
  const begin = { id: 'w', data: {}, reference: null, parent: null };
  return startSession(define([waitFor('a')]), begin, 0);
}

const executions = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ executionId: at, stepId: 'x'.repeat(50) }));

const applied = (count = 1) =>
  ({ outcome: 'applied', cancelled: [], started: executions(count), warnings: [] }) as const;

const keyed = { requestHash: 'hash', repeats: [], warnings: [] };

it('keeps results with a key for ever, others for a minute', () => {
  const run = newRun();
  keepAnswer(run, { id: 'once', result: applied() });
  keepAnswer(run, { id: 'keyed', keyed, result: applied() });
  keepAnswer(run, { id: 'no', keyed, result: { outcome: 'impossible', obstacles: [] } });
  forgetAnswers(run.instance, YEAR_MS);
  expect(run.instance.answers.map(({ id }) => id)).toEqual(['keyed']);
  expect(answerTo(run.instance, 'keyed')).toMatchObject({ keyed, result: applied() });
});

it('keeps the newest 100 keys, and limits their total size', () => {
  const run = newRun();
  for (let n = 1; n <= 150; n += 1) {
    keepAnswer(run, { id: `k${n}`, keyed, result: applied(n === 149 ? 10_000 : 90) });
  }
  const { answers } = run.instance;
  expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, n) => `k${n + 51}`));
  expect(JSON.stringify(answers).length).toBeLessThan(300 * 1024);
});

it('keeps a long result whole for its caller, and in short for repetitions', () => {
  const run = newRun();
  keepAnswer(run, { id: 'long', keyed, result: applied(5000) });
  expect(answerTo(run.instance, 'long')?.result).toEqual(applied(5000));
  forgetAnswers(run.instance, YEAR_MS);
  forgetAnswers(run.instance, 2 * YEAR_MS);
  expect(answerTo(run.instance, 'long')?.result).toMatchObject({
    started: executions(100),
    warnings: [{ code: 'result_shortened' }],
  });
});

it('does not apply a modification with a known key again, unless it was impossible', () => {
  const run = newRun();
  const modify = (requestHash: string, start: string): void =>
    applyMessage(run, {
      kind: 'modify',
      id: 'modify/k',
      modification: {
        reason: 'r',
        data: null,
        cancel: [],
        start: [{ stepId: start, inside: null }],
        stepMap: {},
        resume: false,
      },
      target: null,
      hasResumed: false,
      repair: { action: 'modify', actor: 'somebody' },
      keyed: { requestHash, repeats: [], warnings: [] },
    } satisfies ModifyMessage);
  const open = (): number => run.instance.pointers.size;
  const before = open();
  modify('one', 'missing');
  expect([open() - before, answerTo(run.instance, 'modify/k')?.result.outcome]).toEqual([
    0,
    'impossible',
  ]);
  modify('two', 'a');
  expect([open() - before, answerTo(run.instance, 'modify/k')?.result.outcome]).toEqual([
    1,
    'applied',
  ]);
  modify('two', 'a');
  modify('three', 'a');
  expect(open() - before).toBe(1);
  expect(answerTo(run.instance, 'modify/k')?.keyed?.requestHash).toBe('two');
});
