/**
 * Continues containers whose last path has ended, and opens items up to the limit. Every entry point of the engine ends with
 * this.
 */
import { nextCompensation } from '../failure/compensate.js';
import { afterStop } from '../failure/after-stop.js';
import { endStopped } from '../failure/in-flight.js';
import { primitiveOf } from './primitives.js';
import type { Session } from '../session/session.js';
import { refillQueue } from '../session/waiting-items.js';

export function continueContainers(session: Session): void {
  // A join may cause others (a container that ends inside a container): the loop also visits members added during it.
  for (const id of session.joins) {
    session.joins.delete(id);
    const container = session.instance.pointers.get(id);
    if (container === undefined || container.children > 0) continue;
    if (container.state.kind === 'compensating')
      nextCompensation(session, container, container.state);
    else if (container.stopping !== undefined) afterStop(session, container, container.stopping);
    else if (container.isEnding === true) endStopped(session, container);
    else if (container.state.kind === 'open')
      primitiveOf(session, container).joined(session, container);
  }
  refillQueue(session);
}
