/**
 * How slots, waits and rates are read from the collections, and written into them. Here, slots are part of the documents of their
 * holders, which are written before.
 */
import { randomUUID } from 'node:crypto';
import {
  priorityOf,
  DEFAULT_PRIORITY,
  type Fairness,
} from '../../../engine/model/start-options.js';
import type { NeededSlot } from '../../../engine/model/slots.js';
import type { ArchivedLimitRate, ArchivedSlot, ArchivedSlotWait } from '../../archive.js';
import { decodeText, encodeText } from '../../text-codec.js';
import type { Collections } from '../collections.js';
import type { ActivityDocument, InstanceDocument } from '../documents.js';
import { fairnessFieldsOf, fairnessOf } from '../fairness-fields.js';
import type { LimitKeyDocument, NeedDocument, SlotWaitDocument } from '../slot-documents.js';
import { slotFieldsOf } from '../slot-fields.js';
import { limitKeyOf, needDocumentOf, neededSlotOf, onOf } from '../slot-names.js';

const OF_INSTANCES = { slots: { $exists: true } } as const;
const OF_ITEMS = { slots: { $exists: true }, done: false } as const;
const WAITING_ITEMS = {
  slotOn: { $exists: true },
  slots: { $exists: false },
  done: false,
} as const;

export async function countSlots({ activities, instances }: Collections): Promise<number> {
  const [own, ofItems] = await Promise.all([
    instances.countDocuments(OF_INSTANCES),
    activities.countDocuments(OF_ITEMS),
  ]);
  return own + ofItems;
}

export async function* readSlots(collections: Collections): AsyncGenerator<ArchivedSlot> {
  for await (const { _id: instanceId, slots = [] } of collections.instances.find(OF_INSTANCES)) {
    for (const slot of slots) {
      yield slotOf(slot, { execution: slot.execution, instanceId, isActivity: false });
    }
  }
  for await (const { _id, instanceId, slots = [] } of collections.activities.find(OF_ITEMS)) {
    for (const slot of slots) yield slotOf(slot, { execution: _id, instanceId, isActivity: true });
  }
}

function slotOf(
  { on, units }: NeedDocument,
  of: Pick<ArchivedSlot, 'execution' | 'instanceId' | 'isActivity'>,
): ArchivedSlot {
  const { key: limitKey, limit: limitName } = limitKeyOf(on);
  const { execution, instanceId, isActivity } = of;
  const ids = { execution: decodeText(execution), instanceId: decodeText(instanceId) };
  return { ...ids, limitName, limitKey, units, isActivity };
}

export async function writeSlots(
  { activities, instances }: Collections,
  items: readonly ArchivedSlot[],
): Promise<void> {
  for (const { execution, instanceId, isActivity, limitKey, limitName, units } of items) {
    const slot = { on: onOf({ limit: limitName, key: limitKey }), units };
    const id = encodeText(execution);
    if (isActivity) await activities.updateOne({ _id: id }, { $push: { slots: slot } });
    else {
      await changeInstance(instances, encodeText(instanceId), ({ slots = [], slotWaits = [] }) => ({
        slots: [...slots, { ...slot, execution: id }],
        slotWaits,
      }));
    }
  }
}

export async function countWaits({ activities, slotWaits }: Collections): Promise<number> {
  const items = await activities.countDocuments(WAITING_ITEMS);
  return items + (await slotWaits.estimatedDocumentCount());
}

/** Waits that their instances don't list are what a dead process has left. */
export async function* readWaits(collections: Collections): AsyncGenerator<ArchivedSlotWait> {
  for await (const wait of collections.slotWaits.find()) {
    const instance = await collections.instances.findOne(
      { _id: wait.instanceId },
      { projection: { slots: 1, slotWaits: 1 } },
    );
    const isGranted = instance?.slots?.some(({ grant }) => grant === wait._id) === true;
    const isWaiting = instance?.slotWaits?.some(({ id }) => id === wait._id) === true;
    if (isGranted || isWaiting) yield waitOf(wait, isGranted ? 'granted' : 'waiting');
  }
  for await (const item of collections.activities.find(WAITING_ITEMS)) yield waitOfItem(item);
}

function waitOf(wait: SlotWaitDocument, state: SlotWaitDocument['state']): ArchivedSlotWait {
  const { at, execution, instanceId, needs, on, priority, since } = wait;
  return {
    execution: decodeText(execution),
    ...keyOf(on),
    instanceId: decodeText(instanceId),
    activityName: null,
    priority,
    ...fairnessColumnsOf(wait),
    since,
    state,
    at,
    needs: textOf(needs),
  };
}

