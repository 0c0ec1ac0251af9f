/** Explains why an instance doesn't advance: collects the facts with bounded reads that don't search data. */
import type { Instance } from '../../engine/model/instance.js';
import { executionKey, type Pointer } from '../../engine/model/pointer.js';
import { STATE_VERSION } from '../../engine/model/snapshot.js';
import { eventKey, isTaken } from '../../engine/flow/taken-events.js';
import { AppError } from '../../base/errors.js';
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import type { ActivityRecord } from '../../store/records/activities.js';
import type { AuditAction, AuditEntry } from '../../store/records/control.js';
import type { InstanceRecord, InstanceStatus } from '../../store/records/instances.js';
import { INBOX_BYTES_MAX, inboxBytes } from '../../store/records/messages.js';
import type { NodeRecord } from '../../store/records/nodes.js';
import type { LimitRule } from '../../store/records/rates.js';
import type { Store } from '../../store/store.js';
import type { Clock } from '../../base/clock.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import { ANONYMOUS } from '../model/control-types.js';
import { nameKeyOf } from '../../base/ids.js';
import { readStored } from '../instance-state/long-states.js';
import type { NodeRegistry } from '../fleet/node-registry.js';
import { pollingOf } from '../fleet/node-views.js';
import { explainInstance } from '../explain/explain-instance.js';
import type { Explanation, InstanceFacts, PointerFacts } from '../explain/explanation.js';
import { queueFacts } from './queue-holders.js';
import { visiblePosition } from './slot-positions.js';

/** Maximum number of open steps that are explained; the others are only counted. */
const REASONS_MAX = 50;
/** Maximum number of events searched on either side of a wait's effective date. */
const EVENTS_MAX = 50;
/** Maximum length of children's states per explanation, in characters: they are read as a whole for one sentence each. */
const CHILDREN_LENGTH_MAX = 8 * 1024 * 1024;
/** How far back to search for an event that was published too early. */
const EARLY_MS = 60 * 60_000;

export interface ExplainOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly catalog: DefinitionCatalog;
  readonly nodes: NodeRegistry;
  readonly limits: { get(name: string): Promise<LimitRule | null> };
}

/** Shared by an explanation and its children's explanations. */
interface ExplainContext {
  readonly now: number;
  readonly nodes: readonly NodeRecord[];
  /** Children of these definitions are explained by their own waits, and holders named; null: none are, as inside a child. */
  readonly childrenWithin: AllowedNames | null;
}

/** @param allowed the definitions whose runs the caller may see: for other children, only ids are shown */
export async function explainStoredInstance(
  record: InstanceRecord,
  options: ExplainOptions,
  allowed: AllowedNames,
): Promise<Explanation> {
  return explain(record, options, {
    now: options.clock.now(),
    nodes: await options.store.listNodes(),
    childrenWithin: allowed,
  });
}

async function explain(
  record: InstanceRecord,
  options: ExplainOptions,
  context: ExplainContext,
): Promise<Explanation> {
  const isNewer = record.schemaVersion > STATE_VERSION;
  const instance = isNewer ? null : await readInstance(record);
  const all = instance === null || record.endTime !== null ? [] : leavesOf(instance);
  const leaves = all.slice(0, REASONS_MAX);
  // The newest first.
  const audit = (await options.store.listAudit(record.id)) ?? [];
  return explainInstance({
    now: context.now,
    workflowId: record.id,
    status: record.status,
    outcome: record.outcome,
    startTime: record.startTime,
    endTime: record.endTime,
    lastChangeAt: record.lastChangeAt,
    inbox: inboxFacts(record),
    instance,
    definition: await findDefinition(record, options),
    isNewer,
    owner: ownerOf(record, options, context),
    actor: actorOf(record, audit),
    lastRepair: audit.find(({ action }) => REPAIRS.has(action)) ?? null,
    leaves,
    moreLeaves: all.length - leaves.length,
    of: instance === null ? new Map() : await factsOf(instance, leaves, options, context),
  });
}

function inboxFacts({ inbox }: InstanceRecord): InstanceFacts['inbox'] {
  const bytes = inboxBytes(inbox);
  return { messages: inbox.length, bytes, isFull: bytes >= INBOX_BYTES_MAX };
}

async function readInstance(record: InstanceRecord): Promise<Instance | null> {
  try {
    return await readStored(record);
  } catch {
    return null;
  }
}

/** Open pointers with nothing running inside them, failed ones first. */
function leavesOf({ pointers }: Instance): readonly Pointer[] {
  return [...pointers.values()]
    .filter(({ state }) => state.kind !== 'open' && state.kind !== 'compensating')
    .sort((a, b) => Number(b.error !== null) - Number(a.error !== null) || a.id - b.id);
}

async function findDefinition(
  { definitionId, version }: InstanceRecord,
  { catalog }: ExplainOptions,
): Promise<InstanceFacts['definition']> {
  // An unreadable instance is a result to explain, not an error of the request.
  return catalog.find(definitionId, version).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'internal') return null;
    throw error;
  });
}

const CAUSE_OF: Partial<Record<InstanceStatus, AuditAction>> = {
  Suspended: 'suspend',
  Terminated: 'terminate',
};

/** The actions that change a status. */
const CONTROL_ACTIONS: ReadonlySet<AuditAction> = new Set(['suspend', 'resume', 'terminate']);

const REPAIRS: ReadonlySet<AuditAction> = new Set(['modify', 'rerun', 'restart']);

