/** The open window of an instance as the store has it, and what a commit changes about it. */
import { windowEnd } from '../../engine/flow/debounce.js';
import type { Instance } from '../../engine/model/instance.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { WindowChange } from '../../store/records/windows.js';
import { writeInput } from './long-states.js';

export type StoredWindow = Pick<InstanceRecord, 'debounceKey' | 'countsFrom'>;

/** What the store has once this instance is stored. */
export function storedWindowOf(instance: Instance): StoredWindow {
  return { debounceKey: debounceKeyOf(instance), countsFrom: windowEnd(instance) };
}

/** The key of its open window; null: it has none. */
export function debounceKeyOf(instance: Instance): string | null {
  return windowEnd(instance) === null ? null : (instance.debounce?.key ?? null);
}

/** The member of the commit; empty if nothing changes. */
export async function windowChangeOf(
  instance: Instance,
  stored: StoredWindow,
  now: number,
): Promise<{ readonly window?: WindowChange }> {
  const { debounce } = instance;
  // Once the window is closed, the time at which the instance counts doesn't change.
  if (stored.debounceKey === null || debounce === null) return {};
  const until = windowEnd(instance);
  if (until !== null)
    return until === stored.countsFrom ? {} : { window: { isOpen: true, countsFrom: until } };
  const countsFrom = positionOf(instance) ?? Math.min(now, stored.countsFrom ?? now);
  const input = debounce.input === undefined ? {} : { input: await writeInput(debounce.input) };
  return { window: { isOpen: false, countsFrom, ...input } };
}

/** The position of an instance that waits for its time or its place; null: it has begun. */
function positionOf({ pointers }: Instance): number | null {
  for (const { state } of pointers.values()) {
    if (state.kind === 'queued') return state.at;
    if (state.kind === 'sleeping' && state.isStart === true) return state.until;
  }
  return null;
}

/** The store has the input: it need not be part of the state any more. */
export function forgetInput(instance: Instance): void {
  const { debounce } = instance;
  if (debounce === null || windowEnd(instance) !== null) return;
  const { input: stored, ...window } = debounce;
  if (stored !== undefined) instance.debounce = window;
}
