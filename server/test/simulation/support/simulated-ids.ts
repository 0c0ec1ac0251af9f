/** Ids without real randomness: with them the same seed gives the same run. */
import { systemIds, type Ids } from '../../../src/base/ids.js';

export class SimulatedIds implements Ids {
  #made = 0;

  readonly newId = (now: number): string => {
    this.#made += 1;
    return `0${now}${String(this.#made).padStart(6, '0')}`;
  };

  // Nothing depends on tokens, whose secrets are hashed.
  readonly newToken = systemIds.newToken;
  readonly newSecret = systemIds.newSecret;
}
