/** Turns the facts about an instance into reasons and sentences. Pure: the same facts give the same explanation. */
import { compensatedCount } from '../../engine/session/clean-up-plan.js';
import { COMPLETED_STEPS_MAX } from '../../engine/failure/completed-steps.js';
import type { StepError } from '../../engine/model/step-record.js';
import { explainItems } from './explain-items.js';
import { explainPointer } from './explain-pointer.js';
import type { Explanation, InstanceFacts, WaitReason } from './explanation.js';
import { failedOver } from './failing-for.js';
import { plainDuration } from './plain-duration.js';
import { failedLeafOf } from './failed-leaf.js';
import { repairHintsOf } from './repair-hints.js';
import { explainStop, explainStops } from './explain-stop.js';
import { NO_PLACE, placeOf } from './step-place.js';

/** The errors with which the server quarantines an instance; a loop without a wait is caused by the definition itself. */
const SET_ASIDE_TYPES: ReadonlySet<string> = new Set([
  'EngineError',
  'InstanceTooLarge',
  'StoreRefused',
  'Poison',
  'DefinitionMissing',
  'UnreadableDefinition',
  'UnreadableState',
]);

/** Problems first, then waits that users can act on, then waits that end by themselves. */
const ORDER: Readonly<Record<WaitReason['kind'], number>> = {
  ended: 0,
  'set-aside': 0,
  suspended: 1,
  compensating: 1,
  retry: 2,
  activity: 3,
  event: 4,
  workflow: 5,
  queue: 5,
  limit: 5,
  scheduled: 6,
  timer: 7,
  debounce: 7,
  running: 8,
};

export function explainInstance(facts: InstanceFacts): Explanation {
  const whole = explainWhole(facts);
  const isOver = facts.endTime !== null;
  const leaves = isOver ? [] : facts.leaves;
  const waits = leaves
    .filter((pointer) => whole === null || pointer.id !== whole.executionId)
    .map((pointer) => explainPointer(pointer, facts))
    .sort((a, b) => ORDER[a.kind] - ORDER[b.kind] || (a.since ?? 0) - (b.since ?? 0));
  const undoing = [explainCleanUp(facts), ...explainStops(facts)];
  const reasons = [whole, ...undoing, explainInbox(facts), ...waits].filter(
    (reason) => reason !== null,
  );
  if (reasons.length === 0) reasons.push(explainTurn(facts));
  const moreReasons = isOver ? 0 : facts.moreLeaves;
  return {
    workflowId: facts.workflowId,
    status: facts.status,
    outcome: facts.outcome,
    time: facts.now,
    summary: summaryOf(reasons, moreReasons, isOver ? null : explainItems(facts)),
    reasons,
    moreReasons,
    lastRepair: facts.lastRepair,
    repairs: repairHintsOf(facts),
  };
}

/** The reason for the instance as a whole; null if it is running or waiting. */
function explainWhole(facts: InstanceFacts): WaitReason | null {
  if (facts.endTime !== null) return explainEnd(facts, facts.endTime);
  if (facts.isNewer) {
    return wholeReason('set-aside', {
      text: 'a newer version of the server wrote this run; this server does not run it until it is upgraded',
      since: facts.lastChangeAt,
    });
  }
  if (facts.instance === null) {
    return wholeReason('set-aside', {
      text: 'quarantined: its stored state cannot be read; see the server log for the reason',
      since: facts.lastChangeAt,
      actions: ['terminate'],
    });
  }
  return facts.status === 'Suspended' ? explainSuspension(facts) : null;
}

function explainEnd(facts: InstanceFacts, endTime: number): WaitReason {
  const { actor, instance, now, outcome, startTime, status } = facts;
  const ago = `${plainDuration(now - endTime)} ago`;
  const error = instance?.lastError ?? null;
  const after = `${plainDuration(endTime - startTime)} after its start`;
  if (status === 'Complete') {
    const because =
      outcome === 'Compensated' && error !== null
        ? `; the failure was compensated: ${failure(error)}`
        : '';
    const text = `completed ${ago}, ${after}${because}`;
    return wholeReason('ended', { text, since: endTime, error });
  }
  // A user may have requested termination, but an error ended the instance first.
  if (actor !== null && outcome !== 'Failed') {
    const because = actor.detail === null ? '' : ` (${actor.detail})`;
    const text = `terminated by ${actor.name}${because} ${ago}, ${after}`;
    return wholeReason('ended', { text, since: endTime, error });
  }
  if (error !== null && outcome !== 'Terminated') {
    const undone = outcome === 'Compensated' ? ', and its completed steps were compensated' : '';
    const text = `terminated ${ago} because ${failure(error)}${undone}`;
    return wholeReason('ended', { text, since: endTime, error });
  }
  return wholeReason('ended', { text: `terminated ${ago}, ${after}`, since: endTime, error });
}

