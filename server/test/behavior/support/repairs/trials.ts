/** The trials of the repair matrix: every combination of a step, a place, a status and a modification that makes sense. */
import { seeded } from '../../../support/seeded.js';
import type { JsonObject } from '../../../../src/engine/values/json.js';
import { BLOCKER_NAMES, blockerOf, type BlockerName } from './blockers.js';
import { PLACES, SPARE, type Behavior, type Place, type Shape } from './shapes.js';

export const STATUSES = [
  'waiting',
  'retrying',
  'suspended by a person',
  'suspended by a failure',
  'complete',
  'terminated',
  'failed',
  'compensated',
] as const;
export type TrialStatus = (typeof STATUSES)[number];

export const ACTIONS = [
  'start a step elsewhere',
  'rerun',
  'rerun from the outer step',
  'rerun another version',
  'cancel one',
  'cancel the container',
  'cancel all',
  'patch data',
  'move to another version',
  'move and start',
  'resume',
  'start inside',
  'start the spare step',
  'start beside',
] as const;
export type Action = (typeof ACTIONS)[number];

export interface Trial {
  readonly blocker: BlockerName;
  readonly place: Place;
  readonly status: TrialStatus;
  readonly action: Action;
  /** Whether the modification also mends the data, if it can do without. */
  readonly fixes: boolean;
}

const ENDED: ReadonlySet<TrialStatus> = new Set([
  'complete',
  'terminated',
  'failed',
  'compensated',
]);
export const isEndedStatus = (status: TrialStatus): boolean => ENDED.has(status);

export const nameOf = ({ action, blocker, fixes, place, status }: Trial): string =>
  `${blocker} in ${place}, ${status}: ${action}${fixes ? ', with data' : ''}`;

export function behaviorFor({ blocker, status }: Pick<Trial, 'blocker' | 'status'>): Behavior {
  if (status === 'suspended by a failure') return 'Suspend';
  if (status === 'failed') return 'Terminate';
  const fails = blockerOf(blocker).fails !== undefined;
  return status === 'retrying' || (status === 'complete' && fails) ? 'Retry' : 'none';
}

function canBe(blocker: BlockerName, place: Place, status: TrialStatus): boolean {
  const { fails, waits } = blockerOf(blocker);
  switch (status) {
    case 'waiting':
    case 'suspended by a person':
    case 'terminated':
      return waits !== undefined;
    case 'retrying':
      return fails !== undefined && fails !== 'always';
    case 'suspended by a failure':
    case 'failed':
      return fails !== undefined;
    case 'compensated':
      return fails !== undefined && place === 'saga';
    case 'complete':
      return fails !== 'always';
  }
}

const hasContainer = (place: Place): boolean => place !== 'top' && place !== 'sub-workflow';

/** All trials, in random order. */
export function allTrials(seed: number): readonly Trial[] {
  const random = seeded(seed);
  return BLOCKER_NAMES.flatMap((blocker) =>
    PLACES.flatMap((place) =>
      STATUSES.filter((status) => canBe(blocker, place, status)).flatMap((status) =>
        actionsAt(place).map((action) => ({ blocker, place, status, action })),
      ),
    ),
  )
    .map((trial) => ({ ...trial, fixes: random() < 0.5 }))
    .map((trial) => ({ trial, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ trial }) => trial);
}

const actionsAt = (place: Place): readonly Action[] =>
  ACTIONS.filter((action) => action !== 'cancel the container' || hasContainer(place));

/** As few trials as it takes, found greedily, so that each pair of step, place, status and action occurs in one. */
export function pairwise(trials: readonly Trial[]): readonly Trial[] {
  const covered = new Set<string>();
  return trials.filter(({ action, blocker, place, status }) => {
    const members = [blocker, place, status, action];
    const pairs = members.flatMap((one, at) =>
      members.slice(at + 1).map((other) => `${one}|${other}`),
    );
    const isNew = pairs.some((pair) => !covered.has(pair));
    if (isNew) for (const pair of pairs) covered.add(pair);
    return isNew;
  });
}

