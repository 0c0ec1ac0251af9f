/** A store with records of every kind in every state, and all that can be read from it through the contract. */
import type { Store } from '../../../src/store/store.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import {
  activityOf,
  bulkJobOf,
  claimBy,
  commitOf,
  deliveryOf,
  eventOf,
  instanceOf,
  NO_SIDE,
  notificationDeliveryOf,
} from '../records.js';
import {
  fairContentsOf,
  fillFairLines,
  fillSlots,
  slotContentsOf,
  SLOTTED,
  FAIR,
} from './filled-slots.js';

/** Texts that a careless copy would change. */
const TEXTS = ['{}', '', 'plain', 'é\u0000', '\ud800', '\u0001"x"', '$set', '😀', 'x'.repeat(9000)];
const KEYS = ['paid/7', 'paid/8', '\ud800'];
/** With the definition that each was used for. */
const STAMPS = [
  { id: 'stamp-a', definitionId: 'a' },
  { id: 'stamp-b', definitionId: 'b:1' },
];

const PLACE_KEYS = ['', 'k', 'é\u0000\ud800'];
const TRIGGERED = ['a', '\ud800'];
const BULK_JOBS = ['job', '\ud800', 'é', '\u0001'];

/** The same numbers for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

export interface FilledStore {
  readonly instanceIds: readonly string[];
  readonly eventIds: readonly string[];
}

export async function fillStore(store: Store, seed: number): Promise<FilledStore> {
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)]!;
  const instanceIds = Array.from({ length: 24 }, (_, n) => `${pick(['w', '\ud800', 'é'])}-${n}`);
  await fillDefinitions(store, pick);
  for (const [n, id] of instanceIds.entries()) {
    const parentId = n > 4 && random(3) === 0 ? instanceIds[random(4)]! : null;
    await fillInstance(store, { id, n, parentId }, pick);
  }
  await joinOpenInstances(store);
  await fillSlots(store);
  await fillFairLines(store);
  await store.setDefinitionDisabled('b:1', true);
  const eventIds = Array.from({ length: 12 }, (_, n) => `event-${n}`);
  for (const [n, id] of eventIds.entries()) {
    await store.insertEvent(
      eventOf(id, {
        nameKey: pick(KEYS),
        name: pick(TEXTS),
        data: pick(TEXTS),
        publishedAt: random(50),
        requestHash: pick([null, 'h']),
      }),
    );
    if (n % 3 !== 0) {
      const takenBy = n % 2 === 0 ? [instanceIds[n]!] : [];
      await store.markEventsDelivered([deliveryOf(id, takenBy, { deliveredTo: n })]);
    }
  }
  await fillBulkJobs(store, pick);
  await fillNotifications(store, pick);
  await fillTriggers(store, pick);
  await fillResources(store, pick);
  const node = { url: 'http://x', version: '1', hostname: 'h', pid: 7 };
  await store.putNode({ ...node, id: `dead-${seed}`, beatAt: 5, details: pick([null, '{"a":1}']) });
  return { instanceIds: [...instanceIds, ...SLOTTED, ...FAIR], eventIds };
}

type Pick = <Item>(items: readonly Item[]) => Item;

async function fillDefinitions(store: Store, pick: Pick): Promise<void> {
  for (let n = 0; n < 9; n += 1) {
    const stamp = STAMPS[n] ?? null;
    const id = stamp?.definitionId ?? pick(['a', 'b:1', '\ud800']);
    await store.insertDefinition(
      {
        id,
        body: pick(TEXTS),
        createdAt: n,
        description: pick([null, 'said']),
        source: pick([null, ...TEXTS]),
      },
      stamp === null ? null : { id: stamp.id, requestHash: `hash ${stamp.id}` },
    );
    const script = { name: pick(['s', 't:2']), source: pick(TEXTS), createdAt: n };
    await store.insertStepScript(script);
  }
}

async function fillNotifications(store: Store, pick: Pick): Promise<void> {
  const names = ['billing', '\ud800'];
  for (const name of names) {
    const paused = pick([null, ...TEXTS]);
    await store.putNotification({ name, settings: pick(TEXTS), paused });
  }
  const deliveries = Array.from({ length: 20 }, (_, n) =>
    notificationDeliveryOf(`d${n}`, {
      notification: pick(names),
      workflowId: pick([null, '\ud800', 'w']),
      state: pick(['waiting', 'delivered', 'failed']),
      endedAt: pick([null, 7]),
      answer: pick([null, ...TEXTS]),
      body: pick(TEXTS),
    }),
  );
  await store.insertDeliveries(deliveries);
}

const RESOURCE_KINDS = [
  'webhook',
  'webhook-delivery',
  'api-key',
  'api-key-name',
  'secret-key',
  'audit-entry',
  'version-author',
  'event-reach',
] as const;

async function fillResources(store: Store, pick: Pick): Promise<void> {
  for (let n = 0; n < 6; n += 1) {
    const kind = pick(RESOURCE_KINDS);
    const expiresAt = pick([null, 1_800_000_000_123]);
    await store.saveResource(
      { kind, name: `r${n}`, revision: 1, expiresAt, body: pick(TEXTS) },
      null,
    );
  }
}

async function fillTriggers(store: Store, pick: Pick): Promise<void> {
  for (let n = 0; n < 10; n += 1) {
    const trigger = {
      id: `t${n}`,
      definitionId: pick(TRIGGERED),
      dueAt: pick([null, 5, 1_800_000_000_123]),
      eventHash: pick([null, 'h']),
      revision: 1,
      body: pick(TEXTS),
    };
    await store.saveTrigger(trigger, null);
  }
}

async function fillBulkJobs(store: Store, pick: Pick): Promise<void> {
  for (const [n, id] of BULK_JOBS.entries()) {
    const texts = { about: pick(TEXTS), task: pick(TEXTS), failures: pick(TEXTS) };
    const owner = pick([null, 'dead-1', '\ud800']);
    const job = bulkJobOf(id, { ...texts, owner, startTime: n, matched: 1500, requestHash: 'h' });
    const chunks = [0, 1].map((position) => ({ position, ids: pick(TEXTS) }));
    await store.insertBulkJob(job, chunks);
    const collection = { jobId: id, epoch: 1, collectedTo: pick([null, ...TEXTS]), matched: 2001 };
    const chunk = { position: 2, ids: pick(TEXTS) };
    if (n !== 1) await store.collectBulkIds({ ...collection, chunk, isCollected: n === 2 });
    const counts = { jobId: id, epoch: 1, done: n, skipped: 1, failed: 2 };
    await store.saveBulkProgress({ ...counts, ...(n === 2 && { endTime: 70 }) });
  }
  await store.stopBulkJob(BULK_JOBS[3]!, 80);
}

async function fillInstance(
  store: Store,
  {
    id,
    n,
    parentId,
  }: { readonly id: string; readonly n: number; readonly parentId: string | null },
  pick: Pick,
): Promise<void> {
  const record = instanceOf(id, {
    tags: { team: `team-${id}` },
    index: { amounts: [1, 2n ** 64n], text: 'é' },
    definitionId: pick(['a', 'b:1']),
    reference: pick([null, ...TEXTS.slice(0, 8)]),
    startTime: 1000 + n,
    parentId,
    rootId: parentId,
    owner: pick([null, 'dead-1', '\ud800']),
    epoch: 1 + (n % 3),
    wakeAt: pick([null, 0, 900, 5000]),
    underWay: pick([true, false]),
    ...pick([{ errorAt: null }, { errorAt: 1200 }, { errorAt: 1200, failingSince: 1100 }]),
    failure: pick([null, { key: 'k', stepId: 'é', type: '\ud800', message: '"\u0000' }]),
    state: pick(TEXTS),
    crashes: n % 4,
    requestHash: pick([null, 'request']),
    fairness: pick([null, { key: 'é\u0000\ud800', weight: 0.25 }]),
    queued: n % 3 === 1,
    countsFrom: n % 4 === 1 ? 2000 + n : null,
    ...(n % 8 === 1 && {
      concurrencyKey: PLACE_KEYS[n % 3]!,
      place: pick(['later', 'waiting', 'held']),
    }),
  });
  const input = pick(['{}', '{"a":"é\u0000\ud800"}', 'x'.repeat(3000), 'y'.repeat(9000)]);
  await store.insertInstance({
    record,
    ...(n % 5 !== 0 && { input }),
    side: {
      history: [0, 1].map((sequence) => ({ instanceId: id, sequence, body: pick(TEXTS) })),
      subscriptions: [{ id: `${id}/1/0`, instanceId: id, nameKey: pick(KEYS), effectiveAt: n }],
      activities: [
        activityOf(`${id}/2/0`, id, { name: `of ${n}`, parameters: pick(TEXTS), createdAt: n }),
        activityOf(`${id}/3/0`, id, {
          claim: claimBy(`worker ${n}`, 7000),
          createdAt: n,
          fairness: { key: '\ud800', weight: 2.5 },
        }),
      ],
    },
  });
  await changeInstance(store, record, n);
}

/** Starts with an id that is kept although nothing was inserted. */
async function joinOpenInstances(store: Store): Promise<void> {
  for (const [n, reference] of TEXTS.slice(0, 8).entries()) {
    await store.insertInstance(joining(n, reference));
  }
}