function waitOfItem(item: ActivityDocument): ArchivedSlotWait {
  const { _id, createdAt, instanceId, name, needs = [], priority, slotOn = '', slotState } = item;
  return {
    execution: decodeText(_id),
    ...keyOf(slotOn),
    instanceId: decodeText(instanceId),
    activityName: decodeText(name),
    priority: priority ?? DEFAULT_PRIORITY,
    ...fairnessColumnsOf(item),
    since: createdAt,
    state: slotState ?? 'offered',
    at: 0,
    needs: textOf(needs),
  };
}

function fairnessColumnsOf(
  of: Parameters<typeof fairnessOf>[0],
): Pick<ArchivedSlotWait, 'fairnessKey' | 'fairnessWeight'> {
  const fairness = fairnessOf(of);
  return { fairnessKey: fairness?.key ?? '', fairnessWeight: fairness?.weight ?? 1 };
}

function fairnessIn({ fairnessKey, fairnessWeight }: ArchivedSlotWait): Fairness | null {
  return fairnessKey === '' ? null : { key: fairnessKey, weight: fairnessWeight };
}

function keyOf(on: string): Pick<ArchivedSlotWait, 'limitName' | 'limitKey'> {
  const { key, limit } = limitKeyOf(on);
  return { limitName: limit, limitKey: key };
}

function textOf(needs: readonly NeedDocument[]): string {
  return JSON.stringify(needs.map(neededSlotOf));
}

export async function writeWaits(
  { activities, instances, slotWaits }: Collections,
  items: readonly ArchivedSlotWait[],
): Promise<void> {
  for (const item of items) {
    const on = onOf({ limit: item.limitName, key: item.limitKey });
    const execution = encodeText(item.execution);
    if (item.activityName !== null) {
      const slotState = item.state === 'waiting' ? ('waiting' as const) : ('offered' as const);
      await activities.updateOne({ _id: execution }, { $set: { slotOn: on, slotState } });
      continue;
    }
    const wait = waitDocumentOf(item, on);
    await slotWaits.insertOne(wait);
    await changeInstance(instances, wait.instanceId, (fields) => withWait(fields, wait));
  }
}

function waitDocumentOf(item: ArchivedSlotWait, on: string): SlotWaitDocument {
  // Written as such.
  const needs = (JSON.parse(item.needs) as readonly NeededSlot[]).map(needDocumentOf);
  return {
    _id: randomUUID(),
    instanceId: encodeText(item.instanceId),
    execution: encodeText(item.execution),
    needs,
    on,
    priority: priorityOf(item.priority) ?? DEFAULT_PRIORITY,
    ...fairnessFieldsOf(fairnessIn(item)),
    since: item.since,
    state: item.state === 'granted' ? 'granted' : 'waiting',
    at: item.at,
    guard: null,
  };
}

type Fields = Pick<InstanceDocument, 'slots' | 'slotWaits'>;

function withWait(
  { slots = [], slotWaits = [] }: Fields,
  { _id: id, execution, needs, state }: SlotWaitDocument,
): Fields {
  if (state === 'waiting') return { slots, slotWaits: [...slotWaits, { id, execution, needs }] };
  const granted = slots.map((slot) =>
    slot.execution === execution ? { ...slot, grant: id } : slot,
  );
  return { slots: granted, slotWaits };
}

async function changeInstance(
  instances: Collections['instances'],
  _id: string,
  change: (fields: Fields) => Fields,
): Promise<void> {
  const known = await instances.findOne({ _id }, { projection: { slots: 1, slotWaits: 1 } });
  if (known === null) return;
  const { set, unset } = slotFieldsOf(change(known));
  await instances.updateOne(
    { _id },
    {
      $set: { ...set, mayWait: true },
      ...(Object.keys(unset).length > 0 && { $unset: unset }),
    },
  );
}

export async function* readRates({ limitKeys }: Collections): AsyncGenerator<ArchivedLimitRate> {
  for await (const { _id, spentUntil } of limitKeys.find({ spentUntil: { $gt: 0 } })) {
    yield { ...keyOf(_id), spentUntil };
  }
}

export function rateDocumentOf({
  limitKey,
  limitName,
  spentUntil,
}: ArchivedLimitRate): LimitKeyDocument {
  const _id = onOf({ limit: limitName, key: limitKey });
  return { _id, token: randomUUID(), at: spentUntil, spentUntil, heldMax: null, takings: [] };
}
