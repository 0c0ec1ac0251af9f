/**
 * Work items of steps that are stopped. Only the store knows whether a worker holds an item, so it is asked once the stop is
 * durable, and again when the lease ends: heartbeats may have extended it.
 */
import { continueContainers } from '../primitives/continue-containers.js';
import type { Session } from '../session/session.js';
import { setState } from '../session/pointer-states.js';
import type { Pointer } from '../model/pointer.js';
import { cutOff, endNotBegun, isAwaited } from '../failure/in-flight.js';

export type WithdrawnItem =
  /** No worker has held it. */
  | { readonly kind: 'not-begun' }
  /** A worker had it, and gave it back or lost its lease. */
  | { readonly kind: 'left' }
  /** Null: without a lease, or until its result arrives. */
  | { readonly kind: 'held'; readonly leaseUntil: number | null };

/** The steps whose work items must be looked up in the store. */
export function stepsToAskAbout({ instance }: Session): readonly Pointer[] {
  return [...instance.pointers.values()].filter(
    (pointer) =>
      isAwaited(pointer) &&
      pointer.state.kind === 'activity' &&
      pointer.state.leaseUntil === undefined,
  );
}

/** Applies the store's answer. No worker can get the item any more. */
export function applyWithdrawn(session: Session, pointer: Pointer, item: WithdrawnItem): void {
  const { state } = pointer;
  if (state.kind !== 'activity') return;
  if (item.kind === 'held') setState(session, pointer, { ...state, leaseUntil: item.leaseUntil });
  else if (item.kind === 'not-begun') endNotBegun(session, pointer);
  else cutOff(session, pointer, 'the lease of its worker ended without an answer');
  continueContainers(session);
}
