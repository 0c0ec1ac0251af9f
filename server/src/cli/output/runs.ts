/** Formats runs for lists and actions. */
import type { ControlledWorkflow, WorkflowSummary } from '../../api/wire/models/workflow.js';
import type { Output } from './output.js';
import type { Style } from './paint.js';
import type { Column } from './table.js';
import { durationOf, relativeTime } from './times.js';

type Shown = Pick<ControlledWorkflow, 'status' | 'outcome'>;

/** The outcome is more specific than `Complete`. */
export function statusOf({ outcome, status }: Shown): string {
  return outcome ?? status;
}

const STYLES: Readonly<Record<string, Style>> = {
  Succeeded: 'green',
  Complete: 'green',
  Failed: 'red',
  Terminated: 'magenta',
  Cancelled: 'dim',
  Compensated: 'yellow',
  Suspended: 'yellow',
  Runnable: 'cyan',
  Running: 'cyan',
};

export function styleOf(status: string): Style | null {
  return STYLES[status] ?? null;
}

/** @param found why a run was found, for search results */
export function printRuns(
  output: Output,
  runs: readonly WorkflowSummary[],
  found?: (run: WorkflowSummary) => string,
): void {
  const { now } = output;
  const columns: readonly Column<WorkflowSummary>[] = [
    { title: 'RUN', text: ({ workflowId }) => workflowId },
    ...(found === undefined ? [] : [{ title: 'FOUND', text: found, canShrink: true }]),
    {
      title: 'DEFINITION',
      text: ({ definitionId, version }) => `${definitionId} v${version}`,
      canShrink: true,
    },
    { title: 'STATUS', text: statusOf, style: (run) => styleOf(statusOf(run)) },
    { title: 'STARTED', isOptional: true, text: ({ startTime }) => relativeTime(startTime, now) },
    {
      title: 'TOOK',
      isOptional: true,
      text: ({ endTime, startTime }) => (endTime === null ? '' : durationOf(startTime, endTime)),
      alignRight: true,
    },
    {
      title: 'REFERENCE',
      isOptional: true,
      text: ({ reference }) => reference ?? '',
      canShrink: true,
    },
    { title: 'TAGS', isOptional: true, text: ({ tags }) => tagsText(tags), canShrink: true },
    {
      title: 'PROBLEM',
      text: ({ failure }) => (failure === null ? '' : `${failure.stepId}: ${failure.message}`),
      canShrink: true,
    },
  ];
  output.table(runs, columns);
}

export function tagsText(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** Reports on standard error that there are more. */
export function noteMore(
  output: Output,
  { items, nextCursor }: { readonly items: readonly unknown[]; readonly nextCursor: string | null },
  what: string,
): void {
  if (items.length === 0) output.note(`There are no ${what}.`);
  else if (nextCursor !== null)
    output.note(`These are the first ${items.length} ${what}; --limit shows more.`);
}
