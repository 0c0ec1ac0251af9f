/** Explains why a pointer does not advance. */
import { windowEnd } from '../../engine/flow/debounce.js';
import type { Instance } from '../../engine/model/instance.js';
import { waitsForStart } from '../../engine/session/pointer-states.js';
import type { Pointer, PointerState } from '../../engine/model/pointer.js';
import { FAR_FUTURE_MS } from '../../store/store.js';
import { explainActivity } from './explain-activity.js';
import type {
  Explanation,
  InstanceFacts,
  PlaceFacts,
  PointerFacts,
  WaitReason,
} from './explanation.js';
import { explainLimit } from './explain-limit.js';
import { sayTurns } from './explain-fairness.js';
import { failingFor } from './failing-for.js';
import { plainDuration } from './plain-duration.js';
import { NO_PLACE, placeOf, type StepPlace } from './step-place.js';

type Said = Omit<WaitReason, keyof StepPlace | 'until' | 'error'> &
  Partial<Pick<WaitReason, 'until' | 'error'>>;
type State<Kind extends PointerState['kind']> = Extract<PointerState, { kind: Kind }>;

export function explainPointer(pointer: Pointer, facts: InstanceFacts): WaitReason {
  // Before the start, the run as a whole waits.
  const place = waitsForStart(pointer.state) ? NO_PLACE : placeOf(pointer, facts);
  return { until: null, error: null, ...place, ...sayState(pointer, facts) };
}

function sayState(pointer: Pointer, facts: InstanceFacts): Said {
  const { state } = pointer;
  switch (state.kind) {
    case 'sleeping':
      if (state.isStart === true) return sayStart(state, facts);
      return state.reason === 'retry'
        ? sayRetry(pointer, state, facts)
        : sayTimer(pointer, state, facts);
    case 'queued':
      return sayQueue(pointer, facts);
    case 'limited':
      return sayLimit(pointer, facts);
    case 'event':
      return sayEvent(pointer, state, facts);
    case 'activity':
      return facts.of.get(pointer.id)?.kind === 'limit'
        ? sayLimit(pointer, facts)
        : sayActivity(pointer, state, facts);
    case 'child':
      return sayChild(pointer, state, facts);
    case 'effect':
      return sayCall(pointer, facts);
    case 'ready':
    case 'finishing':
    case 'open':
    case 'compensating':
      return sayTurn(pointer, facts);
  }
}

function sayTimer(pointer: Pointer, { until }: State<'sleeping'>, facts: InstanceFacts): Said {
  const isRound = pointer.memo?.kind === 'round';
  const what = isRound ? 'waiting for its next round at' : 'waiting until';
  return {
    kind: 'timer',
    text: `${what} ${new Date(until).toISOString()} (${when(until, facts)})`,
    since: pointer.attemptStartedAt,
    until,
    actions: ['terminate'],
  };
}

function sayStart({ until }: State<'sleeping'>, facts: InstanceFacts): Said {
  const collecting = facts.instance === null ? null : sayWindow(facts.instance, facts);
  if (collecting !== null) return { ...sayWait(until, facts), kind: 'debounce', text: collecting };
  return sayWait(until, facts);
}

/** Null: the instance has no open window. */
function sayWindow(instance: Instance, facts: InstanceFacts): string | null {
  const { debounce } = instance;
  const until = windowEnd(instance);
  if (debounce === null || until === null) return null;
  const { key, latest, starts } = debounce;
  const ofKey = key === '' ? 'further starts' : `further starts with the key '${key}'`;
  const so = starts === 1 ? '1 start so far' : `${starts} starts so far`;
  return `collects ${ofKey} until ${new Date(until).toISOString()} (${when(until, facts)}); each one moves this time, to ${new Date(latest).toISOString()} at the latest; ${so}`;
}

function sayWait(until: number, facts: InstanceFacts): Said {
  return {
    kind: 'timer',
    text: `starts at ${new Date(until).toISOString()} (${when(until, facts)})`,
    since: facts.startTime,
    until,
    actions: facts.status === 'Runnable' ? ['suspend', 'terminate'] : ['terminate'],
  };
}

