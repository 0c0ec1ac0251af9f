/** Slots: see ../records/slots.ts. They are decided under the document of their key: see slot-keys.ts. */
import {
  earlier,
  offersOf,
  SLOTS_PER_GRANT,
  type GrantRequest,
  type SlotGrant,
  type SlotGrants,
} from '../records/slots.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { decodeText } from '../text-codec.js';
import { compareText } from '../text-order.js';
import type { SlotWaitDocument } from './slot-documents.js';
import { grantInOrder, type Granting } from './slot-grants.js';
import { inTurn, type KeyState } from './slot-keys.js';
import { limitKeyOf, neededSlotOf, onOf } from './slot-names.js';
import type { MongoContext } from './mongo-context.js';
import { heldNow, retryTimeOf } from './slot-holders.js';
import { positionOnKey, useOfLimit } from './slot-use.js';
import {
  inWaitOrder,
  itemsOn,
  offeredAmong,
  positionOfItem,
  verifyWaits,
  waitingItems,
  waitsOn,
  type WaitingItem,
} from './slot-waits.js';

export async function grantSlots(
  context: MongoContext,
  [request]: OperationArguments<'grantSlots'>,
): Promise<SlotGrants> {
  const on = onOf(request);
  return inTurn(context.references, [on], async () => {
    const names = await waitingItems(context, on, SLOTS_PER_GRANT);
    const waiting = names.flat();
    const isOffered = await offeredAmong(context, on, waiting);
    const items = waiting.filter(({ name }) => !isOffered.has(name));
    const keyed = waiting.filter(({ fairnessKey }) => fairnessKey !== undefined);
    const granting = { ...request, on, items, keyed: keyed.map(positionOfItem) };
    const granted = await grantInOrder(context, granting);
    if (granted === 'unknown') return refuseAll(context, on, request);
    const offers = await offerItems(context, granted.state, { ...granting, names });
    return {
      begin: await grantsOf(context, on, granted.waits),
      offered: offers.names,
      moved: [...new Set(granted.moved)].map(limitKeyOf),
      retryAt: earlier(granted.retryAt, offers.retryAt),
      isCut: granted.isCut || offers.isCut,
    };
  });
}

/** Those that have got their slots, and haven't begun: the first ones, and those that have got them now. */
async function grantsOf(
  context: MongoContext,
  on: string,
  now: readonly SlotWaitDocument[],
): Promise<readonly SlotGrant[]> {
  const found = await inOrder(context, waitsOn(on, 'granted'));
  const verified = await verifyWaits(context, found);
  const granted = verified.flatMap(({ state, wait }) => (state === 'granted' ? wait : []));
  const isFound = new Set(found.map(({ _id }) => _id));
  const others = now.filter(({ _id }) => !isFound.has(_id));
  return [...granted, ...others.toSorted(inWaitOrder)].map(grantOf);
}

function inOrder({ slotWaits }: MongoContext, filter: object): Promise<SlotWaitDocument[]> {
  return slotWaits
    .find(filter)
    .sort({ on: 1, state: 1, priority: 1, since: 1, execution: 1 })
    .limit(SLOTS_PER_GRANT)
    .toArray();
}

function grantOf({ at, execution, instanceId }: SlotWaitDocument): SlotGrant {
  return { instanceId: decodeText(instanceId), execution: decodeText(execution), at };
}

interface Offers {
  readonly names: readonly string[];
  readonly retryAt: number | null;
  readonly isCut: boolean;
}

/** Of each name, as many items as there are free slots. */
async function offerItems(
  context: MongoContext,
  state: KeyState,
  { limit, names, now }: Granting & { readonly names: readonly (readonly WaitingItem[])[] },
): Promise<Offers> {
  const { line, rule, spentUntil } = state;
  const all = names.filter(([first]) => first !== undefined);
  if (rule === null || all.length === 0) return { names: [], retryAt: null, isCut: false };
  const held = rule.concurrency === null ? 0 : await heldNow(context, state, now);
  const offers = all.map((waiting) => {
    const items = line.inOrder(waiting.map((item) => ({ ...item, ...positionOfItem(item) })));
    const needing = items.map((item) => ({
      ...item,
      needs: (item.needs ?? []).map(neededSlotOf),
    }));
    return offersOf(rule, { held, spentUntil }, { items: needing, limit, now });
  });
  const offered = offers.flatMap(({ items }) => items);
  await makeAvailable(context, offered);
  const retryAt = offers.reduce<number | null>((first, each) => earlier(first, each.retryAt), null);
  const isShort = offered.length < all.flat().length;
  return {
    names: [...new Set(offered.map(({ name }) => decodeText(name)))].sort(compareText),
    retryAt: isShort ? earlier(retryAt, retryTimeOf(state, now)) : retryAt,
    isCut: offers.some(({ items }) => items.length === SLOTS_PER_GRANT),
  };
}

async function makeAvailable(
  { activities }: MongoContext,
  items: readonly Pick<WaitingItem, '_id' | 'createdAt'>[],
): Promise<void> {
  if (items.length === 0) return;
  await activities.bulkWrite(
    items.map(({ _id, createdAt }) => ({
      updateOne: {
        filter: { _id, slotState: 'waiting', done: false },
        update: {
          $set: { slotState: 'offered', availableAt: createdAt, deferred: false },
        },
      },
    })),
    { ordered: false },
  );
}

/** There is no such limit. */
async function refuseAll(
  context: MongoContext,
  on: string,
  { limit }: GrantRequest,
): Promise<SlotGrants> {
  const waits = await verifyWaits(context, await inOrder(context, { on }));
  const items = await context.activities
    .find({ $or: [itemsOn(on), itemsOn(on, 'offered')] }, { projection: { instanceId: 1 } })
    .limit(SLOTS_PER_GRANT)
    .toArray();
  const refused = [
    ...waits.map(({ wait }) => grantOf(wait)),
    ...items.map(({ _id, instanceId }) => ({
      instanceId: decodeText(instanceId),
      execution: decodeText(_id),
      at: 0,
    })),
  ];
  const begin = refused.slice(0, SLOTS_PER_GRANT).map((each) => ({ ...each, unknown: limit }));
  return { begin, offered: [], moved: [], retryAt: null, isCut: false };
}

export async function findWaitedKeys(
  { activities, slotWaits }: MongoContext,
  [after, limit]: OperationArguments<'findWaitedKeys'>,
): Promise<OperationResult<'findWaitedKeys'>> {
  const ons: string[] = [];
  let last = after === null ? '' : onOf(after);
  // Two searches of the indexes for each key.
  while (ons.length < limit) {
    const [wait, item] = await Promise.all([
      slotWaits.findOne({ on: { $gt: last } }, { projection: { on: 1 }, sort: { on: 1 } }),
      activities.findOne(
        { slotOn: { $gt: last }, slotState: 'waiting', done: false, settled: false },
        { projection: { slotOn: 1 }, sort: { slotOn: 1 } },
      ),
    ]);
    const next = [wait?.on, item?.slotOn].filter((each) => each !== undefined).sort()[0];
    if (next === undefined) break;
    ons.push(next);
    last = next;
  }
  return ons.map(limitKeyOf);
}

export async function countSlots(
  context: MongoContext,
  [limits, now]: OperationArguments<'countSlots'>,
): Promise<OperationResult<'countSlots'>> {
  return Promise.all(limits.map((limit) => useOfLimit(context, limit, now)));
}

export async function findSlotPosition(
  context: MongoContext,
  [execution, now]: OperationArguments<'findSlotPosition'>,
): Promise<OperationResult<'findSlotPosition'>> {
  return positionOnKey(context, execution, now);
}
