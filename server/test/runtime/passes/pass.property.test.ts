/**
 * Goal: whatever a pass does, and however early it is interrupted, it leaves no cancel condition true and unchecked.
 * Method: random instances, pass by pass, with all conditions evaluated again after each pass; passes are slow at
 * random.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { propertyRuns } from '../../support/property-runs.js';
import { applyEffect, applyMessage } from '../../../src/engine/flow/messages.js';
import { isEnded } from '../../../src/engine/model/instance.js';
import { startSession, restoreSession } from '../../../src/engine/flow/lifecycle.js';
import { executionKey } from '../../../src/engine/model/pointer.js';
import {
  canContinue,
  noChanges,
  stepOf,
  type Session,
} from '../../../src/engine/session/session.js';
import { readState, writeState } from '../../../src/engine/model/snapshot.js';
import { fireTimers, nextTimer } from '../../../src/engine/flow/timers.js';
import { Evaluator } from '../../../src/runtime/passes/evaluator.js';
import { PendingEvaluation } from '../../../src/runtime/passes/pending-evaluation.js';
import { runPass } from '../../../src/runtime/passes/pass.js';
import type { PassEnvironment } from '../../../src/runtime/passes/pass-environment.js';
import type { EvaluationResult } from '../../../src/scripts/script-runtime.js';
import { Choices } from '../../engine/support/choices.js';
import { define } from '../../engine/support/define.js';
import { START_MS } from '../../engine/support/engine-driver.js';
import { evaluateCondition } from '../../engine/support/evaluate.js';
import { RANDOM_DATA, randomDefinition } from '../../engine/support/random-definition.js';
import { createSimulatedScripts } from '../../simulation/support/simulated-scripts.js';

const runs = propertyRuns(200);
const timeout = 30_000 + runs.numRuns * 300;
/** Enough for any definition that ends; others are skipped. */
const PASSES_MAX = 400;

afterEach(() => {
  vi.restoreAllMocks();
});

interface Life {
  readonly run: Session;
  readonly environment: PassEnvironment;
  readonly refusals: { next: boolean };
}

function live(definition: ReturnType<typeof randomDefinition>): Life {
  const refusals = { next: false };
  const scripts = createSimulatedScripts(() => null);
  const evaluator = new Evaluator({
    ...scripts,
    evaluate: (expressions, variables, options) => {
      if (options?.signal?.aborted === true) {
        const error = { type: 'Aborted', message: 'called off' };
        return { ok: false, index: 0, error } satisfies EvaluationResult;
      }
      if (refusals.next) {
        const error = { type: 'Overloaded', message: 'later' };
        return { ok: false, index: 0, error } satisfies EvaluationResult;
      }
      // The definitions read a variable that only the test changes; here everything is healthy.
      const healthy = expressions.map((each) =>
        'source' in each
          ? { ...each, source: each.source.replaceAll('world.healthy', 'true') }
          : each,
      );
      return scripts.evaluate(healthy, variables);
    },
  });
  const run = startSession(
    define(definition.steps, definition.members),
    { id: 'w', data: { ...RANDOM_DATA }, reference: null, parent: null },
    START_MS,
  );
  const environment: PassEnvironment = {
    clock: { now: () => run.now, at: () => () => undefined },
    evaluator,
    limits: {
      stepsWithoutWaitMax: 100_000,
      openStepsMax: 100_000,
    },
    logger: {
      trace: () => undefined,
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
      child: () => environment.logger,
    } as unknown as PassEnvironment['logger'],
  };
  return { run, environment, refusals };
}

/** The open steps whose condition is true although the pass is over. */
function missedConditions(run: Session): readonly string[] {
  return [...run.instance.pointers.values()].flatMap((pointer) => {
    const { cancelCondition } = stepOf(run, pointer);
    const isCanceled = pointer.state.kind === 'finishing' && pointer.state.cancelled === true;
    // What is stopped cannot be canceled any more.
    if (cancelCondition === null || isCanceled || pointer.isEnding === true) return [];
    try {
      return evaluateCondition(run.instance, pointer, cancelCondition, {}) ? [pointer.stepId] : [];
    } catch {
      return [];
    }
  });
}