/** What a trial sends, as a body of modify and as its model understands it. */
export interface Request {
  readonly call: 'modify' | 'rerun';
  readonly body: JsonObject;
  /** The same as a body of modify, for the dry run. */
  readonly asModify: JsonObject;
  readonly cancel: readonly number[] | 'all';
  readonly start: readonly string[];
  readonly fixes: boolean;
  readonly resumes: boolean;
  readonly version: 1 | 2;
  readonly stepMap: Readonly<Record<string, string>>;
}

export interface OpenStep {
  readonly executionId: number;
  readonly stepId: string;
  readonly item: string | null;
}

/** @param open what is open, or was when the run was last seen open */
export function requestOf(
  trial: Trial,
  open: readonly OpenStep[],
  shapes: readonly [Shape, Shape],
): Request {
  const [first, second] = shapes;
  const blocked = open.find(({ stepId }) => stepId === first.blocked);
  const one = blocked?.executionId ?? 1;
  const container = open.find(({ stepId }) => stepId === first.outer)?.executionId ?? 1;
  const { fixes } = trial;
  switch (trial.action) {
    case 'start a step elsewhere':
      return modify({ cancel: 'all', start: ['after'], fixes });
    case 'rerun':
      return rerun({ start: ['before'], fixes }, null);
    case 'rerun from the outer step':
      return rerun({ start: [first.outer], fixes }, first.outer);
    case 'rerun another version':
      return rerun({ start: [second.outer], fixes, version: 2 }, second.outer);
    case 'cancel one':
      return modify({ cancel: [one], fixes });
    case 'cancel the container':
      return modify({ cancel: [container], fixes });
    case 'cancel all':
      return modify({ cancel: 'all', fixes });
    case 'patch data':
      return modify({ fixes: true });
    case 'move to another version':
      return modify({ version: 2, stepMap: { [first.blocked]: second.blocked }, fixes });
    case 'move and start':
      return modify({ cancel: 'all', version: 2, start: [second.outer], fixes });
    case 'resume':
      return modify({ resumes: true, fixes });
    case 'start inside':
    case 'start the spare step': {
      const start = [trial.action === 'start inside' ? first.next : SPARE];
      return modify({ cancel: blocked === undefined ? [] : [one], start, fixes }, (step) => {
        // A step inside a parallel Foreach needs to be told its item.
        if (trial.place !== 'Foreach in parallel' || blocked === undefined) return step;
        const { item } = blocked;
        return { ...step, inside: container, item, index: item === 'p' ? 0 : 1 };
      });
    }
    case 'start beside':
      return modify({ start: ['after'], fixes });
  }
}

const NOTHING = {
  cancel: [] as readonly number[] | 'all',
  start: [] as readonly string[],
  fixes: false,
  resumes: false,
  version: 1 as 1 | 2,
  stepMap: {} as Readonly<Record<string, string>>,
};

export const REASON = 'the matrix says so';

function modify(
  changes: Partial<typeof NOTHING>,
  details: (start: JsonObject) => JsonObject = (start) => start,
): Request {
  const all = { ...NOTHING, ...changes };
  const body: JsonObject = {
    reason: REASON,
    ...(all.cancel.length > 0 && { cancel: all.cancel === 'all' ? ['*'] : [...all.cancel] }),
    ...(all.start.length > 0 && { start: all.start.map((stepId) => details({ stepId })) }),
    ...(all.fixes && { data: { fixed: true } }),
    ...(all.resumes && { resume: true }),
    ...(all.version === 2 && { version: 2, stepMap: { ...all.stepMap } }),
  };
  return { call: 'modify', body, asModify: body, ...all };
}

/** @param from null: the first step, which the body does not name */
function rerun(changes: Partial<typeof NOTHING>, from: string | null): Request {
  const request = modify({ ...changes, cancel: 'all', resumes: true });
  const body: JsonObject = {
    reason: REASON,
    ...(from !== null && { from }),
    ...(request.fixes && { data: { fixed: true } }),
    ...(request.version === 2 && { version: 2 }),
  };
  return { ...request, call: 'rerun', body };
}