function sayQueue(pointer: Pointer, facts: InstanceFacts): Said {
  const { instance, startTime, status } = facts;
  const known = factsOf(pointer, facts, 'queue');
  const reference = instance?.reference ?? '';
  const before = known === null ? '' : sayBefore(known, status);
  const ofReference = `waits for the runs with the reference '${reference}' that were open before it${before}`;
  const ofPlaces =
    known?.places === undefined ? null : sayPlaces(known.places, status) + sayTurns(facts);
  return {
    kind: 'queue',
    text: `queued: ${ofPlaces ?? ofReference}`,
    since: startTime,
    ...(known !== null && { holders: known.holders }),
    actions: status === 'Runnable' ? ['suspend', 'terminate'] : ['terminate'],
  };
}

function sayPlaces(
  { ahead, ancestor, held, key, limit }: PlaceFacts,
  status: InstanceFacts['status'],
): string {
  const ofKey = key === '' ? '' : ` with the key '${key}'`;
  const inLine = ahead === 0 ? '' : `, ${ahead} in line before it`;
  if (ancestor !== null) {
    return `${held} of ${limit ?? held} runs${ofKey} are open, one of them is the run ${ancestor} above it: if that waits for this one, neither goes on`;
  }
  if (limit !== null && held >= limit) return `${held} of ${limit} runs${ofKey} are open${inLine}`;
  const free = ofKey === '' ? 'a place is free' : `a place is free for runs${ofKey}`;
  return status === 'Suspended'
    ? `${free}, and it begins when it is resumed`
    : `${free}${inLine}, and it is about to begin`;
}

function sayBefore(
  { count, isExact }: Extract<PointerFacts, { kind: 'queue' }>,
  status: InstanceFacts['status'],
): string {
  if (!isExact) return `; ${count === 0 ? 'some' : `at least ${count}`} of them are open`;
  if (count > 0) return `; ${count} of them ${count === 1 ? 'is' : 'are'} open`;
  return status === 'Suspended'
    ? '; all have ended, and it begins when it is resumed'
    : '; all have ended, and it is about to begin';
}

function sayLimit(pointer: Pointer, facts: InstanceFacts): Said {
  const { holders, on, since, text } = explainLimit(pointer, facts);
  return {
    kind: 'limit',
    limit: on.limit,
    ...(on.key !== '' && { limitKey: on.key }),
    text: `${text}${sayTurns(facts)}${timeOut(pointer.deadline, facts)}`,
    since,
    until: pointer.deadline,
    ...(holders.length > 0 && { holders }),
    actions: facts.status === 'Runnable' ? ['suspend', 'terminate'] : ['terminate'],
  };
}

function sayRetry(
  pointer: Pointer,
  { kept, until }: State<'sleeping'>,
  facts: InstanceFacts,
): Said {
  const { attempt, error } = pointer;
  const what = kept === undefined ? '' : ' (evaluates its Outputs again)';
  const because = error === null ? '' : `: ${error.message}${failingFor(pointer, facts.now)}`;
  return {
    kind: 'retry',
    text: `attempt ${attempt} ${whenRetried(until, facts)}${what}${because}`,
    since: error?.time ?? pointer.attemptStartedAt,
    until,
    error,
    actions: facts.status === 'Runnable' ? ['retry', 'suspend', 'terminate'] : ['terminate'],
  };
}

function sayEvent(pointer: Pointer, state: State<'event'>, facts: InstanceFacts): Said {
  const { key, name } = state;
  const known = factsOf(pointer, facts, 'event');
  const waits = `has been waiting for event ${name}/${key} for ${ago(pointer, facts)}`;
  const until = earliest(state.until, pointer.deadline);
  return {
    kind: 'event',
    text: `${waits}; ${sayPublished(state, known, facts)}${timeOut(until, facts)}`,
    since: pointer.attemptStartedAt,
    until,
    eventName: name,
    eventKey: key,
    actions: ['publish-event', 'terminate'],
  };
}

function sayPublished(
  { effectiveAt }: State<'event'>,
  known: Extract<PointerFacts, { kind: 'event' }> | null,
  { now, status }: InstanceFacts,
): string {
  if (known?.since != null) {
    const published = `a matching event was published ${plainDuration(now - known.since)} ago`;
    return status === 'Suspended'
      ? `${published} and will be delivered when the run is resumed`
      : `${published} and is being delivered`;
  }
  if (effectiveAt > now) {
    return `only an event published in ${plainDuration(effectiveAt - now)} or later counts`;
  }
  if (known?.before != null) {
    const early = plainDuration(effectiveAt - known.before);
    return `a matching event was published ${early} before the effective date and does not count`;
  }
  return 'no matching event has been published since the effective date';
}

