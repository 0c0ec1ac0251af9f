/** The attempts of one execution, and the differences between two of them. */
import { stringifyJson, type StepExecution, type StepwrightClient } from '@stepwright/sdk';

const EXECUTIONS_PER_CALL = 500;
/** Maximum number of requests that search for attempts that ended long ago. */
const CALLS_MAX = 10;

/** The parts of an attempt that are compared as JSON. */
export const PARTS = ['inputs', 'outputs', 'error'] as const;
export type AttemptPart = (typeof PARTS)[number];

export interface Attempts {
  /** The attempts that have started, oldest first. */
  readonly items: readonly StepExecution[];
  /** Whether the search stopped before it found the first attempt. */
  readonly isCut: boolean;
}

/** The number of attempts that have started: an attempt that is due later is in the list, with the previous error. */
export function startedAttempts({ attempt, waitsFor }: StepExecution): number {
  return waitsFor?.kind === 'retry' ? attempt - 1 : attempt;
}

/** Reads back from the newest execution of the step to the first attempt of this one. */
export async function readAttempts(
  client: StepwrightClient,
  workflowId: string,
  { executionId, stepId }: Pick<StepExecution, 'executionId' | 'stepId'>,
  signal: AbortSignal,
): Promise<Attempts> {
  const found = new Map<number, StepExecution>();
  let cursor: string | undefined;
  for (let calls = 0; calls < CALLS_MAX; calls += 1) {
    const options = { stepId, order: 'desc', limit: EXECUTIONS_PER_CALL, signal } as const;
    const page = await client.workflows.steps(workflowId, options).page(cursor);
    for (const each of page.items) {
      if (each.executionId === executionId && each.waitsFor?.kind !== 'retry') {
        found.set(each.attempt, each);
      }
    }
    if (found.has(1) || page.nextCursor === null) return attemptsOf(found, false);
    cursor = page.nextCursor;
  }
  return attemptsOf(found, true);
}

function attemptsOf(found: ReadonlyMap<number, StepExecution>, isCut: boolean): Attempts {
  return { items: [...found.values()].sort((a, b) => a.attempt - b.attempt), isCut };
}

/**
 * The parts of an attempt that are shown and compared. The number and time of an error always differ, so they are omitted.
 */
export function attemptText({ inputs, outputs, error }: StepExecution): string {
  return stringifyJson({ inputs, outputs, error: comparableError(error) }, 2);
}

/** The parts that differ between the attempts. */
export function differingParts(a: StepExecution, b: StepExecution): readonly AttemptPart[] {
  return PARTS.filter((part) => partText(a, part) !== partText(b, part));
}

function partText(attempt: StepExecution, part: AttemptPart): string {
  return stringifyJson(part === 'error' ? comparableError(attempt.error) : attempt[part]);
}

/** Each line of the traceback is compared separately. */
function comparableError(error: StepExecution['error']): unknown {
  if (error === null) return null;
  const { type, message, data, traceback } = error;
  return { type, message, data, traceback: traceback?.split('\n') ?? null };
}

/** True if the server omitted the value because it was too long. */
export function isLeftOut(value: unknown): boolean {
  return stringifyJson(value) === '{"truncated":true}';
}
