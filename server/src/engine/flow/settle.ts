/**
 * Continues containers whose last path has ended, and opens items while there is room. Every entry into the engine ends
 * with this.
 */
import { nextCompensation } from '../failure/compensate.js';
import { afterStop } from '../failure/after-stop.js';
import { endStopped } from '../failure/in-flight.js';
import { primitiveOf } from '../primitives/primitives.js';
import type { Run } from './run.js';
import { refillQueue } from './waiting-items.js';

export function settle(run: Run): void {
  // A join may cause others (a container that ends inside a container): the loop also visits members added during it.
  for (const id of run.joins) {
    run.joins.delete(id);
    const container = run.instance.pointers.get(id);
    if (container === undefined || container.children > 0) continue;
    if (container.state.kind === 'compensating') nextCompensation(run, container, container.state);
    else if (container.stopping !== undefined) afterStop(run, container, container.stopping);
    else if (container.isEnding === true) endStopped(run, container);
    else if (container.state.kind === 'open') primitiveOf(run, container).joined(run, container);
  }
  refillQueue(run);
}
