/** What a modification may cost, and what is left of it. */
import { expect, it } from 'vitest';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { keepAnswer } from '../../../src/engine/repair/answers.js';
import { describeModification } from '../../../src/engine/repair/describe-modification.js';
import { define, inOrder } from '../support/define.js';
import { EngineDriver } from '../support/engine-driver.js';
import { box, foreach, noOp, waitFor } from '../support/steps.js';

it('records the whole reason in the audit, however long the step names are', () => {
  const executions = Array.from({ length: 5 }, (_, at) => ({
    executionId: at,
    stepId: `${at}`.padEnd(200, 'x'),
  }));
  const reason = `bulk job 0123456789abcdef: ${'r'.repeat(500)}`;
  const detail = describeModification(
    { modification: { data: {}, reason }, from: 1, to: 2 },
    { cancelled: executions, started: executions },
  );
  expect(detail.startsWith(`reason: ${reason}; canceled 0xx`)).toBe(true);
});

it('reports at most 100 obstacles, each with at most 100 executions', () => {
  const items = `[${Array.from({ length: 120 }, (_, at) => at).join(', ')}]`;
  const inside = [box('box', inOrder(waitFor('a'), noOp('b')))];
  const driver = new EngineDriver(define([foreach('each', items, inside)]));
  const start = Array.from({ length: 300 }, () => ({ stepId: 'b', inside: null }));
  for (const modification of [
    { start },
    { start: start.map((each) => ({ ...each, inside: 999_999 })) },
    { cancel: Array.from({ length: 300 }, (_, at) => 100_000 + at) },
    { cancel: Array.from({ length: 60 }, (_, at) => 100_000 + at), start },
  ]) {
    const result = driver.modify(modification);
    const obstacles = result.outcome === 'impossible' ? result.obstacles : [];
    expect(obstacles).toHaveLength(100);
    const named = obstacles.map(({ executionIds = [] }) => executionIds.length);
    expect(Math.max(...named)).toBe('start' in modification ? 100 : 0);
  }
});

it('counts answers as growth of the run, and drops long earlier ones', () => {
  const begin = { id: 'w', data: {}, reference: null, parent: null };
  const run = startSession(define([waitFor('a')]), begin, 0);
  run.grown = 0;
  const started = Array.from({ length: 5000 }, (_, at) => ({
    executionId: at,
    stepId: 'x'.repeat(50),
  }));
  for (const id of ['first', 'second', 'third']) {
    keepAnswer(run, { id, result: { outcome: 'applied', cancelled: [], started, warnings: [] } });
  }
  expect(run.instance.answers.map(({ id }) => id)).toEqual(['third']);
  expect(run.grown).toBeGreaterThan(3 * 5000 * 50);
});
