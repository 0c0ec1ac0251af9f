/** The store with a watch over the slots that executions take: see slot-watch.ts. */
import type { SlotGrants } from '../../../src/store/records/slots.js';
import type { Store } from '../../../src/store/store.js';
import type { SlotWatch } from './slot-watch.js';
import { Violation } from './violation.js';

/** A world in which steps may need slots. */
export interface SlotWorld {
  readonly hasSlots: boolean;
  readonly slots: SlotWatch;
  violated(violation: Violation): void;
}

export function monitorSlots(base: Store, world: SlotWorld): Store {
  const { slots } = world;
  if (!world.hasSlots) return base;
  const violated = (violation: Violation): void => world.violated(violation);
  /** @param at the time of the caller, which decides whether a lease has ended */
  async function watched<Answer>(
    what: string,
    at: number,
    operation: () => Promise<Answer>,
    grants: (answer: Answer) => SlotGrants | null = () => null,
  ): Promise<Answer> {
    if (!slots.isActive) return operation();
    const before = slots.moment(base);
    const answer = operation();
    const after = slots.moment(base);
    try {
      const seen = await slots.see(before, at);
      const granted = grants(await answer);
      if (granted !== null) slots.grants(granted, seen);
      slots.compare(what, { before: seen, after: await slots.see(after, at), now: at });
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      violated(error);
    }
    return answer;
  }
  return {
    ...base,
    saveResource: async (resource, expected) => {
      const isSaved = await base.saveResource(resource, expected);
      if (isSaved && resource.kind === 'limit') slots.changed(resource);
      return isSaved;
    },
    insertInstance: (insert) => {
      slots.expects(insert.record.id, insert.record.definitionId);
      slots.offers(insert.side.activities);
      const { lastChangeAt } = insert.record;
      return watched('insert', lastChangeAt, () => base.insertInstance(insert));
    },
    commitInstance: (commit) => {
      const operation = () => base.commitInstance(commit);
      if (!slots.watches(commit.id)) return operation();
      slots.offers(commit.side.activities);
      return watched('commit', commit.lastChangeAt, operation);
    },
    claimActivity: (request) => watched('claim', request.now, () => base.claimActivity(request)),
    extendActivity: (id, tokenHash, leaseExpiresAt, at) =>
      watched('extension', at, () => base.extendActivity(id, tokenHash, leaseExpiresAt, at)),
    keepClaims: (claims, at) => watched('keeping', at, () => base.keepClaims(claims, at)),
    grantSlots: (request) =>
      watched(
        'grant',
        request.now,
        () => base.grantSlots(request),
        (answer) => answer,
      ),
  };
}