function joining(n: number, reference: string): Parameters<Store['insertInstance']>[0] {
  const changes = { definitionId: 'a', reference, rootId: 'any', requestHash: `hash ${n}` };
  const record = instanceOf(`joining-${n}`, changes);
  // Without room for descendants, it joins an open instance or does nothing.
  return { record, side: NO_SIDE, conflict: { action: 'join' }, openDescendantsMax: 0 };
}

/** Every instance gets into another state than the one before it. */
async function changeInstance(store: Store, record: InstanceRecord, n: number): Promise<void> {
  const { id } = record;
  const audit = (action: 'suspend' | 'terminate' | 'retry') =>
    ({ time: n, actor: `someone ${n}`, action, detail: n % 2 === 0 ? null : 'why' }) as const;
  const message = (text: string) => ({ id: `${text} of ${n}`, body: text });
  if (n % 2 === 0) await store.appendAudit(id, audit('retry'));
  if (n % 6 === 1) {
    await store.postMessages(
      ['first', 'second', '\ud800'].map((text) => ({ instanceId: id, message: message(text) })),
    );
  }
  if (n % 6 === 2) await store.controlInstance(id, 'suspend', 2000, audit('suspend'));
  if (n % 6 === 3) await store.controlInstance(id, 'terminate', 2000, audit('terminate'));
  if (n % 6 === 4) {
    const end = { status: 'Complete', endTime: 3000, outcome: 'Succeeded' } as const;
    await store.commitInstance(commitOf(record, { ...end, wakeAt: n % 4 === 0 ? null : 4000 }));
  }
  if (n % 6 === 5) {
    await store.completeActivity({
      activityId: `${id}/3/0`,
      tokenHash: `token-worker ${n}`,
      result: { succeeded: n % 4 === 1, data: `"result ${n}"`, hash: `hash ${n}` },
      now: 2500,
      message: message('done'),
      audit: audit('retry'),
    });
  }
  // Skipped and deferred where the instance is not Runnable.
  const request = { name: `of ${n}`, now: 9000, claim: claimBy('late', 9500), deferMs: 100 };
  if (n % 4 !== 0) await store.claimActivity(request);
  // Of one that is removed, a mark is left.
  if (n % 5 === 2) await store.withdrawActivities([`${id}/2/0`, `${id}/3/0`]);
  if (n % 10 === 2) await removeHeld(store, id);
}

