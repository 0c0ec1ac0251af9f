/**
 * Which definitions are disabled (rule S9). An insert into another collection can't depend on it, so each process knows it
 * by leases: what a process read at most LEASE_MS ago still counts, and disabling takes that long to be answered.
 *
 * An insert that began before the answer may still happen. Whatever begins after it reads the new state.
 */
import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import { encodeText } from '../text-codec.js';
import type { DisabledDocument } from './documents.js';

const LEASE_MS = 1000;
/** Timers of different machines don't run at exactly the same speed. */
const MARGIN_MS = 50;
const KNOWN_MAX = 10_000;

interface Known {
  readonly isDisabled: boolean;
  /** When the read began. */
  readonly at: number;
}

export class DisabledDefinitions {
  readonly #collection: Pick<Collection<DisabledDocument>, 'findOne' | 'updateOne' | 'deleteOne'>;
  readonly #known = new LRUCache<string, Known>({ max: KNOWN_MAX });
  readonly #reads = new Map<string, Promise<Known>>();

  constructor(collection: Collection<DisabledDocument>) {
    this.#collection = collection;
  }

  /** True: at some time during this call, the definition was disabled; false: it wasn't. */
  async has(definitionId: string): Promise<boolean> {
    const calledAt = performance.now();
    let known = this.#known.get(definitionId);
    // Enabling isn't delayed, so a definition that was disabled is always read again.
    if (known === undefined || known.isDisabled || calledAt - known.at > LEASE_MS) {
      known = await this.#readSince(definitionId, calledAt);
    } else if (calledAt - known.at > LEASE_MS / 2) {
      // Another insert will need it. If the read fails, that one reads again.
      this.#read(definitionId).catch(() => undefined);
    }
    return known.isDisabled;
  }

  async set(definitionId: string, isDisabled: boolean): Promise<void> {
    const _id = encodeText(definitionId);
    if (!isDisabled) {
      await this.#collection.deleteOne({ _id });
      return;
    }
    await this.#collection.updateOne({ _id }, { $set: { disabled: true } }, { upsert: true });
    this.#known.delete(definitionId);
    await setTimeout(LEASE_MS + MARGIN_MS);
  }

  /** A read that began before the call counts only as long as its lease. */
  async #readSince(definitionId: string, calledAt: number): Promise<Known> {
    for (;;) {
      const known = await this.#read(definitionId);
      if (known.at >= calledAt || performance.now() - known.at <= LEASE_MS) return known;
    }
  }

  #read(definitionId: string): Promise<Known> {
    const running = this.#reads.get(definitionId);
    if (running !== undefined) return running;
    const at = performance.now();
    const read = this.#collection
      .findOne({ _id: encodeText(definitionId) })
      .then((found) => {
        const known = { isDisabled: found !== null, at };
        this.#known.set(definitionId, known);
        return known;
      })
      .finally(() => this.#reads.delete(definitionId));
    this.#reads.set(definitionId, read);
    return read;
  }
}
