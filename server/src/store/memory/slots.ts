/** Slots: see ../records/slots.ts. */
import { PRIORITIES } from '../../engine/model/start-options.js';
import { HOLDERS_MAX } from '../records/places.js';
import { beginTimeOf, roomOf } from '../records/rates.js';
import {
  distinctKeys,
  earlier,
  grantOf,
  inWaitOrder,
  mostWaitingFirst,
  keyIdOf,
  LIMIT_KEYS_MAX,
  offersOf,
  SLOTS_PER_GRANT,
  type GrantRequest,
  type LimitKey,
  type LimitKeyUse,
  type LimitUse,
} from '../records/slots.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { compareText } from '../text-order.js';
import type { MemoryData, StoredWait } from './memory-data.js';
import {
  heldOf,
  isHeld,
  isOpen,
  isRunnable,
  lineOn,
  makeAvailable,
  ruleOf,
  takeSlots,
  useOf,
  waitsOn,
} from './slot-rows.js';
import { putTurn, turnsOf } from './turns.js';

export function grantSlots(
  data: MemoryData,
  [request]: OperationArguments<'grantSlots'>,
): OperationResult<'grantSlots'> {
  if (ruleOf(data, request.limit) === null) return refuseAll(data, request);
  const waiting = waitsOn(data, request, 'waiting').filter((wait) => isRunnable(data, wait));
  const granted = grantInOrder(data, request);
  const offers = offerItems(data, waiting, request);
  const begin = waitsOn(data, request, 'granted').filter(
    ({ execution }, position) => position < SLOTS_PER_GRANT || granted.executions.has(execution),
  );
  return {
    begin: begin.map(grantOf),
    offered: offers.names,
    moved: granted.moved,
    retryAt: earlier(granted.retryAt, offers.retryAt),
    isCut: granted.isCut || offers.isCut,
  };
}

interface Granted {
  readonly executions: ReadonlySet<string>;
  readonly moved: readonly LimitKey[];
  /** When the rate allows the next; null: the rate isn't what it waits for. */
  readonly retryAt: number | null;
  readonly isCut: boolean;
}

function grantInOrder(data: MemoryData, { key, limit, ...request }: GrantRequest): Granted {
  const executions = new Set<string>();
  const moved: LimitKey[] = [];
  for (let count = 0; count < SLOTS_PER_GRANT; count += 1) {
    const wait = nextEffect(data, { limit, key });
    if (wait === null)
      return { executions, moved: distinctKeys(moved), retryAt: null, isCut: false };
    const answer = takeSlots(data, wait, request);
    if (answer.isFree) {
      data.slotWaits.set(wait.execution, { ...wait, state: 'granted', at: answer.at });
      executions.add(wait.execution);
    } else if (answer.on.limit === limit && answer.on.key === key) {
      return { executions, moved: distinctKeys(moved), retryAt: answer.retryAt, isCut: false };
    } else {
      data.slotWaits.set(wait.execution, { ...wait, on: answer.on });
      putTurn(data, lineOn(answer.on, wait), wait);
      moved.push(answer.on);
    }
  }
  return {
    executions,
    moved: distinctKeys(moved),
    retryAt: null,
    isCut: true,
  };
}

/** The first execution that isn't an item, and can go on. */
function nextEffect(data: MemoryData, on: LimitKey): StoredWait | null {
  const effects = waitsOn(data, on, 'waiting').filter(
    (wait) => wait.activityName === null && isRunnable(data, wait),
  );
  return inTurns(data, on, effects)[0] ?? null;
}

/** In the order of priority, then of turns, as if all of them were served. */
function inTurns(
  data: MemoryData,
  on: LimitKey,
  waits: readonly StoredWait[],
): readonly StoredWait[] {
  return PRIORITIES.flatMap((priority) => {
    const equal = waits.filter((wait) => wait.priority === priority);
    return [...turnsOf(data, lineOn(on, { priority })).inOrder(equal)];
  });
}