async function removeHeld(store: Store, id: string): Promise<void> {
  const current = await store.getInstance(id);
  if (current === null) throw new Error(`${id} is missing`);
  const { endTime, outcome, status } = current;
  const removal = { removeActivities: [`${id}/3/0`], keepInbox: true as const };
  await store.commitInstance(commitOf(current, { endTime, outcome, status, ...removal }));
}

/** Everything that the contract shows. Ends with changes that tell what cannot be read, so it can be asked for once. */
export async function contentsOf(
  store: Store,
  { eventIds, instanceIds }: FilledStore,
): Promise<unknown> {
  const definitions = await store.listDefinitions(null, 99);
  const scripts = await store.listStepScripts(null, 99);
  return {
    definitions,
    versions: await Promise.all(
      definitions.flatMap(({ id, version }) =>
        Array.from({ length: version }, (_, n) => store.getDefinition(id, n + 1)),
      ),
    ),
    scripts,
    scriptVersions: await Promise.all(
      scripts.flatMap(({ name, version }) =>
        Array.from({ length: version }, (_, n) => store.getStepScript(name, n + 1)),
      ),
    ),
    instances: await Promise.all(instanceIds.map((id) => store.getInstance(id))),
    inputs: await Promise.all(instanceIds.map((id) => store.getInput(id))),
    audit: await Promise.all(instanceIds.map((id) => store.listAudit(id))),
    history: await Promise.all(instanceIds.map((id) => store.readHistory(id, 0, 99))),
    list: await store.listInstances({ filter: {}, after: null, limit: 99 }),
    due: await store.findDueInstances(9000, 99),
    waitingKeys: await Promise.all(
      ['a', 'b:1'].map((definitionId) => store.findWaitingKeys(definitionId, null, 99)),
    ),
    underWay: await store.findInstancesUnderWay('dead-1', null, 99),
    subscriptions: await Promise.all(
      KEYS.map((nameKey) => store.findSubscriptions(nameKey, 99, null, 99)),
    ),
    activities: sortedById(
      await store.getActivities(instanceIds.flatMap((id) => [`${id}/2/0`, `${id}/3/0`])),
    ),
    unsettled: await store.findUnsettledActivities(99_999, 99),
    queues: await store.listActivityQueues(9000, 99),
    items: await store.listActivityItems('ship', 6000, null, 99),
    events: await Promise.all(eventIds.map((id) => store.getEvent(id))),
    eventList: await store.listEvents({ nameKey: null, before: null, limit: 99 }),
    undelivered: await store.findUndeliveredEvents(99, 99),
    bulkJobs: await Promise.all(BULK_JOBS.map((id) => store.getBulkJob(id))),
    bulkIds: await Promise.all(
      BULK_JOBS.flatMap((id) => [0, 1, 2].map((position) => store.readBulkIds(id, position))),
    ),
    runningBulkJobs: await store.findRunningBulkJobs(99),
    triggers: await Promise.all(TRIGGERED.map((id) => store.listTriggers(id, 99))),
    notifications: await store.listNotifications(99),
    resources: await Promise.all(RESOURCE_KINDS.map((kind) => store.listResources(kind, null, 99))),
    nodes: await store.listNodes(),
    statistics: await store.statistics(),
    ...(await hiddenContentsOf(store, instanceIds)),
    slots: await slotContentsOf(store),
    fair: await fairContentsOf(store),
  };
}

