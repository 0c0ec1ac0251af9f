/** Formats step executions for tables and lines. */
import type { StepExecution, StepWait } from '../../api/wire/models/step-execution.js';
import type { Json } from '../../engine/values/json.js';
import { jsonText } from './output.js';
import { styleOf } from './runs.js';
import type { Column } from './table.js';
import { duration, durationOf, relativeTime } from './times.js';

export const STEP_COLUMNS: readonly Column<StepExecution>[] = [
  { title: '#', text: ({ executionId }) => String(executionId), alignRight: true },
  { title: 'STEP', text: nameOf, canShrink: true },
  { title: 'TYPE', isOptional: true, text: ({ stepType }) => stepType, canShrink: true },
  { title: 'STATUS', text: ({ status }) => status, style: ({ status }) => styleOf(status) },
  {
    title: 'ATTEMPT',
    isOptional: true,
    text: ({ attempt }) => (attempt > 1 ? String(attempt) : ''),
    alignRight: true,
  },
  {
    title: 'STARTED',
    isOptional: true,
    text: ({ startTime }, now) => relativeTime(startTime, now),
  },
  { title: 'TOOK', text: tookOf, alignRight: true },
  { title: 'DETAIL', text: detailOf, canShrink: true },
];

/** `charge`, or `charge[2]` for the item with the index 2. */
export function nameOf({ index, stepId }: StepExecution): string {
  return index === null ? stepId : `${stepId}[${index}]`;
}

export function tookOf({ endTime, startTime }: StepExecution): string {
  return endTime === null ? '' : durationOf(startTime, endTime);
}

/** Its error, the reason for its wait, or why it was canceled. */
export function detailOf(
  { error, item, reason, status, waitsFor }: StepExecution,
  now: number,
): string {
  const parts: string[] = [];
  if (waitsFor !== null) parts.push(waitText(waitsFor, now));
  if (error !== null && status !== 'Complete') parts.push(error.message);
  if (reason !== null) parts.push(reason);
  if (parts.length === 0 && item !== null) parts.push(`item ${jsonText(item as Json)}`);
  return parts.join('; ');
}

function waitText(
  { activityName, eventKey, eventName, key, kind, limit, open, until, workflowId }: StepWait,
  now: number,
): string {
  // Each kind has the members used here.
  switch (kind) {
    case 'time':
      return `waits until ${relativeTime(until ?? null, now)}`;
    case 'retry':
      return `next attempt ${nextText(until, now)}`;
    case 'queue':
      return 'waits for other runs to end';
    case 'limit':
      return `waits for a slot of limit '${limit}'${key === '' ? '' : ` with the key '${key}'`}`;
    case 'event':
      return `waits for event ${eventName}/${eventKey}`;
    case 'activity':
      return `waits for activity ${activityName}`;
    case 'workflow':
      return `waits for run ${workflowId}`;
    case 'steps':
      return `${open} open inside`;
  }
}

function nextText(until: string | undefined, now: number): string {
  const ms = Date.parse(until ?? '') - now;
  return ms > 0 ? `in ${duration(ms)}` : 'now';
}
