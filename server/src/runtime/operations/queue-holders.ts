/**
 * The instances that a queued one waits for: those with its reference that were open before it, or those that hold the places of its
 * key. Bounded reads, for display.
 */
import type { Instance } from '../../engine/model/instance.js';
import type { Pointer } from '../../engine/model/pointer.js';
import { HOLDERS_MAX } from '../../store/records/places.js';
import {
  inQueueOrder,
  positionOf,
  type InstanceStatus,
  type InstanceSummary,
  type QueuePosition,
} from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { PointerFacts } from '../explain/explanation.js';

/** Maximum number of instances with each status that are counted. */
const COUNTED_MAX = 100;

type Lists = Pick<Store, 'countPlaces' | 'findPredecessor' | 'listInstances'>;
type QueueFacts = Extract<PointerFacts, { kind: 'queue' }>;
type Waiting = Pick<Instance, 'concurrencyKey' | 'definitionId' | 'id' | 'parent' | 'reference'>;

/** @param limit how many instances of the definition run at a time; null: any number */
export async function queueFacts(
  instance: Waiting,
  state: Extract<Pointer['state'], { kind: 'queued' }>,
  { limit, store }: { readonly limit: number | null; readonly store: Lists },
): Promise<QueueFacts> {
  if (state.reference === true) {
    const facts = await referenceFacts(instance, state, store);
    if (instance.concurrencyKey === null || facts.count > 0 || !facts.isExact) return facts;
  }
  return placeFacts(instance, { limit, store });
}

async function placeFacts(
  { concurrencyKey, definitionId, id, parent }: Waiting,
  { limit, store }: { readonly limit: number | null; readonly store: Lists },
): Promise<QueueFacts> {
  const key = concurrencyKey ?? '';
  const { ahead, held, holders } = await store.countPlaces({ definitionId, key }, id);
  const above = [parent?.workflowId, parent?.rootId];
  const ancestor = holders.find((holder) => above.includes(holder)) ?? null;
  const places = { key, held, limit, ahead, ancestor };
  return { kind: 'queue', holders, count: held, isExact: true, places };
}

async function referenceFacts(
  { definitionId, id, reference }: Waiting,
  { at }: Extract<Pointer['state'], { kind: 'queued' }>,
  store: Lists,
): Promise<QueueFacts> {
  const own = { definitionId, reference: reference ?? '', at, id };
  const [runnable, suspended] = await Promise.all([
    openBefore(own, 'Runnable', store),
    openBefore(own, 'Suspended', store),
  ]);
  const before = [...runnable.items, ...suspended.items]
    .map((item) => ({ ...own, ...positionOf(item) }))
    // One that starts later, and counts from then on, may be behind.
    .filter((other) => inQueueOrder(other, own) < 0)
    .sort(inQueueOrder);
  const isWhole = runnable.isWhole && suspended.isWhole;
  // The lists may have stopped among ended instances.
  const isExact = isWhole || (await store.findPredecessor(before[0] ?? own)) === null;
  const holders = before.slice(0, HOLDERS_MAX).map((other) => other.id);
  return { kind: 'queue', holders, count: before.length, isExact };
}

/** Those that started before this position: all that count before it are among them. */
async function openBefore(
  { at, definitionId, id, reference }: QueuePosition,
  status: InstanceStatus,
  store: Lists,
): Promise<{ readonly items: readonly InstanceSummary[]; readonly isWhole: boolean }> {
  const { items, searchedTo } = await store.listInstances({
    filter: { definitionId, reference, status },
    after: { time: at, id },
    limit: COUNTED_MAX,
  });
  return { items, isWhole: searchedTo === null && items.length < COUNTED_MAX };
}
