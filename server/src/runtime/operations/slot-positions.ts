/** Where steps stand that wait for a slot. Bounded reads, for display. */
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { SlotPosition } from '../../store/records/slots.js';
import type { Store } from '../../store/store.js';
import type { StepView } from '../model/instance-types.js';

/** Maximum number of steps of a page whose position is looked up. */
const POSITIONS_MAX = 10;

type Positions = Pick<Store, 'findSlotPosition' | 'getSummaries'>;

/** Null: it doesn't wait for a slot. Holders of other definitions than these aren't named. */
export async function visiblePosition(
  { slots, state }: Pick<Pointer, 'slots' | 'state'>,
  {
    allowed,
    now,
    store,
  }: { readonly store: Positions; readonly now: number; readonly allowed: AllowedNames },
): Promise<SlotPosition | null> {
  if (slots === undefined || (state.kind !== 'limited' && state.kind !== 'activity')) return null;
  const position = await store.findSlotPosition(slots.execution, now);
  if (position === null || allowed === 'all' || position.holders.length === 0) return position;
  const known = await store.getSummaries(position.holders);
  const visible = known.filter(({ definitionId }) => allowsName(allowed, definitionId));
  const ids = new Set(visible.map(({ id }) => id));
  return { ...position, holders: position.holders.filter((id) => ids.has(id)) };
}

/** Adds how many are before each step, and shows which work items wait for a slot. */
export async function withSlotPositions(
  steps: readonly StepView[],
  { pointers }: Instance,
  { now, store }: { readonly store: Positions; readonly now: number },
): Promise<readonly StepView[]> {
  let left = POSITIONS_MAX;
  const shown: StepView[] = [];
  for (const step of steps) {
    const pointer = step.waitsFor === null ? undefined : pointers.get(step.executionId);
    if (pointer?.slots === undefined || left === 0) {
      shown.push(step);
      continue;
    }
    left -= 1;
    const position = await visiblePosition(pointer, { store, now, allowed: 'all' });
    if (position === null) shown.push(step);
    else {
      const { ahead, on, since } = position;
      shown.push({ ...step, waitsFor: { kind: 'limit', ...on, since, ahead } });
    }
  }
  return shown;
}
