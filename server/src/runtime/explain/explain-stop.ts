/** Explains the work in flight that a stopped saga, container or run waits for before it is compensated. */
import { pointersInside } from '../../engine/failure/inside.js';
import { isAwaited } from '../../engine/failure/in-flight.js';
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { InstanceFacts, WaitReason } from './explanation.js';
import { plainDuration } from './plain-duration.js';
import { NO_PLACE, placeOf } from './step-place.js';

/** Maximum number of steps that a sentence names. */
const NAMED_MAX = 5;

/** The reasons of steps that were stopped themselves: failed sagas, canceled steps. */
export function explainStops(facts: InstanceFacts): readonly WaitReason[] {
  const { endTime, instance } = facts;
  if (endTime !== null || instance === null) return [];
  return [...instance.pointers.values()]
    .filter(({ stopping }) => stopping !== undefined)
    .map((pointer) => explainStop(facts, instance, pointer));
}

/** @param scope null: the whole run is being terminated with compensation */
export function explainStop(
  facts: InstanceFacts,
  instance: Instance,
  scope: Pointer | null,
): WaitReason {
  const { lastChangeAt, now } = facts;
  const inside = [...pointersInside({ instance }, scope), ...(scope === null ? [] : [scope])];
  const inFlight = inside.filter((pointer) => isAwaited(pointer) && hasBegun(pointer, facts));
  const until = scope === null ? instance.cleanUp?.until : scope.stopping?.until;
  const rest = until == null ? '' : `, at most ${plainDuration(Math.max(0, until - now))} more`;
  const place = scope === null ? NO_PLACE : placeOf(scope, facts);
  return {
    kind: 'compensating',
    text: `undoing: ${waitsFor(inFlight, facts)}${inFlight.length === 0 ? '' : rest}`,
    since: lastChangeAt,
    until: until ?? null,
    error: scope?.error ?? null,
    ...place,
    actions: ['terminate'],
  };
}

/** An item that no worker has held exists only until it is withdrawn. A missing one was withdrawn, or has ended. */
function hasBegun({ id, state }: Pointer, { of }: InstanceFacts): boolean {
  const known = of.get(id);
  if (state.kind !== 'activity' || known?.kind !== 'activity') return true;
  return known.record !== null && known.record.attempt > 0;
}

function waitsFor(inFlight: readonly Pointer[], facts: InstanceFacts): string {
  const { length } = inFlight;
  if (length === 0) return 'waits for compensations and results that are being applied';
  const named = inFlight.slice(0, NAMED_MAX).map((pointer) => sayInFlight(pointer, facts));
  const others = length > NAMED_MAX ? ` and ${length - NAMED_MAX} more` : '';
  const steps = length === 1 ? '1 step' : `${length} steps`;
  return `waits for ${steps} in flight: ${named.join(', ')}${others}`;
}

function sayInFlight({ id, state, stepId }: Pointer, { now, of }: InstanceFacts): string {
  const known = of.get(id);
  if (state.kind === 'child') return `${stepId} (run ${state.workflowId})`;
  if (state.kind === 'effect') return `${stepId} (a call)`;
  if (known?.kind !== 'activity' || known.record?.workerId == null) return stepId;
  const { availableAt, workerId } = known.record;
  const holder = workerId === '' ? 'an unnamed worker' : `worker ${workerId}`;
  const lease =
    state.kind === 'activity' && typeof state.leaseUntil === 'number' && availableAt > now
      ? ` until ${new Date(availableAt).toISOString()}`
      : '';
  return `${stepId} (held by ${holder}${lease})`;
}