function sayActivity(pointer: Pointer, state: State<'activity'>, facts: InstanceFacts): Said {
  const known = factsOf(pointer, facts, 'activity');
  const until = earliest(state.until, pointer.deadline);
  const { queue, text, worker } = explainActivity(known, facts.now);
  // While a worker holds the item, or its result is there, it waits for nobody else.
  const turns = queue === undefined ? '' : sayTurns(facts);
  return {
    kind: 'activity',
    text: `activity ${state.name}: ${text}${turns}${timeOut(until, facts)}`,
    since: known?.record?.createdAt ?? pointer.attemptStartedAt,
    until: until ?? leaseEnd(worker?.leaseUntil ?? null),
    activityName: state.name,
    ...(worker !== undefined && { worker }),
    ...(queue !== undefined && { queue }),
    actions: ['complete-activity', 'fail-activity', 'terminate'],
  };
}

function sayChild(pointer: Pointer, state: State<'child'>, facts: InstanceFacts): Said {
  const known = factsOf(pointer, facts, 'child');
  const { workflowId } = state;
  const waits = `has been waiting for run ${workflowId} for ${ago(pointer, facts)}`;
  const because = known === null ? '' : sayOfChild(known.child);
  return {
    kind: 'workflow',
    text: `${waits}${because}${timeOut(pointer.deadline, facts)}`,
    since: pointer.attemptStartedAt,
    until: pointer.deadline,
    workflowId,
    actions: ['terminate'],
  };
}

function sayOfChild(child: Explanation | null): string {
  return child === null
    ? '; it is about to be started'
    : `; it is ${child.status}: ${child.summary}`;
}

function sayCall(pointer: Pointer, facts: InstanceFacts): Said {
  const { owner, status } = facts;
  const type = facts.definition?.steps.get(pointer.stepId)?.typeName ?? 'a call';
  if (owner?.isAlive !== true) return sayTurn(pointer, facts);
  const isSuspended = status === 'Suspended';
  return {
    kind: 'running',
    text: `has been running ${type} for ${ago(pointer, facts)} on node ${owner.id}${timeOut(pointer.deadline, facts)}`,
    since: pointer.attemptStartedAt,
    until: pointer.deadline,
    nodeId: owner.id,
    actions: isSuspended ? ['terminate'] : ['suspend', 'terminate'],
  };
}

/** It is due, and runs as soon as it gets a turn on a node. */
function sayTurn(pointer: Pointer, facts: InstanceFacts): Said {
  const { owner, status } = facts;
  const since = pointer.attemptStartedAt;
  const base = { kind: 'scheduled', since, actions: [] } as const;
  if (status === 'Suspended') {
    const due =
      pointer.state.kind === 'finishing' ? 'has its result and continues' : 'is due and runs';
    return { ...base, text: `${due} when the run is resumed` };
  }
  if (owner === null) return { ...base, text: 'is due; a node is about to claim it' };
  const nodeId = owner.id;
  if (owner.isAlive) return { ...base, nodeId, text: `is due and about to run on node ${nodeId}` };
  const text = `is due, but node ${nodeId} is gone; another node is about to take it over`;
  return { ...base, nodeId, text };
}

function factsOf<Kind extends PointerFacts['kind']>(
  pointer: Pointer,
  { of }: InstanceFacts,
  kind: Kind,
): Extract<PointerFacts, { kind: Kind }> | null {
  const known = of.get(pointer.id);
  // The kind was just compared; the compiler cannot infer that through a type parameter.
  return known?.kind === kind ? (known as Extract<PointerFacts, { kind: Kind }>) : null;
}

/** Nothing is retried while the run is suspended. */
function whenRetried(until: number, facts: InstanceFacts): string {
  return facts.status === 'Suspended' ? 'when the run is resumed' : when(until, facts);
}

function when(until: number, { now, status }: InstanceFacts): string {
  if (until > now) return `in ${plainDuration(until - now)}`;
  return status === 'Suspended' ? 'when the run is resumed' : 'now';
}

function ago(pointer: Pointer, { now }: InstanceFacts): string {
  return plainDuration(now - pointer.attemptStartedAt);
}

function timeOut(until: number | null, facts: InstanceFacts): string {
  return until === null ? '' : `; times out ${when(until, facts)}`;
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

function leaseEnd(leaseUntil: number | null): number | null {
  return leaseUntil === null || leaseUntil >= FAR_FUTURE_MS ? null : leaseUntil;
}
