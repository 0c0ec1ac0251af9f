/** Formats runs for lists and actions. */
import type { ControlledWorkflow, WorkflowSummary } from '../../api/wire/models/workflow.js';
import type { Paint, Style } from './paint.js';
import type { Column } from './table.js';
import { durationOf, relativeTime } from './times.js';

type Shown = Pick<ControlledWorkflow, 'status' | 'outcome'> &
  Partial<Pick<ControlledWorkflow, 'queued'>>;

/** The outcome is more specific than `Complete`, and `Queued` than `Runnable`. A run in another status can be queued, too. */
export function statusOf({ outcome, queued, status }: Shown): string {
  if (outcome !== null) return outcome;
  return queued === true && status === 'Runnable' ? 'Queued' : status;
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
  Queued: 'cyan',
};

export function styleOf(status: string): Style | null {
  return STYLES[status] ?? null;
}

export const RUN_COLUMNS: readonly Column<WorkflowSummary>[] = [
  { title: 'RUN', text: ({ workflowId }) => workflowId },
  {
    title: 'DEFINITION',
    text: ({ definitionId, version }) => `${definitionId} v${version}`,
    canShrink: true,
  },
  { title: 'STATUS', text: statusOf, style: (run) => styleOf(statusOf(run)) },
  {
    title: 'STARTED',
    isOptional: true,
    text: ({ startTime }, now) => relativeTime(startTime, now),
  },
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

/** `Failed` in its color. */
export function paintedStatus(run: Shown, paint: Paint): string {
  const status = statusOf(run);
  const style = styleOf(status);
  return style === null ? status : paint(style, status);
}

export function tagsText(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