/** Responds to one wait of the instance. */
function answer(run: Session): void {
  for (const pointer of run.instance.pointers.values()) {
    const execution = { pointerId: pointer.id, attempt: pointer.attempt };
    const { state } = pointer;
    if (state.kind === 'effect' || (state.kind === 'child' && !state.started)) {
      applyEffect(run, execution, { ok: true, values: {} });
      return;
    }
    if (state.kind === 'child') {
      const { workflowId } = state;
      const end = { status: 'Complete', data: {}, workflowId } as const;
      applyMessage(run, { kind: 'child', ...execution, ...end });
      return;
    }
    if (state.kind === 'activity') {
      const activityId = executionKey('w', pointer);
      applyMessage(run, { kind: 'activity', activityId, succeeded: true, data: 1 });
      return;
    }
    if (state.kind === 'event') {
      const { key, name } = state;
      pointer.state = { ...state, looked: true };
      const event = { eventId: `e${pointer.id}`, key, name, publishedAt: run.now, data: 1 };
      applyMessage(run, { kind: 'event', ...event });
      return;
    }
  }
  run.now = Math.max(run.now, nextTimer(run) ?? run.now);
  fireTimers(run);
}

/** The effect of a commit; occasionally another node continues from the stored state. */
function commit(run: Session, takesOver: boolean): Session {
  run.changes = noChanges();
  run.instance.spilled += run.instance.recent.length;
  run.instance.recent = [];
  Object.assign(run, { dirty: false, commitDue: false, grown: 0 });
  if (!takesOver) return run;
  const { definitionId, endTime, id, outcome, reference, startTime, status, version } =
    run.instance;
  const names = { definitionId, id, reference, tags: {}, index: {}, version };
  const columns = { ...names, endTime, outcome, startTime, status };
  return restoreSession(run.definition, readState(columns, writeState(run.instance)), run.now);
}

/** What a rejection by Python would leave behind if it were treated as a failure. */
function failures({ changes, instance }: Session): number {
  const records = instance.recent.filter(({ error }) => error?.type === 'Aborted');
  return records.length + changes.failedAttempts.length;
}

describe('any pass', { timeout }, () => {
  it('leaves no cancel condition true, however early it is interrupted', async () => {
    let seen = 0;
    const numbers = fc.array(fc.nat(999), { minLength: 20, maxLength: 250, size: 'max' });
    const property = fc.asyncProperty(
      numbers,
      fc.array(fc.nat(99), { minLength: 1, maxLength: 40 }),
      async (list, luck) => {
        const definition = randomDefinition(new Choices(list));
        const life = live(definition);
        const { environment, refusals } = life;
        let { run } = life;
        let drawn = 0;
        const chance = (percent: number) => luck[(drawn += 1) % luck.length]! < percent;
        let clock = 0;
        vi.spyOn(performance, 'now').mockImplementation(() => (clock += chance(30) ? 60 : 0));
        environment.clock.now = () => run.now;
        for (let pass = 0; !isEnded(run.instance); pass += 1) {
          if (pass > PASSES_MAX || run.instance.pointers.size > 200) return;
          if (run.instance.status === 'Suspended') run.instance.status = 'Runnable';
          if (!canContinue(run)) answer(run);
          if (isEnded(run.instance)) return;
          refusals.next = run.queue.size === 0 && chance(10);
          const pending = new PendingEvaluation(environment.clock);
          // Canceled at any point: the unfinished work is due again.
          if (chance(10)) pending.callOff();
          const failuresBefore = failures(run);
          await runPass(run, environment, pending);
          // A suspended instance has no timer; the resume checks.
          if (run.cancelRecheckAt !== null && run.instance.status === 'Runnable') {
            expect(nextTimer(run) ?? Infinity).toBeLessThanOrEqual(run.cancelRecheckAt);
          } else {
            seen += run.cancelCheckDue ? 0 : 1;
            if (!run.cancelCheckDue) expect(missedConditions(run)).toEqual([]);
            else expect(canContinue(run)).toBe(true);
          }
          if (pending.isCalledOff) expect(failures(run)).toBe(failuresBefore);
          if (!canContinue(run)) {
            const rests = run.queue.size === 0 || run.instance.status !== 'Runnable';
            expect(rests).toBe(true);
          }
          run = commit(run, chance(10));
        }
      },
    );
    await fc.assert(property, runs);
    expect(seen).toBeGreaterThan(runs.numRuns);
  });
});
