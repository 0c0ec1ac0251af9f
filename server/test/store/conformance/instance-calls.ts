/** The calls that most cases about instances begin with. */
import type { StoreUnderTest } from '../conformance.js';
import { instanceOf, NO_SIDE } from '../records.js';

/** The owner of an instance that no node has claimed yet, as a message's answer names it. */
export const NOBODY = { owner: null, epoch: 1, rested: false };

export function callsOn(test: StoreUnderTest) {
  return {
    insert: (...args: Parameters<typeof instanceOf>) =>
      test.store.insertInstance({ record: instanceOf(...args), side: NO_SIDE }),
    get: async (id: string) => (await test.store.getInstance(id))!,
    post: async (instanceId: string, ...ids: string[]) =>
      test.store.postMessages(
        ids.map((id) => ({ instanceId, message: { id, body: `body ${id}` } })),
      ),
  };
}
