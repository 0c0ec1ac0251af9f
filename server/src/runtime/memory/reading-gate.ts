/** Limits concurrent reads of whole instances and events for display, by the memory that they take. */
import { AppError } from '../../base/errors.js';
import { LoadGate } from './load-gate.js';

/** Maximum number of waiting callers; more are told to try again later. */
const WAITING_MAX = 2000;

export class ReadingGate {
  readonly #gate: LoadGate;
  #waiting = 0;

  constructor(bytesMax: number, readsMax: number) {
    this.#gate = new LoadGate({ countMax: readsMax, lengthMax: bytesMax });
  }

  /** @throws AppError `overloaded` */
  async read<Found, View>(
    find: () => Promise<Found>,
    costOf: (found: Found) => number,
    view: (found: Found) => View | Promise<View>,
  ): Promise<View> {
    if (this.#waiting >= WAITING_MAX) {
      throw new AppError('overloaded', 'Too many calls are waiting to read runs', {
        retryAfterSeconds: 1,
      });
    }
    this.#waiting += 1;
    const permit = await this.#gate.enter();
    this.#waiting -= 1;
    try {
      const found = await find();
      permit.loaded(costOf(found));
      return await view(found);
    } finally {
      permit.end();
    }
  }
}
