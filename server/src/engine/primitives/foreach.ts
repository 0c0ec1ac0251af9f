import { toBoolean, toList } from '../values/convert-input.js';
import type { StepDefinition } from '../model/definition.js';
import type { Json } from '../values/json.js';
import type { Memo, Pointer } from '../model/pointer.js';
import { finish, setState } from '../flow/pointer-states.js';
import { insideOf } from '../flow/pointers.js';
import { hasWaitingItems, stepOf, type Run } from '../flow/run.js';
import { openWaitingItems } from '../flow/waiting-items.js';
import { openSequences } from './containers.js';
import { InputError, optional, primitive, required } from './primitive.js';

/** Every sequence of an active item is an open pointer in the stored instance, whose size is limited. */
const PARALLEL_PATHS_MAX = 20_000;

type Items = Extract<Memo, { kind: 'items' }>;

/** Runs Do once for each item, in parallel (up to 20,000) or sequentially. */
export const foreach = primitive({
  enter(run, pointer, inputs) {
    const items = required(inputs, 'Collection', toList);
    const parallel = optional(inputs, 'RunParallel', toBoolean, true);
    if (items.length === 0 || stepOf(run, pointer).do.length === 0) finish(run, pointer, {});
    else if (parallel)
      openSideBySide(run, pointer, checkedForParallel(items, stepOf(run, pointer)));
    else openItem(run, pointer, { kind: 'items', items, next: 0 });
  },
  joined(run, pointer) {
    const { memo } = pointer;
    if (hasWaitingItems(pointer)) openWaitingItems(run, pointer);
    else if (memo?.kind === 'items' && memo.next < memo.items.length) openItem(run, pointer, memo);
    else finish(run, pointer, {});
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

function openSideBySide(run: Run, pointer: Pointer, items: readonly Json[]): void {
  setState(run, pointer, { kind: 'open' });
  pointer.memo = { kind: 'items', items, next: 0, parallel: true };
  openWaitingItems(run, pointer);
}

function openItem(run: Run, pointer: Pointer, memo: Items): void {
  const index = memo.next;
  pointer.memo = { ...memo, next: index + 1 };
  const surroundings = { ...insideOf(pointer), item: memo.items[index] ?? null, index };
  openSequences(run, pointer, surroundings);
}
