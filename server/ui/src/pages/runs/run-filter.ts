/** Which runs are shown: kept in the address, so that it can be sent to somebody and survives a reload. */
import type { WorkflowStatus, WorkflowSummary } from '@stepwright/sdk';
import type { RunQuery } from '../../api/operator-api.js';

export const STATUSES: readonly WorkflowStatus[] = [
  'Runnable',
  'Suspended',
  'Complete',
  'Terminated',
];

/** Texts as they are in the address; empty where nothing is asked for. */
export interface RunFilter {
  readonly status: string;
  readonly definitionId: string;
  readonly version: string;
  readonly reference: string;
  /** Local times as an input of the type `datetime-local` has them. */
  readonly from: string;
  readonly to: string;
  /** Failed within so long: `1h`. */
  readonly failed: string;
  /** Not changed for so long: `10m`. */
  readonly unchanged: string;
}

export const NO_FILTER: RunFilter = {
  ...{ status: '', definitionId: '', version: '', reference: '' },
  ...{ from: '', to: '', failed: '', unchanged: '' },
};

export interface Preset {
  readonly label: string;
  readonly hint: string;
  readonly filter: RunFilter;
}

export const PRESETS: readonly Preset[] = [
  { label: 'All', hint: 'Every run, newest first', filter: NO_FILTER },
  {
    label: 'Running',
    hint: 'Neither ended nor suspended',
    filter: { ...NO_FILTER, status: 'Runnable' },
  },
  {
    label: 'Suspended',
    hint: 'Stopped, by somebody or because a step failed',
    filter: { ...NO_FILTER, status: 'Suspended' },
  },
  {
    label: 'Waiting long',
    hint: 'Nothing has moved them for ten minutes; the longest unchanged first',
    filter: { ...NO_FILTER, unchanged: '10m' },
  },
  {
    label: 'Failed in the last hour',
    hint: 'A step has failed; the newest failure first',
    filter: { ...NO_FILTER, failed: '1h' },
  },
];

const NAMES = Object.keys(NO_FILTER) as readonly (keyof RunFilter)[]; // Its own members, as it is made above.

export function readFilter(search: string): RunFilter {
  const parameters = new URLSearchParams(search);
  return Object.fromEntries(
    NAMES.map((name) => [name, parameters.get(name) ?? '']),
  ) as unknown as RunFilter; // One entry for each name.
}

export function filterText(filter: RunFilter): string {
  const parameters = new URLSearchParams();
  for (const name of NAMES) {
    if (filter[name] !== '') parameters.set(name, filter[name]);
  }
  return parameters.toString();
}

export function isSameFilter(a: RunFilter, b: RunFilter): boolean {
  return NAMES.every((name) => a[name] === b[name]);
}

/** @param nowMs what "within an hour" counts from */
export function toQuery(filter: RunFilter, nowMs: number): RunQuery {
  return {
    status: STATUSES.find((status) => status === filter.status),
    definitionId: textOr(filter.definitionId),
    version: filter.version === '' ? undefined : Number(filter.version),
    reference: textOr(filter.reference),
    startedFrom: localTime(filter.from),
    startedTo: localTime(filter.to),
    failedFrom: ago(filter.failed, nowMs),
    unchangedSince: ago(filter.unchanged, nowMs),
  };
}

/** Whether the list would show the run, as far as its summary tells. */
export function matches(run: WorkflowSummary, query: RunQuery): boolean {
  const { status, definitionId, version, reference, startedFrom, startedTo } = query;
  const { failedFrom, unchangedSince } = query;
  return (
    (status === undefined || run.status === status) &&
    (definitionId === undefined || run.definitionId === definitionId) &&
    (version === undefined || run.version === version) &&
    (reference === undefined || run.reference === reference) &&
    (startedFrom === undefined || run.startTime >= startedFrom) &&
    (startedTo === undefined || run.startTime < startedTo) &&
    (failedFrom === undefined || (run.failureTime !== null && run.failureTime >= failedFrom)) &&
    (unchangedSince === undefined || (isOpen(run.status) && run.lastChangeTime < unchangedSince))
  );
}

function isOpen(status: WorkflowStatus): boolean {
  return status === 'Runnable' || status === 'Suspended';
}

function textOr(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function localTime(text: string): string | undefined {
  const time = new Date(text);
  return text === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `10m`, `1h`, `7d` before now. */
function ago(text: string, nowMs: number): string | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  if (count === undefined || unitMs === undefined) return undefined;
  return new Date(nowMs - Number(count) * unitMs).toISOString();
}
