/** The slots that a commit or an insert takes, waits for and frees, and the items that it offers. */
import { randomUUID } from 'node:crypto';
import type { Priority } from '../../engine/model/start-options.js';
import type { NewActivityRecord } from '../records/activities.js';
import type { SideRecords } from '../records/instances.js';
import {
  takesSlots,
  type LimitKey,
  type RefusedSlots,
  type SlotChanges,
  type SlotRequest,
} from '../records/slots.js';
import { decodeText, encodeText } from '../text-codec.js';
import { FAR_FUTURE_MS } from '../store.js';
import type { ActivityDocument } from './documents.js';
import { fairnessFieldsOf, sameFairness, type FairnessFields } from './fairness-fields.js';
import type { CommitGuard, SlotDocument, SlotWaitDocument } from './slot-documents.js';
import type { MongoContext } from './mongo-context.js';
import {
  behindIn,
  behindNow,
  judge,
  onsOf,
  takeAll,
  type RefusedAsking,
  type Taker,
} from './slot-decisions.js';
import type { Freed } from './slot-holders.js';
import { contentHashOf } from './side-records.js';
import { withSlots, type SlotFields } from './slot-fields.js';
import { readKeys, readRules, type ReplacedKey } from './slot-keys.js';
import { limitKeyOf, needDocumentOf, onOf } from './slot-names.js';
import { inWaitOrder, putWaits, type Asking, type WaitPosition } from './slot-waits.js';

const NOTHING: SlotChanges = { take: [], wait: [], begun: [], free: [] };

/** What is changed: the slots of an instance with these fields. */
export interface Changing extends FairnessFields {
  /** As stored. */
  readonly instanceId: string;
  readonly priority: Priority;
  readonly now: number;
  readonly slots?: SlotChanges | undefined;
  readonly side: SideRecords;
  /** As stored before. */
  readonly known: SlotFields;
  /** Instances that end before it is written, as stored. */
  readonly ending?: readonly string[];
  /** Null: the instance is inserted. */
  readonly guard: CommitGuard | null;
  readonly taker: Taker;
  /** Whether others stand behind the items of the instance. */
  readonly isRunnable: boolean;
}

export interface PreparedChanges {
  readonly replaced: readonly ReplacedKey[];
  readonly waits: readonly SlotWaitDocument[];
  /** Of the items, by id as stored. */
  readonly items: ReadonlyMap<string, ItemFields>;
  /** Keys for which new items wait. */
  readonly limitedBy: readonly LimitKey[];
}

export type ItemFields = Partial<ActivityDocument>;

export function hasSlotChanges(
  slots: SlotChanges | undefined,
  { activities }: SideRecords,
): boolean {
  return slots !== undefined || activities.some(needsSlots);
}

function needsSlots({ needs = [] }: NewActivityRecord): boolean {
  return needs.length > 0;
}

/** Takes the slots. If some can't be had, nothing has changed. */
export async function prepareChanges(
  context: MongoContext,
  changing: Changing,
): Promise<PreparedChanges | { readonly refused: readonly RefusedSlots[] }> {
  const { guard, instanceId, now, priority, side, slots = NOTHING, taker } = changing;
  const items = side.activities.filter(needsSlots);
  const unknown = await unknownLimits(context, items);
  if (unknown.length > 0) return { refused: unknown };
  const claimed = items.filter(takesSlots).map((item) => askingOfItem(item, instanceId));
  const askings = [...slots.take.map((request) => askingOf(request, changing)), ...claimed];
  const freed = freedBy(changing);
  const taken = await takeAll(context, askings, { freed, now, taker });
  if (!taken.isFree) return { refused: taken.refused.map(refusedSlotsOf) };
  const waits = slots.wait.map(({ execution, needs, on, since }): SlotWaitDocument => ({
    _id: randomUUID(),
    execution: encodeText(execution),
    instanceId,
    on: onOf(on),
    needs: needs.map(needDocumentOf),
    priority,
    ...sameFairness(changing),
    since,
    state: 'waiting',
    at: 0,
    guard,
  }));
  await putWaits(context, waits);
  const waiting = items.filter((item) => !takesSlots(item));
  const offered = await offerItems(context, waiting, { ...changing, freed, waits });
  const held = claimed.map((asking) => [asking.execution, heldFieldsOf(asking)] as const);
  return {
    replaced: taken.replaced,
    waits,
    items: new Map([...offered.items, ...held]),
    limitedBy: offered.limitedBy,
  };
}

function freedBy({ ending = [], slots = NOTHING }: Changing): Freed {
  return { executions: freedExecutions(slots), instances: ending };
}

function freedExecutions({ free }: SlotChanges): ReadonlySet<string> {
  return new Set(free.map(({ execution }) => encodeText(execution)));
}

async function unknownLimits(
  context: MongoContext,
  items: readonly NewActivityRecord[],
): Promise<readonly RefusedSlots[]> {
  if (items.length === 0) return [];
  const rules = await readRules(
    context,
    items.flatMap(({ needs = [] }) => needs),
  );
  return items.flatMap(({ id: execution, needs = [] }) => {
    const on = needs.find(({ limit }) => (rules.get(limit) ?? null) === null);
    if (on === undefined) return [];
    return [{ execution, on: { limit: on.limit, key: on.key }, isUnknown: true as const }];
  });
}

function askingOf({ execution: id, needs }: SlotRequest, changing: Changing): Asking {
  const { instanceId, known, now: since, priority, slots = NOTHING } = changing;
  const execution = encodeText(id);
  const isKept = !freedExecutions(slots).has(execution);
  const own = (known.slots ?? []).filter((slot) => isKept && slot.execution === execution);
  const asking = { execution, instanceId, needs: needs.map(needDocumentOf), own };
  return { ...asking, priority, ...sameFairness(changing), since };
}

