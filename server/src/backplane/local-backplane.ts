import type { Backplane } from './backplane.js';

/** The backplane of a node that is alone: there is nobody to tell. */
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
