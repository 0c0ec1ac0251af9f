/** Places: see ../records/places.ts. They are decided under the claim of their key: see reference-claims.ts. */
import type { Filter } from 'mongodb';
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import type { InsertInstance, InsertInstanceResult } from '../records/instances.js';
import {
  HOLDERS_MAX,
  PLACES_COUNTED_MAX,
  PLACES_PER_GRANT,
  placesKeyOf,
  type Place,
  type PlaceRequest,
  type PlacesOf,
} from '../records/places.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import { decodeText, encodeText } from '../text-codec.js';
import { compareText } from '../text-order.js';
import type { InstanceDocument } from './documents.js';
import { FAIRNESS_FIELDS, sameFairness } from './fairness-fields.js';
import { firstOfKeys } from './first-of-keys.js';
import type { MongoContext } from './mongo-context.js';
import { claimAndGrant, readClaim } from './reference-claims.js';
import { LineState, type InLine } from './turns.js';

type Context = Pick<MongoContext, 'instances'>;
type PlaceRefusal = Extract<InsertInstanceResult, { outcome: 'no-place' | 'queue-full' }>;

/** How often others may be faster before a grant gives up. */
const ATTEMPTS_MAX = 100;

const OPEN: Filter<InstanceDocument> = {
  // The index contains only open instances.
  openChangedAt: { $exists: true },
  status: { $in: ['Runnable', 'Suspended'] },
};
/**
 * The order in which places are granted, as the index has it. All that wait are queued. Of those that hold a place, the ones that
 * haven't begun are last.
 */
export const IN_ORDER = { queued: 1, priority: 1, countsFrom: 1, _id: 1 } as const;
/** So many of those that wait are read. If there are more, the first ones of each fairness key are. */
const WAITING_READ = 50;
const WAITING_FIELDS = { priority: 1, countsFrom: 1, ...FAIRNESS_FIELDS } as const;
const ID_ONLY = { projection: { _id: 1 } } as const;

/** What the places of its key say to an insert; null: nothing against it. */
export async function refusalByPlaces(
  { instances }: Context,
  { conflict, places, record }: InsertInstance,
): Promise<PlaceRefusal | null> {
  const { concurrencyKey, definitionId, place, reference } = record;
  if (places === undefined || concurrencyKey === null) return null;
  const of = { definitionId, key: concurrencyKey };
  // The insert terminates the others first.
  const isReplacing = conflict?.action === 'terminate' && reference !== null;
  const stays = isReplacing ? { reference: { $ne: encodeText(reference) } } : {};
  const waiting = { ...withPlace(of, 'waiting'), ...stays };
  if (place === 'waiting') {
    if (places.maxQueued === null) return null;
    if (places.maxQueued === 0) return { outcome: 'queue-full' };
    const queued = await instances.countDocuments(waiting, { limit: places.maxQueued });
    return queued >= places.maxQueued ? { outcome: 'queue-full' } : null;
  }
  if (place !== 'held') return null;
  const held = { ...withPlace(of, 'held'), ...stays };
  const isFree =
    (await instances.findOne({ ...waiting, status: 'Runnable' }, ID_ONLY)) === null &&
    (await instances.countDocuments(held, { limit: places.limit })) < places.limit;
  return isFree ? null : { outcome: 'no-place', holders: await holdersOf({ instances }, of) };
}

export async function grantPlaces(
  context: MongoContext,
  [{ asking, ...request }]: OperationArguments<'grantPlaces'>,
): Promise<OperationResult<'grantPlaces'>> {
  const key = encodeText(placesKeyOf(request));
  if (asking !== null) {
    await context.instances.updateOne(
      { _id: encodeText(asking), place: 'later', ...OPEN },
      { $set: { place: 'waiting' } },
    );
  }
  return context.references.run(key, () => grantByClaim(context, key, request));
}

async function grantByClaim(
  context: MongoContext,
  key: string,
  { limit, now: at, ...of }: Omit<PlaceRequest, 'asking'>,
): Promise<OperationResult<'grantPlaces'>> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    // First: whatever others do after this read makes the claim fail.
    const claim = await readClaim(context, key);
    const line = new LineState(claim.turns);
    const next = await nextOf(context, of, { limit, line });
    for (const instance of next) line.handOut(instance, at);
    const [first, ...others] = next.map(({ _id }) => _id);
    if (first !== undefined) {
      const granting = [first, ...others] as const;
      if (!(await claimAndGrant(context, claim, { at, granting, ...line.changed }))) continue;
    }
    const begin = await idsOf(
      context,
      { ...withPlace(of, 'held'), queued: true },
      PLACES_PER_GRANT,
    );
    const granted = first === undefined ? [] : [first, ...others];
    const ids = new Set([...granted, ...begin]);
    return { ids: [...ids].map(decodeText), isCut: granted.length === PLACES_PER_GRANT };
  }
  throw new StoreUnavailableError(`Too many concurrent starts of ${of.definitionId} with one key`);
}

