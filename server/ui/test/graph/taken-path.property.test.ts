/**
 * Goal: whatever a run does, each step that has run is reached over a highlighted edge, by its container or by a
 * compensation, and no edge is highlighted between steps of which one has not run. Method: random definitions in the real
 * engine.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StepExecution } from '@stepwright/sdk';
import { Choices } from '../../../test/engine/support/choices.js';
import { define } from '../../../test/engine/support/define.js';
import { EndlessLoopError, EngineDriver } from '../../../test/engine/support/engine-driver.js';
import {
  answerEverything,
  Course,
  happenings,
} from '../../../test/engine/support/random-course.js';
import { RANDOM_DATA, randomDefinition } from '../../../test/engine/support/random-definition.js';
import { propertyRuns } from '../../../test/support/property-runs.js';
import { graphModel } from '../../src/graph/graph-model.js';
import { readDefinition } from '../../src/graph/read-definition.js';
import { takenPath } from '../../src/graph/taken-path.js';
import { execution } from '../support/execution.js';

const runs = propertyRuns(300);
const numbers = fc.array(fc.nat(999), { minLength: 5, maxLength: 120, size: 'max' });

/** What the API shows of the history. */
function executionsOf(driver: EngineDriver): StepExecution[] {
  return driver.records.map((record) =>
    execution({
      executionId: record.pointerId,
      stepId: record.stepId,
      stepType: driver.definition.steps.get(record.stepId)?.type ?? '',
      status: record.status,
      startTime: new Date(record.startTime).toISOString(),
      endTime: new Date(record.endTime).toISOString(),
      index: record.index ?? null,
      inputs: record.inputs,
      reason: record.reason ?? null,
    }),
  );
}

test('connects the path of any run', { timeout: 30_000 + runs.numRuns * 300 }, () => {
  fc.assert(
    fc.property(numbers, happenings, (list, during) => {
      try {
        const world = { healthy: false };
        const { members, steps } = randomDefinition(new Choices(list));
        const driver = new EngineDriver(define(steps, members), { data: RANDOM_DATA, world });
        const course = new Course(driver);
        for (const happening of during) course.take(happening);
        world.healthy = true;
        answerEverything(driver);
        const executions = executionsOf(driver);
        const model = graphModel(readDefinition({ steps }));
        const path = takenPath(model, executions);
        const ran = new Set(executions.map(({ stepId }) => stepId));
        const hasRun = (id: string): boolean =>
          id === 'start' || ran.has(model.nodes.find((node) => node.id === id)?.step?.id ?? '');
        for (const edge of model.edges) {
          if (path.edges.has(edge.id))
            expect([edge.sourceId, edge.targetId].every(hasRun)).toBe(true);
        }
        const reached = new Set(
          model.edges.filter(({ id }) => path.edges.has(id)).map(({ targetId }) => targetId),
        );
        const started = new Set(
          executions.filter(({ reason }) => reason !== null).map(({ stepId }) => stepId),
        );
        const unexplained = model.nodes
          .filter(({ id, isEntry, step }) => step !== null && !isEntry && hasRun(id))
          .filter(({ id, step }) => !reached.has(id) && !started.has(step?.id ?? ''));
        expect(unexplained.map(({ id }) => id)).toEqual([]);
      } catch (error) {
        // A definition that forks more branches than it ends is not a counterexample; it is skipped.
        if (error instanceof EndlessLoopError) fc.pre(false);
        throw error;
      }
    }),
    runs,
  );
});