/** The actor who caused the current status, unless a failure did. */
function actorOf(
  { endTime, status }: InstanceRecord,
  audit: readonly AuditEntry[],
): InstanceFacts['actor'] {
  const cause = CAUSE_OF[status];
  if (cause === undefined) return null;
  const at = audit.findIndex(({ action }) => CONTROL_ACTIONS.has(action));
  const last = audit[at];
  if (last?.action !== cause) return null;
  // A later repair reopened it, and it ended again.
  const reopens = ({ action, time }: AuditEntry): boolean =>
    endTime !== null && time <= endTime && (action === 'modify' || action === 'rerun');
  if (audit.slice(0, at).some(reopens)) return null;
  return { name: nameOf(last.actor), time: last.time, detail: last.detail };
}

function nameOf(actor: string): string {
  return actor === ANONYMOUS ? 'an operator' : actor;
}

function ownerOf(
  { owner }: InstanceRecord,
  { nodes }: ExplainOptions,
  context: ExplainContext,
): InstanceFacts['owner'] {
  if (owner === null) return null;
  const record = context.nodes.find(({ id }) => id === owner);
  const isAlive = owner === nodes.id || (record !== undefined && nodes.looksAlive(record));
  return { id: owner, isAlive };
}

async function factsOf(
  instance: Instance,
  leaves: readonly Pointer[],
  options: ExplainOptions,
  context: ExplainContext,
): Promise<ReadonlyMap<number, PointerFacts>> {
  const ids = leaves
    .filter(({ state }) => state.kind === 'activity')
    .map((pointer) => executionKey(instance.id, pointer));
  const found = ids.length === 0 ? [] : await options.store.getActivities(ids);
  const activities = new Map(found.map((activity) => [activity.id, activity]));
  const children = await factsOfChildren(leaves, options, context);
  const facts = await Promise.all(
    leaves.map(async (pointer): Promise<[number, PointerFacts | null]> => {
      const { state } = pointer;
      if (state.kind === 'event') return [pointer.id, await eventFacts(instance, state, options)];
      if (state.kind === 'queued' && context.childrenWithin !== null)
        return [pointer.id, await factsOfQueue(instance, state, options)];
      const limit = await factsOfLimit(pointer, { options, context });
      if (limit !== null) return [pointer.id, limit];
      if (state.kind === 'child') return [pointer.id, children.get(pointer.id) ?? null];
      const activity = activities.get(executionKey(instance.id, pointer)) ?? null;
      return [pointer.id, activityFacts(state, activity, { options, context })];
    }),
  );
  return new Map(facts.filter((fact): fact is [number, PointerFacts] => fact[1] !== null));
}

/** Null: it doesn't wait for a slot. Inside a child, nothing is looked up. */
async function factsOfLimit(
  pointer: Pointer,
  { context, options }: { readonly options: ExplainOptions; readonly context: ExplainContext },
): Promise<PointerFacts | null> {
  const { slots, state } = pointer;
  const { childrenWithin: allowed, now } = context;
  if (slots === undefined || allowed === null) return null;
  const position = await visiblePosition(pointer, { store: options.store, now, allowed });
  if (position === null && state.kind !== 'limited') return null;
  const on = position?.on ?? slots.needs[0];
  return { kind: 'limit', position, rule: await options.limits.get(on.limit) };
}

async function factsOfQueue(
  instance: Instance,
  state: Extract<Pointer['state'], { kind: 'queued' }>,
  { catalog, store }: ExplainOptions,
): Promise<PointerFacts> {
  const { concurrencyKey, definitionId } = instance;
  const limit = concurrencyKey === null ? null : await catalog.placesOf(definitionId);
  return queueFacts(instance, state, { limit, store });
}

function activityFacts(
  state: Pointer['state'],
  record: ActivityRecord | null,
  { context, options }: { readonly context: ExplainContext; readonly options: ExplainOptions },
): PointerFacts | null {
  if (state.kind !== 'activity') return null;
  const polling = pollingOf(state.name, context.nodes, options.nodes);
  return { kind: 'activity', record, polling };
}

async function eventFacts(
  instance: Instance,
  { effectiveAt, key, name }: Extract<Pointer['state'], { kind: 'event' }>,
  { store }: ExplainOptions,
): Promise<PointerFacts> {
  const nameKey = nameKeyOf(name, key);
  const [early, late] = await Promise.all([
    store.findEvents(nameKey, { publishedAt: effectiveAt - EARLY_MS, id: '' }, EVENTS_MAX),
    store.findEvents(nameKey, { publishedAt: effectiveAt, id: '' }, EVENTS_MAX),
  ]);
  const before = early.filter(({ publishedAt }) => publishedAt < effectiveAt).at(-1);
  const since = late.find((event) => !isTaken(instance, eventKey(name, key), event));
  return {
    kind: 'event',
    before: before?.publishedAt ?? null,
    since: since?.publishedAt ?? null,
  };
}

/** One after another, and only some if they are large; for the rest, the parent's record is used. */
async function factsOfChildren(
  leaves: readonly Pointer[],
  options: ExplainOptions,
  context: ExplainContext,
): Promise<ReadonlyMap<number, PointerFacts>> {
  const facts = new Map<number, PointerFacts>();
  const { childrenWithin } = context;
  if (childrenWithin === null) return facts;
  let left = CHILDREN_LENGTH_MAX;
  for (const { id, state } of leaves) {
    if (state.kind !== 'child') continue;
    const record = await options.store.getInstance(state.workflowId);
    left -= record?.state.length ?? 0;
    if (left < 0) break;
    if (record !== null && !allowsName(childrenWithin, record.definitionId)) continue;
    const child =
      record === null ? null : await explain(record, options, { ...context, childrenWithin: null });
    facts.set(id, { kind: 'child', child });
  }
  return facts;
}
