/**
 * One key per name on all nodes, because the audit log identifies callers by key name.
 *
 *  AK5 Before a key is stored, its name is reserved for the key's id; afterwards, it is confirmed by a compare-and-set. Another
 *      key may take over the name only while no key has the id, and then the confirmation fails. So of any number of concurrent
 *      callers with one name, at most one gets a key, and no name is lost if a node dies in between.
 */
import { hashOf } from '../../base/ids.js';
import type { Store } from '../../store/store.js';
import type { ResourceRecord } from '../../store/records/resources.js';

const KIND = 'api-key-name';
/** Each failure means that another key has taken the name in the meantime. */
const ATTEMPTS_MAX = 5;

export interface TakenName {
  /** Called after the key was stored. False: another key has the name now. */
  confirm(): Promise<boolean>;
}

export class ApiKeyNames {
  readonly #store: Pick<Store, 'getResource' | 'saveResource'>;

  constructor(store: Pick<Store, 'getResource' | 'saveResource'>) {
    this.#store = store;
  }

  /** @param keyId the key to reserve the name for @returns null if another key has it */
  async take(name: string, keyId: string): Promise<TakenName | null> {
    const resource = hashOf(name);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const known = await this.#store.getResource(KIND, resource);
      if (known !== null && (await this.#isInUse(known))) return null;
      const taken: ResourceRecord = {
        kind: KIND,
        name: resource,
        revision: (known?.revision ?? 0) + 1,
        expiresAt: null,
        body: keyId,
      };
      if (!(await this.#store.saveResource(taken, known?.revision ?? null))) continue;
      return {
        confirm: () =>
          this.#store.saveResource({ ...taken, revision: taken.revision + 1 }, taken.revision),
      };
    }
    return null;
  }

  /** Called after the key was removed: removes the reservation, unless another key has taken the name. */
  async release(name: string, keyId: string, now: number): Promise<void> {
    const known = await this.#store.getResource(KIND, hashOf(name));
    if (known?.body !== keyId) return;
    const expiring = { ...known, revision: known.revision + 1, expiresAt: now };
    await this.#store.saveResource(expiring, known.revision);
  }

  async #isInUse({ body: keyId }: ResourceRecord): Promise<boolean> {
    return (await this.#store.getResource('api-key', keyId)) !== null;
  }
}
