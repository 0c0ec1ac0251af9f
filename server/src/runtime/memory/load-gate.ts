/**
 * Limits how many instances are read from the store and set to work at the same time, by number and by length.
 *
 * The length of a state is known only after it was read. So each load first counts like one of the longest recent ones, and
 * is corrected after the read. One load may always continue, however long its state is.
 */
import { AdmissionQueue } from './admission-queue.js';

export interface LoadPermit {
  /** The state has been read. */
  loaded(length: number): void;
  /** The first work is done, or there was nothing to load. Idempotent. */
  end(): void;
}

export interface LoadLimits {
  readonly countMax: number;
  /** Maximum length of all states together, in characters. */
  readonly lengthMax: number;
}

/** The decay of the estimated length with each load that is shorter than the estimate. */
const FORGET = 0.9;
/** Until the first state was read, each load counts as this share of the limit. */
const UNKNOWN_SHARE = 1 / 8;

export class LoadGate {
  readonly #limits: LoadLimits;
  readonly #queue = new AdmissionQueue({
    hasRoom: () => this.#hasRoom(),
    admit: () => this.#admit(),
  });
  #count = 0;
  #length = 0;
  #expected: number;

  constructor(limits: LoadLimits) {
    this.#limits = limits;
    this.#expected = limits.lengthMax * UNKNOWN_SHARE;
  }

  get underWay(): number {
    return this.#count;
  }

  async enter(): Promise<LoadPermit> {
    await this.#queue.enter();
    return this.#permit();
  }

  #permit(): LoadPermit {
    let length = this.#expected;
    let isOver = false;
    return {
      loaded: (actual) => {
        if (isOver) return;
        this.#length += actual - length;
        length = actual;
        this.#expected = Math.max(actual, Math.floor(this.#expected * FORGET));
      },
      end: () => {
        if (isOver) return;
        isOver = true;
        this.#count -= 1;
        this.#length -= length;
        this.#queue.admitWaiting();
      },
    };
  }

  #admit(): void {
    this.#count += 1;
    this.#length += this.#expected;
  }

  #hasRoom(): boolean {
    if (this.#count === 0) return true;
    const { countMax, lengthMax } = this.#limits;
    return this.#count < countMax && this.#length + this.#expected <= lengthMax;
  }
}
