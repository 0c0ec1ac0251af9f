import { toBoolean, toList } from '../values/convert-input.js';
import type { StepDefinition } from '../model/definition.js';
import type { Json } from '../values/json.js';
import type { Memo, Pointer } from '../model/pointer.js';
import { finish, setState } from '../session/pointer-states.js';
import { insideOf } from '../session/pointers.js';
import { hasWaitingItems, stepOf, type Session } from '../session/session.js';
import { openWaitingItems } from '../session/waiting-items.js';
import { openSequences } from './containers.js';
import { InputError, optional, primitive, required } from './primitive.js';

/** Every sequence of an active item is an open pointer in the stored instance, whose size is limited. */
const PARALLEL_PATHS_MAX = 20_000;

type Items = Extract<Memo, { kind: 'items' }>;

/** Runs Do once for each item, in parallel (up to 20,000) or sequentially. */
export const foreach = primitive({
  enter(session, pointer, inputs) {
    const items = required(inputs, 'Collection', toList);
    const parallel = optional(inputs, 'RunParallel', toBoolean, true);
    if (items.length === 0 || stepOf(session, pointer).do.length === 0)
      finish(session, pointer, {});
    else if (parallel)
      openSideBySide(session, pointer, checkedForParallel(items, stepOf(session, pointer)));
    else openItem(session, pointer, { kind: 'items', items, next: 0 });
  },
  joined(session, pointer) {
    const { memo } = pointer;
    if (hasWaitingItems(pointer)) openWaitingItems(session, pointer);
    else if (memo?.kind === 'items' && memo.next < memo.items.length)
      openItem(session, pointer, memo);
    else finish(session, pointer, {});
  },
});

function checkedForParallel(items: readonly Json[], step: StepDefinition): readonly Json[] {
  const pathsMax = Math.floor(PARALLEL_PATHS_MAX / step.do.length);
  if (items.length <= pathsMax) return items;
  throw new InputError(
    `the input Collection has ${items.length} items, but at most ${pathsMax} can run in parallel; ` +
      'set RunParallel to False to run them one after another',
  );
}

function openSideBySide(session: Session, pointer: Pointer, items: readonly Json[]): void {
  setState(session, pointer, { kind: 'open' });
  pointer.memo = { kind: 'items', items, next: 0, parallel: true };
  openWaitingItems(session, pointer);
}

function openItem(session: Session, pointer: Pointer, memo: Items): void {
  const index = memo.next;
  pointer.memo = { ...memo, next: index + 1 };
  const surroundings = { ...insideOf(pointer), item: memo.items[index] ?? null, index };
  openSequences(session, pointer, surroundings);
}