/** What only the outcome of a call tells: stamps, tokens, results and what was deferred. */
async function hiddenContentsOf(store: Store, instanceIds: readonly string[]): Promise<object> {
  const repeat = ({ definitionId, id }: (typeof STAMPS)[number]) =>
    store.insertDefinition(
      { id: definitionId, description: null, body: 'not stored', createdAt: 1 },
      { id, requestHash: `hash ${id}` },
    );
  const completeAgain = (id: string, n: number) =>
    store.completeActivity({
      activityId: `${id}/3/0`,
      tokenHash: `token-worker ${n}`,
      result: { succeeded: n % 4 === 1, data: `"result ${n}"`, hash: `hash ${n}` },
      now: 2600,
      message: { id: `again ${n}`, body: '' },
    });
  return {
    stamps: await Promise.all(STAMPS.map(repeat)),
    conflict: await store.insertDefinition(
      { id: 'a', description: null, body: '', createdAt: 1 },
      { id: 'stamp-a', requestHash: 'other' },
    ),
    completed: await Promise.all(instanceIds.map((id, n) => completeAgain(id, n))),
    resumed: await Promise.all(instanceIds.map((id) => store.controlInstance(id, 'resume', 9999))),
    itemsAfterwards: await store.listActivityItems('ship', 6000, null, 99),
    joinedAgain: await Promise.all(
      TEXTS.slice(0, 8).map((reference, n) => store.insertInstance(joining(n, reference))),
    ),
    insertedAgain: await store.insertInstance({
      record: instanceOf(instanceIds[0]!, { requestHash: 'request' }),
      side: NO_SIDE,
    }),
  };
}

function sortedById<Item extends { readonly id: string }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((left, right) => (left.id < right.id ? -1 : 1));
}
