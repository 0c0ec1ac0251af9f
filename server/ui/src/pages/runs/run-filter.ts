/** The run list filter. It is part of the URL, so it can be shared and survives a reload. */
import type {
  ChangedWorkflow,
  WorkflowFilter,
  WorkflowStatus,
  WorkflowSummary,
} from '@stepwright/sdk';
import { conditionText, fulfills, type Searchable } from './conditions.js';
import { conditionsIn, readCondition } from './search-text.js';
import { currentZone } from '../../components/zone-choice.js';
import { periodStart } from '../../components/period.js';
import { timeOf } from '../../data-form/local-time.js';
import { RUN_OUTCOMES, RUN_STATUSES } from '../../components/statuses.js';

/** The value of `parent` that lists children along with their parents. */
export const WITH_CHILDREN = 'any';

/** The value of `failed` for runs that show an error, whenever it occurred. */
export const ANY_TIME = 'any';

/** The value of `queued` that lists only queued runs. */
export const IS_QUEUED = 'true';

/** The strings in the address; empty where the filter sets nothing. */
export const NO_FILTER = {
  status: '',
  outcome: '',
  /** `true`: runs that wait for other runs to end. */
  queued: '',
  /** Empty for runs without a parent, `WITH_CHILDREN`, or the id of a run, for its children. */
  parent: '',
  definitionId: '',
  version: '',
  reference: '',
  /** Runs that started within this time: `1h`. */
  started: '',
  /** Times in the chosen zone, in the format of an input of type `datetime-local`. */
  from: '',
  to: '',
  endedFrom: '',
  endedTo: '',
  /** Conditions on tags and index fields, as the search box writes them. */
  where: '',
  /** The key of a group of failures. */
  failure: '',
  /** Runs with a step error within this time: `1h`; or `ANY_TIME`. */
  failed: '',
  /** Runs without a change for this time: `10m`. */
  unchanged: '',
};

export type RunFilter = Readonly<typeof NO_FILTER>;

export interface Preset {
  readonly label: string;
  readonly hint: string;
  readonly filter: RunFilter;
}

/** Views of problems include children: often, the child is the run to fix. */
const TROUBLE: RunFilter = { ...NO_FILTER, parent: WITH_CHILDREN };

export const PRESETS: readonly Preset[] = [
  { label: 'All', hint: 'All runs except child runs, the newest first', filter: NO_FILTER },
  {
    label: 'Running',
    hint: 'Open runs that are not suspended',
    filter: { ...NO_FILTER, status: 'Runnable' },
  },
  {
    label: 'Suspended',
    hint: 'Suspended by an operator, by a failed step or by the server',
    filter: { ...TROUBLE, status: 'Suspended' },
  },
  {
    label: 'Unchanged for 10 min',
    hint: 'Open runs that have not changed for ten minutes, the longest unchanged first',
    filter: { ...NO_FILTER, unchanged: '10m' },
  },
  {
    label: 'Errors in the last hour',
    hint: 'Runs with a step error, the newest failure first',
    filter: { ...TROUBLE, failed: '1h' },
  },
  {
    label: 'Failed',
    hint: 'Runs that were ended by an error',
    filter: { ...TROUBLE, outcome: 'Failed' },
  },
  {
    label: 'Compensated',
    hint: 'Runs in which a failure was compensated',
    filter: { ...TROUBLE, outcome: 'Compensated' },
  },
];

/** The API's value for runs without a parent; no run has this id. */
const NO_PARENT = 'none';
const NAMES = Object.keys(NO_FILTER) as readonly (keyof RunFilter)[]; // NO_FILTER, defined above, has no other members.

export function readFilter(search: string): RunFilter {
  const parameters = new URLSearchParams(search);
  const filter = Object.fromEntries(
    NAMES.map((name) => [name, parameters.getAll(name).join(' ')]),
  ) as unknown as RunFilter; // It has an entry for each name.
  return filter.parent === NO_PARENT ? { ...filter, parent: '' } : filter;
}

/** Number of choices set in the filter bar. The search box shows its own conditions. */
export function activeCount(filter: RunFilter): number {
  const isState = (name: string): boolean =>
    name === 'status' ||
    name === 'outcome' ||
    name === 'queued' ||
    (name === 'failed' && filter.failed === ANY_TIME);
  const others = NAMES.filter((name) => name !== 'where' && !isState(name) && filter[name] !== '');
  return others.length + (filter.status + filter.outcome + filter.queued === '' ? 0 : 1);
}

