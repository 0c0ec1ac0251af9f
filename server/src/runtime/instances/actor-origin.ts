/** Where an instance that is brought into memory comes from. */
import type { InstanceStatus } from '../../store/records/instances.js';
import type { Insert } from './first-insertion.js';

/** What the store holds, as far as the actor knows. */
export interface Stored {
  epoch: number;
  inSeq: number;
  revision: number;
  status: InstanceStatus;
}

export interface ActorOrigin {
  readonly stored: Stored;
  /** Of one that was read from the store. */
  readonly state?: string;
  readonly crashes?: number;
  /** For a new instance; left out for one that was read from the store. */
  readonly insert?: Insert;
}
