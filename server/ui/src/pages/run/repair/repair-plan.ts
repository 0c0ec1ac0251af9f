/** The user's choices in the repair panel, and the resulting modification. Pure. */
import {
  stringifyJson,
  type Explanation,
  type ModificationRequest,
  type StepExecution,
  type Workflow,
} from '@stepwright/sdk';
import { jsonProblem, readJsonText } from '../../../components/json-text.js';
import type { GraphDefinition, GraphStep } from '../../../graph/read-definition.js';
import { isMembers, patchBetween } from './merge-patch.js';

/** A step to start. Empty texts let the server decide. */
export interface ChosenStart {
  readonly stepId: string;
  /** The execution of the container. */
  readonly inside: string;
  /** The item of the enclosing Foreach, as JSON. */
  readonly item: string;
  readonly index: string;
}

export interface RepairPlan {
  /** Whether all open executions are canceled, or those in `cancel`. */
  readonly cancelsAll: boolean;
  readonly cancel: readonly number[];
  readonly start: readonly ChosenStart[];
  /** The data as edited; null while the user has not changed them. */
  readonly dataText: string | null;
  readonly version: number;
  readonly stepMap: Readonly<Record<string, string>>;
  readonly resume: boolean;
}

/** The body of the call, without the reason. */
export type Modification = Omit<ModificationRequest, 'reason' | 'dryRun'>;
type StepStart = NonNullable<ModificationRequest['start']>[number];

export const REASON_MAX = 500;

/** The most common plan: run the failed step again. */
export function firstPlan(
  run: Workflow,
  steps: readonly GraphStep[],
  failed: RepairableExecution | null,
  stepId: string | null,
): RepairPlan {
  const plan: RepairPlan = {
    cancelsAll: true,
    cancel: [],
    start: [],
    dataText: null,
    version: run.version,
    stepMap: {},
    resume: run.status === 'Suspended',
  };
  const wanted = stepId ?? failed?.stepId ?? null;
  if (wanted === null) return plan;
  if (steps.some(({ id }) => id === wanted)) return { ...plan, start: [startOf(wanted)] };
  const isThis = failed?.stepId === wanted && failed.endTime === null;
  return {
    ...plan,
    cancelsAll: false,
    cancel: isThis ? [failed.executionId] : [],
    start: [isThis ? startAgain(failed) : startOf(wanted)],
  };
}

export function startOf(stepId: string): ChosenStart {
  return { stepId, inside: '', item: '', index: '' };
}

/** The same step for the same item. */
function startAgain({ stepId, item, index }: RepairableExecution): ChosenStart {
  if (index === null) return startOf(stepId);
  return { stepId, inside: '', item: stringifyJson(item), index: String(index) };
}

export interface PlanReading {
  /** Null if the plan has problems or nothing to do. */
  readonly modification: Modification | null;
  readonly problems: readonly string[];
  /** Consequences that the user may not expect. */
  readonly remarks: readonly string[];
}

/** Reads the plan. The server checks the rest. */
export function readPlan(plan: RepairPlan, run: Workflow, openCount: number): PlanReading {
  const { cancelsAll, cancel, version, stepMap, resume } = plan;
  const data = readDataChange(plan.dataText, run.data);
  const starts = plan.start.map(readStart);
  const problems = [
    ...(cancelsAll && starts.length === 0 ? ['Choose the step to start from.'] : []),
    ...data.problems,
    ...starts.flatMap((start) => start.problems),
  ];
  const mapped = Object.entries(stepMap).filter(([, to]) => to !== '');
  const canceled: (number | '*')[] = cancelsAll ? ['*'] : [...cancel];
  const modification: Modification = {
    ...(data.patch !== null && { data: data.patch }),
    ...(canceled.length > 0 && (openCount > 0 || !cancelsAll) && { cancel: canceled }),
    ...(starts.length > 0 && { start: starts.map(({ start }) => start) }),
    ...(version !== run.version && { version }),
    ...(mapped.length > 0 && version !== run.version && { stepMap: Object.fromEntries(mapped) }),
    ...(resume && run.status === 'Suspended' && { resume }),
  };
  const isEmpty = Object.keys(modification).length === 0;
  return {
    modification: problems.length > 0 || isEmpty ? null : modification,
    problems,
    remarks: data.remarks,
  };
}

interface DataChange {
  readonly patch: Record<string, unknown> | null;
  readonly problems: readonly string[];
  readonly remarks: readonly string[];
}

