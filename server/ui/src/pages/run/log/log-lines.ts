/** The log lines of a run's EmitLog steps: the run keeps the message and level of each line as inputs of its execution. */
import type { Page, StepExecution, StepwrightClient } from '@stepwright/sdk';
import { allSteps } from '../../../graph/find-step.js';
import type { GraphDefinition, GraphStep } from '../../../graph/read-definition.js';
import { isLeftOut } from '../step-details/attempts.js';

const LINES_WANTED = 50;
const EXECUTIONS_PER_CALL = 200;
/** Maximum number of requests per page of lines; the user decides whether to continue. */
const CALLS_PER_PAGE = 5;
/** The levels by number. */
const LEVELS = ['Trace', 'Debug', 'Information', 'Warning', 'Error', 'Critical', 'None'] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface LogLine {
  readonly execution: StepExecution;
  /** Null if the inputs were too long to be kept, with level and message. */
  readonly kept: { readonly level: LogLevel; readonly message: unknown } | null;
}

/** The line of an execution; null if it has none. */
export function logLineOf(execution: StepExecution): LogLine | null {
  const { inputs, status, stepType } = execution;
  if (stepType !== 'EmitLog' || status !== 'Complete') return null;
  if (isLeftOut(inputs)) return { execution, kept: null };
  const values = new Map<string, unknown>(
    typeof inputs === 'object' && inputs !== null ? Object.entries(inputs) : [],
  );
  const level = levelOf(values.get('Level'));
  if (level === 'None') return null;
  return { execution, kept: { level, message: values.get('Message') ?? null } };
}

/** Authors may write a level in any casing, or as its number. */
function levelOf(value: unknown): LogLevel {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const named = LEVELS.find((level) => level.toLowerCase() === text);
  const number = typeof value === 'number' ? value : Number.parseInt(text, 10);
  return named ?? LEVELS[number] ?? 'Information';
}

/** The steps that log, including nested ones and compensation steps. */
export function loggingSteps(definition: GraphDefinition): readonly GraphStep[] {
  return allSteps(definition).filter(({ type }) => type === 'EmitLog');
}

/** A page of lines, newest first. It may have few lines, or none, although there are more. */
export async function readLogPage(
  client: StepwrightClient,
  workflowId: string,
  stepIds: readonly string[],
  { cursor: from, signal }: { readonly cursor: string | undefined; readonly signal: AbortSignal },
): Promise<Page<LogLine>> {
  const [stepId] = stepIds;
  if (stepId === undefined) return { items: [], nextCursor: null };
  const filter = stepIds.length === 1 ? { stepId } : {};
  const options = { ...filter, order: 'desc', limit: EXECUTIONS_PER_CALL, signal } as const;
  const items: LogLine[] = [];
  let cursor: string | null | undefined = from;
  for (let calls = 0; calls < CALLS_PER_PAGE && items.length < LINES_WANTED; calls += 1) {
    const page: Page<StepExecution> = await client.workflows
      .steps(workflowId, options)
      .page(cursor ?? undefined);
    items.push(...page.items.map(logLineOf).filter((line) => line !== null));
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return { items, nextCursor: cursor ?? null };
}
