/** The open window of an instance as the store has it, and what a commit changes about it. */
import { windowEnd } from '../../engine/flow/debounce.js';
import type { Instance } from '../../engine/model/instance.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { WindowChange } from '../../store/records/windows.js';
import { writeInput } from './long-states.js';

export type StoredWindow = Pick<InstanceRecord, 'debounceKey' | 'countsFrom'>;

/** What the store has once this instance is stored. */
export function windowOf(instance: Instance, now: number): StoredWindow {
  const isOpen = windowEnd(instance) !== null;
  const debounceKey = isOpen ? (instance.debounce?.key ?? null) : null;
  return { debounceKey, countsFrom: countsFrom(instance, now) };
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
  const { countsFrom: at, debounceKey } = windowOf(
    instance,
    Math.min(now, stored.countsFrom ?? now),
  );
  const countsFrom = at ?? now;
  if (debounceKey !== null)
    return countsFrom === stored.countsFrom ? {} : { window: { isOpen: true, countsFrom } };
  const input = debounce.input === undefined ? {} : { input: await writeInput(debounce.input) };
  return { window: { isOpen: false, countsFrom, ...input } };
}

/** The position of an instance that waits for its time or its place; otherwise the given time. */
function countsFrom({ pointers }: Instance, otherwise: number): number {
  for (const { state } of pointers.values()) {
    if (state.kind === 'queued') return state.at;
    if (state.kind === 'sleeping' && state.isStart === true) return state.until;
  }
  return otherwise;
}

/** The store has the input: it need not be part of the state any more. */
export function forgetInput(instance: Instance): void {
  const { debounce } = instance;
  if (debounce === null || windowEnd(instance) !== null) return;
  const { input: stored, ...window } = debounce;
  if (stored !== undefined) instance.debounce = window;
}
