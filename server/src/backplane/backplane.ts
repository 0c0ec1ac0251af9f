/**
 * Hints between nodes: "look again now". Nothing that is sent here is needed for correctness; every hint that is lost
 * is made up for by a scan of the store within a second or two.
 */
import type { Service } from '../runtime/service.js';

export type Hint =
  /** An instance has new messages, or was created for another node. */
  | { readonly kind: 'instance'; readonly id: string }
  /** Work for an activity name became available. */
  | { readonly kind: 'activity'; readonly name: string }
  /** A definition has a new version. */
  | { readonly kind: 'definition'; readonly id: string }
  /** A custom step has a new version. */
  | { readonly kind: 'step'; readonly name: string }
  /** An instance has ended. */
  | { readonly kind: 'ended'; readonly id: string };

export interface Backplane extends Service {
  readonly kind: 'local' | 'redis';
  /** Tells every other node. Returns at once and never throws; a hint that cannot be sent is dropped and counted. */
  publish(hint: Hint): void;
  /** Called for the hints of other nodes, not for one's own. */
  subscribe(listener: (hint: Hint) => void): void;
  /** False while the connection is down. */
  readonly healthy: boolean;
}
