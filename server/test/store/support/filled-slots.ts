/** Slots in every state, and all that can be read of them through the contract. */
import type { ActivityRecord } from '../../../src/store/records/activities.js';
import type { Store } from '../../../src/store/store.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';
import { need, NO_CHANGES, on, putLimit, requestOf } from './slot-cases.js';

const SLOT_KEYS = ['', 'k', 'é\u0000', '\ud800'];
/** Instances. */
export const SLOTTED: readonly string[] = ['s-1', 's-\ud800'];

/** Slots that are held, granted and waited for, and items that wait, are offered and are held. */
export async function fillSlots(store: Store): Promise<void> {
  const rate = { count: 7, perMs: 1000, burst: 3 };
  for (const name of ['api', 'db']) await putLimit(store, name, { concurrency: 3, rate });
  for (const [n, id] of SLOTTED.entries()) {
    const activities = SLOT_KEYS.map((key, at) =>
      activityOf(`${id}/i${at}`, id, {
        name: 'slotted',
        needs: [need('db', key)],
        createdAt: 1000 + n,
      }),
    );
    await store.insertInstance({ record: instanceOf(id), side: { ...NO_SIDE, activities } });
    const take = SLOT_KEYS.map((key, at) =>
      requestOf(`${id}/t${at}`, need('api'), need('db', key)),
    );
    const wait = SLOT_KEYS.map((key, at) => ({
      ...requestOf(`${id}/w${at}`, need('api', key), need('db', key)),
      since: 1000 + n,
      on: on('api', key),
    }));
    const slots = { ...NO_CHANGES, take: take.slice(0, 1 + n), wait };
    await store.commitInstance(commitOf((await store.getInstance(id))!, { slots }));
  }
  for (const key of SLOT_KEYS)
    await store.grantSlots({ ...on('api', key), now: 2100, aheadMs: 200 });
  const claim = claimBy('slotted', 9000);
  await store.claimActivity({ name: 'slotted', now: 2200, claim, deferMs: 1 });
}

const FAIR_KEYS = ['a', 'b\u0000', ''];
/** Instances. */
export const FAIR: readonly string[] = Array.from({ length: 9 }, (_, n) => `fair-${n}`);

/** Items, effects and queued instances of several fairness keys. */
export async function fillFairLines(store: Store): Promise<void> {
  await putLimit(store, 'fair', { concurrency: FAIR_KEYS.length });
  for (const [n, id] of FAIR.entries()) {
    const key = FAIR_KEYS[n % FAIR_KEYS.length] ?? '';
    const fairness = key === '' ? null : { key, weight: 1 + n };
    const at = 1000 + n;
    const item = activityOf(`${id}/1`, id, { name: 'fair', createdAt: at });
    const activities = [{ ...item, ...(fairness !== null && { fairness }) }];
    const place = { concurrencyKey: 'f', place: 'waiting', countsFrom: at, queued: true } as const;
    const record = instanceOf(id, { definitionId: 'fair', fairness, startTime: at, ...place });
    await store.insertInstance({ record, side: { ...NO_SIDE, activities } });
    const wait = [{ ...requestOf(`${id}/2`, need('fair')), since: at, on: on('fair') }];
    const slots = { ...NO_CHANGES, wait };
    await store.commitInstance(commitOf((await store.getInstance(id))!, { slots }));
  }
}

/** Which are next: one of each key. Who is the first of them differs between the stores. */
export async function fairContentsOf(store: Store): Promise<object> {
  const items: string[] = [];
  for (let n = 0; n < FAIR.length; n += 1) {
    const claim = claimBy('fair', 9000);
    const item = await store.claimActivity({ name: 'fair', now: 2200, claim, deferMs: 1 });
    const { fairness, id } = item as ActivityRecord;
    items.push(`${id} ${fairness?.key ?? ''} ${fairness?.weight ?? 1}`);
  }
  const next = FAIR_KEYS.length;
  const places = { definitionId: 'fair', key: 'f', limit: next, asking: null, now: 2200 };
  const { begin } = await store.grantSlots({ ...on('fair'), now: 2300, aheadMs: 0 });
  return {
    items: [items.slice(0, next).toSorted(), items.slice(next).toSorted()],
    places: (await store.grantPlaces(places)).ids.toSorted(),
    grants: begin.map(({ execution }) => execution).toSorted(),
  };
}

/** Also what the next grants give. */
export async function slotContentsOf(store: Store): Promise<object> {
  const executions = SLOTTED.flatMap((id) =>
    SLOT_KEYS.flatMap((_, at) => [`${id}/i${at}`, `${id}/t${at}`, `${id}/w${at}`]),
  );
  const contents = {
    uses: await store.countSlots(['api', 'db'], 2300),
    // Keys that the databases encode differently have another place.
    waited: (await store.findWaitedKeys(null, 99))
      .map(({ key, limit }) => `${limit}/${key}`)
      .sort(),
    positions: await Promise.all(executions.map((each) => store.findSlotPosition(each, 2300))),
    items: await store.listActivityItems('slotted', 2300, null, 99),
    needs: (await store.getActivities(executions)).toSorted((left, right) =>
      left.id < right.id ? -1 : 1,
    ),
  };
  const keys = SLOT_KEYS.flatMap((key) => [on('api', key), on('db', key)]);
  const grants: unknown[] = [];
  for (const key of keys) grants.push(await store.grantSlots({ ...key, now: 2300, aheadMs: 100 }));
  return { ...contents, grants };
}