function explainSuspension(facts: InstanceFacts): WaitReason {
  const { actor, lastChangeAt, now } = facts;
  const error = facts.instance?.lastError ?? null;
  if (error !== null && SET_ASIDE_TYPES.has(error.type) && error.stepId === '') {
    return wholeReason('set-aside', {
      text: `quarantined by the server ${plainDuration(now - error.time)} ago: ${error.message}`,
      since: error.time,
      actions: ['resume', 'terminate'],
      error,
    });
  }
  const failed = error === null ? undefined : failedLeafOf(facts, error);
  const isHalted = error?.type === 'StepLimit' || error?.type === 'OpenStepLimit';
  if (error !== null && (failed !== undefined || isHalted)) {
    const reason = wholeReason('suspended', {
      text: `suspended ${plainDuration(now - error.time)} ago because ${failure(error)}`,
      since: error.time,
      actions: ['resume', 'terminate'],
      error,
    });
    return failed === undefined ? reason : { ...reason, ...placeOf(failed, facts) };
  }
  const since = actor?.time ?? lastChangeAt;
  return wholeReason('suspended', {
    text: `suspended by ${actor?.name ?? 'an operator'} ${plainDuration(now - since)} ago`,
    since,
    actions: ['resume', 'terminate'],
  });
}

/** The progress of a termination with compensation; null if there is none. */
function explainCleanUp(facts: InstanceFacts): WaitReason | null {
  const { endTime, instance, lastChangeAt } = facts;
  if (endTime !== null || instance === null || instance.cleanUp === null) return null;
  const { cleanUp, pointers } = instance;
  const { forgotten, next, plan } = cleanUp;
  if (plan === null) return explainStop(facts, instance, null);
  const done = `${compensatedCount(cleanUp, pointers.size)} of ${plan.length} steps compensated`;
  const first =
    next === 0 && pointers.size > 0 ? ', starting when the current compensation ends' : '';
  const left =
    forgotten > 0
      ? `; ${forgotten} earlier ones are not compensated, because a run keeps only the most recent ${COMPLETED_STEPS_MAX}`
      : '';
  return wholeReason('compensating', {
    text: `being terminated with compensation: ${done}${first}${left}`,
    since: lastChangeAt,
    actions: ['terminate'],
  });
}

/** Null unless the inbox is full. */
function explainInbox({ endTime, inbox, lastChangeAt }: InstanceFacts): WaitReason | null {
  if (endTime !== null || !inbox.isFull) return null;
  const size = `${inbox.messages} messages, ${(inbox.bytes / 2 ** 20).toFixed(1)} MiB`;
  return wholeReason('scheduled', {
    text: `its inbox is full (${size}): no message fits until the run has processed these; in the meantime, events are kept in the store, and results are sent again`,
    since: lastChangeAt,
  });
}

/** A Runnable instance with nothing open: it is between two steps, or about to end. */
function explainTurn({ lastChangeAt, now, owner }: InstanceFacts): WaitReason {
  const since = plainDuration(now - lastChangeAt);
  const text =
    owner?.isAlive === true
      ? `about to continue on node ${owner.id}`
      : `has been due for ${since}; a node is about to claim it`;
  return wholeReason('scheduled', { text, since: lastChangeAt });
}

function wholeReason(
  kind: WaitReason['kind'],
  said: Pick<WaitReason, 'text' | 'since'> & Partial<Pick<WaitReason, 'error' | 'actions'>>,
): WaitReason {
  return {
    kind,
    until: null,
    ...NO_PLACE,
    error: null,
    actions: [],
    ...said,
  };
}

function failure(error: StepError): string {
  const { message, stepId } = error;
  return stepId === '' ? message : `step ${stepId} failed: ${message}${failedOver(error)}`;
}

function summaryOf(
  reasons: readonly WaitReason[],
  moreReasons: number,
  items: string | null,
): string {
  const [first] = reasons;
  if (first === undefined) return '';
  const isWhole = ['suspended', 'set-aside', 'compensating', 'ended'].includes(first.kind);
  const text = isWhole || first.stepId === null ? first.text : `${first.stepId}: ${first.text}`;
  if (isWhole) return text;
  const others = reasons.length - 1 + moreReasons;
  const more = others === 0 ? '' : ` (and ${others} more)`;
  return `${text}${more}${items === null ? '' : `; ${items}`}`;
}