/** Of each name, as many items as there are free slots. */
function offerItems(
  data: MemoryData,
  waiting: readonly StoredWait[],
  request: GrantRequest,
): { readonly names: readonly string[]; readonly retryAt: number | null; readonly isCut: boolean } {
  const { limit, key, now } = request;
  const rule = ruleOf(data, limit);
  if (rule === null) return { names: [], retryAt: null, isCut: false };
  const names = new Set(waiting.flatMap(({ activityName }) => activityName ?? []));
  const use = useOf(data, { limit, key }, now);
  const offers = [...names].sort(compareText).map((name) => {
    const ofName = waiting.filter(({ activityName }) => activityName === name);
    const items = inTurns(data, request, ofName);
    return { name, ...offersOf(rule, use, { items: items.slice(0, SLOTS_PER_GRANT), limit, now }) };
  });
  for (const wait of offers.flatMap(({ items }) => items)) {
    data.slotWaits.set(wait.execution, { ...wait, state: 'offered' });
    makeAvailable(data, wait.execution);
  }
  return {
    names: offers.filter(({ items }) => items.length > 0).map(({ name }) => name),
    retryAt: offers.reduce<number | null>((first, { retryAt }) => earlier(first, retryAt), null),
    isCut: offers.some(({ items }) => items.length === SLOTS_PER_GRANT),
  };
}

function refuseAll(data: MemoryData, key: LimitKey): OperationResult<'grantSlots'> {
  const waits = [...data.slotWaits.values()]
    .filter((wait) => keyIdOf(wait.on) === keyIdOf(key) && isOpen(data, wait))
    .sort(inWaitOrder);
  const begin = waits.slice(0, SLOTS_PER_GRANT).map((wait) => ({
    ...grantOf(wait),
    unknown: key.limit,
  }));
  return { begin, offered: [], moved: [], retryAt: null, isCut: false };
}

export function findWaitedKeys(
  data: MemoryData,
  [after, limit]: OperationArguments<'findWaitedKeys'>,
): readonly LimitKey[] {
  const waits = [...data.slotWaits.values()].filter(
    (wait) => wait.state !== 'offered' && isOpen(data, wait),
  );
  return [...distinctKeys(waits.map(({ on }) => on))]
    .sort(inKeyOrder)
    .filter((key) => after === null || inKeyOrder(key, after) > 0)
    .slice(0, limit);
}

export function countSlots(
  data: MemoryData,
  [limits, now]: OperationArguments<'countSlots'>,
): readonly LimitUse[] {
  return limits.map((limit) => {
    const used = [
      ...[...data.slots.values()].filter((slot) => isHeld(data, slot, now)),
      ...[...data.slotWaits.values()].filter((wait) => isOpen(data, wait)).map(({ on }) => on),
    ].filter((slot) => slot.limit === limit);
    const keys = [...new Set(used.map(({ key }) => key))].map((key) =>
      keyUseOf(data, { limit, key }, now),
    );
    const total = (what: 'held' | 'waiting'): number =>
      keys.reduce((sum, each) => sum + each[what], 0);
    const shown = keys.sort(mostWaitingFirst).slice(0, LIMIT_KEYS_MAX);
    return { held: total('held'), waiting: total('waiting'), keys: shown };
  });
}

function keyUseOf(data: MemoryData, of: LimitKey, now: number): LimitKeyUse {
  const use = useOf(data, of, now);
  const rule = ruleOf(data, of.limit);
  const isFull = rule !== null && roomOf(rule, use, now) < 1;
  const lacking = [
    ...waitsOn(data, of, 'waiting'),
    ...(isFull ? waitsOn(data, of, 'offered') : []),
  ];
  const since = lacking.map((wait) => wait.since);
  const oldestWaitSince = since.length === 0 ? null : Math.min(...since);
  return { key: of.key, held: use.held, waiting: lacking.length, oldestWaitSince };
}

export function findSlotPosition(
  data: MemoryData,
  [execution, now]: OperationArguments<'findSlotPosition'>,
): OperationResult<'findSlotPosition'> {
  const wait = data.slotWaits.get(execution);
  if (wait === undefined || wait.state === 'granted' || !isOpen(data, wait)) return null;
  const { on, since } = wait;
  const rule = ruleOf(data, on.limit);
  const use = useOf(data, on, now);
  if (wait.state === 'offered' && (rule === null || roomOf(rule, use, now) >= 1)) return null;
  const others = waitsOn(data, on, 'waiting');
  const ahead = others.filter((other) => inWaitOrder(other, wait) < 0).length;
  const holding = heldOf(data, on, now).map(({ instanceId }) => instanceId);
  const holders = [...new Set(holding)].sort(compareText).slice(0, HOLDERS_MAX);
  const rate = rule?.rate ?? null;
  const nextAt = rate === null ? 0 : Math.max(0, beginTimeOf(rate, use.spentUntil, 1));
  return { on, since, held: use.held, holders, ahead, nextAt };
}

function inKeyOrder(left: LimitKey, right: LimitKey): number {
  return compareText(left.limit, right.limit) || compareText(left.key, right.key);
}