function refusedSlotsOf({ answer, asking }: RefusedAsking): RefusedSlots {
  const { isUnknown, on } = answer;
  const refused = { execution: decodeText(asking.execution), on: limitKeyOf(on) };
  return isUnknown === true ? { ...refused, isUnknown } : refused;
}

function askingOfItem(
  { createdAt, fairness, id, needs = [], priority }: NewActivityRecord,
  instanceId: string,
): Asking {
  return {
    execution: encodeText(id),
    instanceId,
    needs: needs.map(needDocumentOf),
    own: [],
    priority,
    ...fairnessFieldsOf(fairness ?? null),
    since: createdAt,
  };
}

interface Offering extends Changing {
  readonly freed: Freed;
  readonly waits: readonly SlotWaitDocument[];
}

/** An item that needs slots is in its queue while they are free, and waits while they aren't. */
async function offerItems(
  context: MongoContext,
  items: readonly NewActivityRecord[],
  { freed, instanceId, isRunnable, waits }: Offering,
): Promise<Pick<PreparedChanges, 'items' | 'limitedBy'>> {
  const fields = new Map<string, ItemFields>();
  const limitedBy = new Map<string, LimitKey>();
  const fresh = await freshAmong(context, items);
  if (fresh.length === 0) return { items: fields, limitedBy: [] };
  const askings = fresh.map((item) => askingOfItem(item, instanceId));
  const now = Math.min(...askings.map(({ since }) => since));
  const states = await readKeys(context, onsOf(askings), now);
  const byAge = await behindNow(context, askings, freed);
  const behind = behindIn(context, states, { behind: byAge, freed });
  const waiting: { readonly on: string; readonly asking: WaitPosition }[] = waits.map((wait) => ({
    on: wait.on,
    asking: wait,
  }));
  for (const asking of askings) {
    const answer = await judge(context, asking, {
      states,
      freed,
      now: asking.since,
      isBehind: async (each, on) =>
        (isRunnable &&
          waiting.some((other) => other.on === on && inWaitOrder(other.asking, each) < 0)) ||
        behind(each, on),
    });
    fields.set(asking.execution, itemFieldsOf(asking, answer.isFree ? null : answer.on));
    if (answer.isFree) continue;
    waiting.push({ on: answer.on, asking });
    limitedBy.set(answer.on, limitKeyOf(answer.on));
  }
  return { items: fields, limitedBy: [...limitedBy.values()] };
}

/** The same item again keeps its position and its holder. */
async function freshAmong(
  { activities }: MongoContext,
  items: readonly NewActivityRecord[],
): Promise<readonly NewActivityRecord[]> {
  if (items.length === 0) return items;
  const found = await activities
    .find(
      { _id: { $in: items.map(({ id }) => encodeText(id)) } },
      { readPreference: 'primary', projection: { contentHash: 1 } },
    )
    .toArray();
  const hashes = new Map(found.map(({ _id, contentHash }) => [_id, contentHash]));
  return items.filter((item) => hashes.get(encodeText(item.id)) !== contentHashOf(item));
}

/** Of an item that a worker gets with the commit. */
function heldFieldsOf({ needs }: Asking): ItemFields {
  return { needs, slots: needs, slotTry: randomUUID() };
}

function itemFieldsOf({ needs }: Asking, on: string | null): ItemFields {
  const own = { needs, slotTry: randomUUID() };
  if (on === null) {
    const [first] = needs;
    return { ...own, ...(first !== undefined && { slotOn: first.on }), slotState: 'offered' };
  }
  const limited = { availableAt: FAR_FUTURE_MS, deferred: true } as const;
  return { ...own, ...limited, slotOn: on, slotState: 'waiting' };
}

/** The fields of the instance afterwards. It first frees, then takes and waits. */
export function changedFields(
  { slots = [], slotWaits = [] }: SlotFields,
  changes: SlotChanges,
  waits: readonly SlotWaitDocument[],
): SlotFields {
  const taken = changes.take.flatMap(({ execution, needs }): SlotDocument[] =>
    needs.map((need) => ({ ...needDocumentOf(need), execution: encodeText(execution) })),
  );
  const isFreed = freedExecutions(changes);
  const hasBegun = new Set(changes.begun.map(encodeText));
  const isNew = new Set([...hasBegun, ...waits.map(({ execution }) => execution)]);
  const added = waits.map(({ _id, execution, needs }) => ({ execution, id: _id, needs }));
  const left = slotWaits.filter(({ execution }) => !isFreed.has(execution));
  return {
    slots: withSlots(
      slots.filter(({ execution }) => !isFreed.has(execution)),
      taken,
    ).map((slot) => (isNew.has(slot.execution) ? begunSlot(slot) : slot)),
    slotWaits: [...left.filter(({ execution }) => !isNew.has(execution)), ...added].filter(
      ({ execution }) => !hasBegun.has(execution),
    ),
  };
}

function begunSlot({ execution, on, units }: SlotDocument): SlotDocument {
  return { execution, on, units };
}

/** The ids of waits of which nothing is left. */
export function endedWaits(before: SlotFields, after: SlotFields): readonly { _id: string }[] {
  const idsOf = ({ slots = [], slotWaits = [] }: SlotFields): string[] => [
    ...slotWaits.map(({ id }) => id),
    ...slots.flatMap(({ grant }) => grant ?? []),
  ];
  const left = new Set(idsOf(after));
  return [...new Set(idsOf(before))].filter((id) => !left.has(id)).map((_id) => ({ _id }));
}
