/**
 * Which steps ran in the cases of files of tests, and which conditions were both true and false.
 *
 * A definition counts if a file of tests is about it, or a case has run it. What a mock stood in for has not run.
 */
import { builtInStepType } from '../../engine/definitions/step-types.js';
import type { StepDefinition, WorkflowDefinition } from '../../engine/model/definition.js';
import type { SeenValues } from '../seen-conditions.js';
import type { CaseResult } from './run-case.js';
import type { FileReport } from './run-file.js';

export interface DefinitionCoverage {
  readonly path: string;
  readonly definition: WorkflowDefinition;
  /** In document order. */
  readonly steps: readonly StepCoverage[];
  readonly totals: CoverageTotals;
}

export interface StepCoverage {
  readonly step: StepDefinition;
  /** Number of executions in all cases. */
  readonly executions: number;
  readonly conditions: readonly ConditionCoverage[];
}

export interface ConditionCoverage {
  /** The member of the step that contains it, such as `Condition`. */
  readonly member: string;
  /** The step to which it leads if it is in `SelectNextStep`. */
  readonly target: string | null;
  readonly source: string;
  readonly seen: SeenValues;
}

/** A branch is one value of a condition: true or false. */
export interface CoverageTotals {
  readonly steps: Share;
  readonly branches: Share;
}

interface Share {
  readonly covered: number;
  readonly total: number;
}

interface Tested {
  readonly path: string;
  readonly definition: WorkflowDefinition;
  readonly cases: CaseResult[];
  hasRun: boolean;
}

export function coverageOf(reports: readonly FileReport[]): readonly DefinitionCoverage[] {
  const tested = new Map<string, Tested>();
  for (const { cases, project } of reports) {
    for (const { definition, path } of project?.definitions ?? []) {
      const known = tested.get(path) ?? { path, definition, cases: [], hasRun: false };
      tested.set(path, known);
      const ran = cases.filter((each) => hasRun(each, definition.id));
      known.cases.push(...ran);
      known.hasRun ||= ran.length > 0 || definition.id === project?.id;
    }
  }
  return [...tested.values()]
    .filter(({ hasRun: counts }) => counts)
    .sort((one, other) => (one.path < other.path ? -1 : 1))
    .map(definitionCoverage);
}

function hasRun({ mocked, runs }: CaseResult, definitionId: string): boolean {
  return !mocked.includes(definitionId) && runs.some((run) => run.definitionId === definitionId);
}

function definitionCoverage({ cases, definition, path }: Tested): DefinitionCoverage {
  const executions = new Map<string, number>();
  for (const run of cases.flatMap(({ runs }) => runs)) {
    if (run.definitionId !== definition.id) continue;
    // A repeated attempt is the same execution.
    const started = run.steps.filter(({ status }) => status !== 'Pending');
    const seen = new Map(started.map(({ executionId, stepId }) => [executionId, stepId]));
    for (const id of seen.values()) executions.set(id, (executions.get(id) ?? 0) + 1);
  }
  const steps = [...definition.steps.values()].map((step) => ({
    step,
    executions: executions.get(step.id) ?? 0,
    conditions: conditionsOf(step).map((condition) => ({
      ...condition,
      seen: seenIn(cases, definition.id, { stepId: step.id, source: condition.source }),
    })),
  }));
  return { path, definition, steps, totals: totalsOf(steps) };
}

/** Constants are no conditions: they have one value only. */
function conditionsOf(step: StepDefinition): readonly Omit<ConditionCoverage, 'seen'>[] {
  const found: Omit<ConditionCoverage, 'seen'>[] = [];
  const { cancelCondition, inputs, selectNextStep } = step;
  for (const { name, value } of inputs) {
    if (!isCondition(step, name) || value.kind !== 'expression' || isConstant(value.source))
      continue;
    found.push({ member: name, target: null, source: value.source });
  }
  if (cancelCondition?.kind === 'expression' && !isConstant(cancelCondition.source)) {
    found.push({ member: 'CancelCondition', target: null, source: cancelCondition.source });
  }
  for (const { condition, stepId } of selectNextStep) {
    if (condition.kind !== 'expression' || isConstant(condition.source)) continue;
    found.push({ member: 'SelectNextStep', target: stepId, source: condition.source });
  }
  return found;
}

/** Such as `Condition` of If, and `StopCondition` of Recur. */
function isCondition({ type }: StepDefinition, input: string): boolean {
  if (type === null || !input.endsWith('Condition')) return false;
  return builtInStepType(type).inputs.some(
    ({ kind, name }) => kind === 'boolean' && name === input,
  );
}

function isConstant(source: string): boolean {
  return /^\s*(True|False|None|\d+)\s*$/.test(source);
}

function seenIn(
  cases: readonly CaseResult[],
  definitionId: string,
  { source, stepId }: { readonly source: string; readonly stepId: string },
): SeenValues {
  const all = cases.map(({ conditions }) => conditions.of(definitionId, stepId, source));
  return {
    true: all.reduce((sum, seen) => sum + seen.true, 0),
    false: all.reduce((sum, seen) => sum + seen.false, 0),
  };
}

function totalsOf(steps: readonly StepCoverage[]): CoverageTotals {
  const branches = steps
    .flatMap(({ conditions }) => conditions)
    .flatMap(({ seen }) => [seen.true > 0, seen.false > 0]);
  return {
    steps: {
      covered: steps.filter(({ executions }) => executions > 0).length,
      total: steps.length,
    },
    branches: { covered: branches.filter(Boolean).length, total: branches.length },
  };
}

export function totalsOfAll(all: readonly DefinitionCoverage[]): CoverageTotals {
  const sum = (pick: (totals: CoverageTotals) => Share): Share => ({
    covered: all.reduce((count, { totals }) => count + pick(totals).covered, 0),
    total: all.reduce((count, { totals }) => count + pick(totals).total, 0),
  });
  return { steps: sum(({ steps }) => steps), branches: sum(({ branches }) => branches) };
}

/** Of steps and branches together; 100 if there are none. Never rounded up, so that only everything is 100. */
export function percentOf({ branches, steps }: CoverageTotals): number {
  const total = steps.total + branches.total;
  if (total === 0) return 100;
  return Math.floor(((steps.covered + branches.covered) / total) * 1000) / 10;
}