export function filterText(filter: RunFilter): string {
  const parameters = new URLSearchParams();
  for (const name of NAMES) {
    if (filter[name] !== '') parameters.set(name, filter[name]);
  }
  return parameters.toString();
}

/** A key of the filter's selection. It includes the time zone, because the filter's times depend on it. */
export function selectionKey(filter: RunFilter): string {
  return `${currentZone()} ${filterText(filter)}`;
}

/** The address of the list of runs with a filter. */
export function runsPath(filter: Partial<RunFilter>): string {
  const text = filterText({ ...NO_FILTER, ...filter });
  return text === '' ? '/runs' : `/runs?${text}`;
}

export function isSameFilter(a: RunFilter, b: RunFilter): boolean {
  return NAMES.every((name) => a[name] === b[name]);
}

/** The same filter as the API takes it. */
export type RunQuery = ReturnType<typeof toQuery>;

/** @param nowMs the end of relative times such as "within an hour" */
export function toQuery(filter: RunFilter, nowMs: number) {
  const conditions = conditionsIn(filter.where).map(conditionText);
  return {
    status: RUN_STATUSES.find((status) => status === filter.status),
    outcome: RUN_OUTCOMES.find((outcome) => outcome === filter.outcome),
    queued: filter.queued === IS_QUEUED ? true : undefined,
    parent: filter.parent === WITH_CHILDREN ? undefined : filter.parent || NO_PARENT,
    definitionId: textOr(filter.definitionId),
    version: filter.version === '' ? undefined : Number(filter.version),
    reference: textOr(filter.reference),
    startedFrom: periodStart(filter.started, nowMs) ?? textOr(timeOf(filter.from)),
    startedTo: textOr(timeOf(filter.to)),
    endedFrom: textOr(timeOf(filter.endedFrom)),
    endedTo: textOr(timeOf(filter.endedTo)),
    where: conditions.length === 0 ? undefined : conditions,
    failure: textOr(filter.failure),
    failedFrom: filter.failed === ANY_TIME ? FIRST_TIME : periodStart(filter.failed, nowMs),
    unchangedSince: periodStart(filter.unchanged, nowMs),
  } satisfies WorkflowFilter;
}

/** Whether the run matches the filter, as far as the change stream reports it. */
export function matches(run: ChangedWorkflow, query: RunQuery): boolean {
  const { status, definitionId, version, reference, startedFrom, startedTo } = query;
  const { endedFrom, endedTo, failedFrom, outcome, parent, queued, unchangedSince } = query;
  return (
    (status === undefined || run.status === status) &&
    (outcome === undefined || run.outcome === outcome) &&
    (queued === undefined || isOpen(run.status)) &&
    (parent === undefined || (run.parent?.workflowId ?? NO_PARENT) === parent) &&
    (definitionId === undefined || run.definitionId === definitionId) &&
    (version === undefined || run.version === version) &&
    (reference === undefined || run.reference === reference) &&
    (startedFrom === undefined || run.startTime >= startedFrom) &&
    (startedTo === undefined || run.startTime < startedTo) &&
    (endedFrom === undefined || (run.endTime !== null && run.endTime >= endedFrom)) &&
    (endedTo === undefined || (run.endTime !== null && run.endTime < endedTo)) &&
    (failedFrom === undefined || (run.failureTime !== null && run.failureTime >= failedFrom)) &&
    (unchangedSince === undefined || (isOpen(run.status) && run.lastChangeTime < unchangedSince))
  );
}

/** Whether the run fulfills the parts of the filter that the change stream doesn't report. */
export function fulfillsAll(
  run: Searchable & Pick<WorkflowSummary, 'queued'>,
  { queued, where = [] }: RunQuery,
): boolean {
  if (queued === true && !run.queued) return false;
  return where.every((text) => {
    const condition = readCondition(text);
    return condition !== null && fulfills(run, condition);
  });
}

/** The id of the run whose children are listed; null for every other list. */
export function parentIn({ parent }: RunFilter): string | null {
  return parent === '' || parent === WITH_CHILDREN ? null : parent;
}

function isOpen(status: WorkflowStatus): boolean {
  return status === 'Runnable' || status === 'Suspended';
}

function textOr(text: string): string | undefined {
  return text === '' ? undefined : text;
}

const FIRST_TIME = new Date(0).toISOString();
