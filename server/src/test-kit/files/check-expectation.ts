/** Compares a run with what a case expects. */
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { builtInStepType } from '../../engine/definitions/step-types.js';
import type { TestRun } from '../run.js';
import { differencesOf, type Difference } from './differences.js';
import type { Expectation, Place } from './file.js';

export interface Mismatch {
  readonly place: Place;
  readonly message: string;
  readonly differences: readonly Difference[];
}

export interface Observed {
  readonly run: TestRun;
  /** How many runs of the definition there are. */
  readonly runs: number;
  readonly definition: WorkflowDefinition;
  readonly calls: Readonly<Record<string, number>>;
  /** Of this case; null if there is none. */
  readonly snapshot: JsonObject | null;
}

export function checkExpectation(
  expectation: Expectation,
  observed: Observed,
): readonly Mismatch[] {
  const { calls, run, runs } = observed;
  const found: Mismatch[] = [];
  const compare = (
    member: keyof Expectation,
    expected: Json | undefined,
    actual: Json,
    exact = false,
  ): void => {
    if (expected === undefined) return;
    const differences = differencesOf(expected, actual, member, exact);
    if (differences.length === 0) return;
    const message = `${member} is not as expected`;
    found.push({ place: expectation.placeOf(member), message, differences });
  };
  compare('status', expectation.status, run.status);
  compare('outcome', expectation.outcome, run.outcome);
  compare('data', expectation.data, run.data);
  compare('reference', expectation.reference, run.reference);
  compare('tags', expectation.tags, run.tags);
  compare('runs', expectation.runs, runs);
  compare('error', expectation.error, errorOf(run));
  for (const [name, count] of Object.entries(expectation.calls ?? {})) {
    const differences = differencesOf(count, calls[name], `calls.${name}`);
    const message = name in calls ? 'calls is not as expected' : `${name} is not one of the mocks`;
    if (differences.length > 0) {
      found.push({ place: expectation.placeOf('calls'), message, differences });
    }
  }
  compare('steps', expectation.steps, completedSteps(observed));
  compare('waiting', sorted(expectation.waiting), sorted(run.waiting) ?? []);
  if (expectation.snapshot) {
    if (observed.snapshot !== null) compare('snapshot', observed.snapshot, run.data, true);
    else {
      const message = 'there is no snapshot of this case: write it with --update';
      found.push({ place: expectation.placeOf('snapshot'), message, differences: [] });
    }
  }
  return found;
}

/** The ids of the completed steps in order, without steps that contain others. */
export function completedSteps({
  definition,
  run,
}: Pick<Observed, 'definition' | 'run'>): string[] {
  return run.completed.filter((id) => {
    const type = definition.steps.get(id)?.type ?? null;
    return type === null || !builtInStepType(type).runsDo;
  });
}

function errorOf({ lastError }: TestRun): Json {
  if (lastError === null) return null;
  const { attempt, data, message, stepId, type } = lastError;
  return { attempt, data, message, stepId, type };
}

function sorted(ids: readonly string[] | undefined): string[] | undefined {
  return ids === undefined ? undefined : [...new Set(ids)].sort();
}