function readDataChange(text: string | null, before: Workflow['data']): DataChange {
  const nothing = { patch: null, problems: [], remarks: [] };
  if (text === null) return nothing;
  const problem = jsonProblem(text);
  if (problem !== null) return { ...nothing, problems: [`Data: ${problem}`] };
  const after = readJsonText(text);
  if (!isMembers(after)) return { ...nothing, problems: ['Data: a JSON object is required'] };
  const { patch, lostNulls } = patchBetween(before, after);
  const remarks =
    lostNulls.length === 0
      ? []
      : [`A change cannot set null. These members are removed: ${lostNulls.join(', ')}`];
  return { patch, problems: [], remarks };
}

function readStart({ stepId, inside, item, index }: ChosenStart): {
  readonly start: StepStart;
  readonly problems: readonly string[];
} {
  const itemProblem = item.trim() === '' ? null : jsonProblem(item);
  const start: StepStart = {
    stepId,
    ...(inside !== '' && { inside: Number(inside) }),
    ...(item.trim() !== '' && itemProblem === null && { item: readJsonText(item) }),
    ...(index !== '' && { index: Number(index) }),
  };
  return { start, problems: itemProblem === null ? [] : [`Item of ${stepId}: ${itemProblem}`] };
}

/** All steps of a definition, each with the container that it is in. */
export function stepsWithContainers(
  definition: GraphDefinition,
): readonly { readonly step: GraphStep; readonly container: GraphStep | null }[] {
  const list = (
    steps: readonly GraphStep[],
    container: GraphStep | null,
  ): { step: GraphStep; container: GraphStep | null }[] =>
    steps.flatMap((step) => [
      { step, container },
      ...list(step.sequences.flat(), step),
      ...list(step.undo, container),
    ]);
  return list(definition.steps, null);
}

/** Steps of kept executions that the other version does not have, with the steps that they could become. */
export function missingSteps(
  kept: readonly RepairableExecution[],
  definition: GraphDefinition,
): readonly { readonly stepId: string; readonly candidates: readonly string[] }[] {
  const known = stepsWithContainers(definition).map(({ step }) => step);
  const types = new Map(kept.map(({ stepId, stepType }) => [stepId, stepType.toLowerCase()]));
  return [...types]
    .filter(([stepId]) => !known.some(({ id }) => id === stepId))
    .map(([stepId, type]) => ({
      stepId,
      candidates: known.filter((step) => step.type.toLowerCase() === type).map(({ id }) => id),
    }));
}

/** The details of an execution that the panel needs. */
export type RepairableExecution = Pick<
  StepExecution,
  | 'attempt'
  | 'endTime'
  | 'error'
  | 'executionId'
  | 'index'
  | 'item'
  | 'status'
  | 'stepId'
  | 'stepType'
  | 'waitsFor'
>;

/**
 * The known open executions: read by the page, or named in the explanation. A long run may have others, but its explanation
 * names failed ones first.
 */
export function openExecutions(
  executions: readonly StepExecution[],
  explanation: Explanation | undefined,
): readonly RepairableExecution[] {
  const open = executions.filter(({ endTime }) => endTime === null);
  const known = new Set(open.map(({ executionId }) => executionId));
  const others = (explanation?.reasons ?? []).flatMap((reason) => {
    const { attempt, error, executionId, index, item, stepId, stepType } = reason;
    if (executionId === null || stepId === null || known.has(executionId)) return [];
    const place = {
      attempt: attempt ?? 1,
      executionId,
      stepId,
      stepType: stepType ?? '',
      index,
      item,
    };
    const waitsFor = error === null ? null : ({ kind: 'retry' } as const);
    return [{ ...place, error, waitsFor, status: 'Waiting', endTime: null } as const];
  });
  return [...open, ...others];
}

/**
 * The execution to repair: the newest failed one that is open, else the newest failed one. In a terminated run, it is the
 * step that was open at its termination.
 */
export function executionToRepair(
  { outcome, endTime }: Pick<Workflow, 'outcome' | 'endTime'>,
  executions: readonly StepExecution[],
  open: readonly RepairableExecution[],
): RepairableExecution | null {
  if (outcome === 'Succeeded') return null;
  if (outcome === 'Terminated') {
    // The steps open at that time are canceled a little later.
    const last = executions.filter(
      (one) => one.status === 'Cancelled' && (one.endTime ?? '') >= (endTime ?? ''),
    );
    // Containers are older than the executions inside them.
    return last.sort((a, b) => a.executionId - b.executionId)[0] ?? null;
  }
  const failed = ({ error, status }: RepairableExecution): boolean =>
    error !== null && status !== 'Complete';
  return open.findLast(failed) ?? executions.findLast(failed) ?? null;
}