/** Those that can have a place now. */
async function nextOf(
  { instances }: Context,
  of: PlacesOf,
  { limit, line }: { readonly limit: number; readonly line: LineState },
): Promise<readonly Waiting[]> {
  const held = await instances.countDocuments(withPlace(of, 'held'), { limit });
  const free = Math.min(limit - held, PLACES_PER_GRANT);
  if (free <= 0) return [];
  const filter = { ...withPlace(of, 'waiting'), status: 'Runnable' as const };
  const most = Math.max(free, WAITING_READ);
  const oldest: InstanceDocument[] = await instances
    .find(filter, { projection: WAITING_FIELDS })
    .sort(IN_ORDER)
    .limit(most)
    .toArray();
  const others =
    oldest.length < most
      ? []
      : await firstOfKeys(instances, {
          filter,
          sort: { priority: 1, countsFrom: 1, _id: 1 },
          keysOf: (keys) => line.nextKeys(oldest[0]?.priority ?? DEFAULT_PRIORITY, keys),
          most: free,
        });
  const all = new Map([...oldest, ...others].map((each) => [each._id, waitingOf(each)]));
  line.begin(all.values());
  return line.inOrder([...all.values()].sort(inLineOrder)).slice(0, free);
}

interface Waiting extends InLine {
  readonly _id: string;
}

function waitingOf(instance: InstanceDocument): Waiting {
  const { _id, countsFrom: since = 0, priority = DEFAULT_PRIORITY } = instance;
  return { _id, priority, since, ...sameFairness(instance) };
}

function inLineOrder(left: Waiting, right: Waiting): number {
  return (
    left.priority - right.priority || left.since - right.since || compareText(left._id, right._id)
  );
}

export async function countPlaces(
  { instances }: MongoContext,
  [of, id]: OperationArguments<'countPlaces'>,
): Promise<OperationResult<'countPlaces'>> {
  const _id = encodeText(id);
  const own = await instances.findOne({ _id }, { projection: { priority: 1, countsFrom: 1 } });
  const { countsFrom = 0, priority = 0 } = own ?? {};
  const limit = PLACES_COUNTED_MAX;
  const before = {
    ...withPlace(of, 'waiting'),
    $or: [
      { priority: { $lt: priority } },
      { priority, countsFrom: { $lt: countsFrom } },
      { priority, countsFrom, _id: { $lt: _id } },
    ],
  } as Filter<InstanceDocument>;
  return {
    held: await instances.countDocuments(withPlace(of, 'held'), { limit }),
    holders: await holdersOf({ instances }, of),
    ahead: await instances.countDocuments(before, { limit }),
  };
}

export async function findWaitingKeys(
  { instances }: MongoContext,
  [definitionId, after, limit]: OperationArguments<'findWaitingKeys'>,
): Promise<OperationResult<'findWaitingKeys'>> {
  const keys: string[] = [];
  let last = after === null ? null : encodeText(after);
  // One search of the index for each key.
  while (keys.length < limit) {
    const next: InstanceDocument | null = await instances.findOne(
      {
        definitionId: encodeText(definitionId),
        concurrencyKey: last === null ? { $exists: true } : { $gt: last },
        place: 'waiting',
        ...OPEN,
      },
      { projection: { concurrencyKey: 1 }, sort: { concurrencyKey: 1 } },
    );
    if (next?.concurrencyKey === undefined) break;
    last = next.concurrencyKey;
    keys.push(decodeText(last));
  }
  return keys;
}

export function withPlace({ definitionId, key }: PlacesOf, place: Place): Filter<InstanceDocument> {
  return {
    definitionId: encodeText(definitionId),
    concurrencyKey: encodeText(key),
    place,
    ...OPEN,
  };
}

async function holdersOf(context: Context, of: PlacesOf): Promise<readonly string[]> {
  return (await idsOf(context, withPlace(of, 'held'), HOLDERS_MAX)).map(decodeText);
}

async function idsOf(
  { instances }: Context,
  filter: Filter<InstanceDocument>,
  limit: number,
): Promise<readonly string[]> {
  const found = await instances.find(filter, ID_ONLY).sort(IN_ORDER).limit(limit).toArray();
  return found.map(({ _id }) => _id);
}
