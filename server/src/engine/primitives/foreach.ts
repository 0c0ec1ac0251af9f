import { toBoolean, toCount, toList } from '../values/convert-input.js';
import type { StepDefinition } from '../model/definition.js';
import type { Json, JsonObject } from '../values/json.js';
import type { Memo } from '../model/pointer.js';
import { finish, setState } from '../session/pointer-states.js';
import { hasWaitingItems, stepOf } from '../session/session.js';
import { openWaitingItems } from '../session/waiting-items.js';
import { InputError, optional, primitive, required } from './primitive.js';

/** Every sequence of an active item is an open pointer in the stored instance, whose size is limited. */
const PARALLEL_PATHS_MAX = 20_000;

type Items = Extract<Memo, { kind: 'items' }>;

/** Runs Do once for each item: in parallel (up to 20,000 paths), so many at once, or one after another. */
export const foreach = primitive({
  enter(session, pointer, inputs) {
    const step = stepOf(session, pointer);
    const memo = itemsOf(inputs, step);
    if (memo.items.length === 0 || step.do.length === 0) {
      finish(session, pointer, {});
      return;
    }
    setState(session, pointer, { kind: 'open' });
    pointer.memo = memo;
    openWaitingItems(session, pointer);
  },
  joined(session, pointer) {
    if (hasWaitingItems(pointer)) openWaitingItems(session, pointer);
    else finish(session, pointer, {});
  },
});

function itemsOf(inputs: JsonObject, step: StepDefinition): Items {
  const items = required(inputs, 'Collection', toList);
  const isParallel = optional(inputs, 'RunParallel', toBoolean, true);
  // None is no number: a limit that was lost must not open everything. Without RunParallel, one at a time is within any limit.
  const maxParallel = Object.hasOwn(inputs, 'MaxParallel')
    ? required(inputs, 'MaxParallel', toCount)
    : null;
  const memo = { kind: 'items', items, next: 0 } as const;
  if (!isParallel) return memo;
  checkPaths(items, maxParallel, step);
  return maxParallel === null ? { ...memo, parallel: true } : { ...memo, maxParallel };
}

function checkPaths(
  { length }: readonly Json[],
  maxParallel: number | null,
  step: StepDefinition,
): void {
  const pathsMax = Math.floor(PARALLEL_PATHS_MAX / step.do.length);
  if (Math.min(length, maxParallel ?? Infinity) <= pathsMax) return;
  const howMany =
    maxParallel === null
      ? `the input Collection has ${length} items`
      : `the input MaxParallel is ${maxParallel}`;
  throw new InputError(
    `${howMany}, but at most ${pathsMax} can run in parallel; ` +
      `set MaxParallel to at most ${pathsMax}, or RunParallel to False to run them one after another`,
  );
}
