import type { Backplane } from './backplane.js';

/** The backplane of a single node: there are no other nodes to notify. */
export function createLocalBackplane(): Backplane {
  return {
    kind: 'local',
    healthy: true,
    publish: () => undefined,
    subscribe: () => undefined,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}
