/**
 * Steps whose slots would probably be refused: they wait at once, and are granted their slots when their turn comes. So a limit that is
 * reached costs no commits that are refused.
 */
import type { Clock } from '../../base/clock.js';
import { refuseSlots } from '../../engine/flow/slots.js';
import type { Session } from '../../engine/session/session.js';
import { keyIdOf, type RefusedSlots } from '../../store/records/slots.js';
import { RefusedLately } from '../../base/limits/refused-lately.js';

export class LikelyRefusals {
  readonly #keys: RefusedLately;

  constructor(clock: Clock) {
    this.#keys = new RefusedLately(clock);
  }

  /**
   * The store has refused these: they wait.
   * @returns the executions that the next commit must not take slots for
   */
  refused(session: Session, refused: readonly RefusedSlots[]): readonly string[] {
    for (const { isUnknown, on } of refused) if (isUnknown !== true) this.#keys.add(keyIdOf(on));
    return refuseSlots(session, refused);
  }

  /** Those that the next commit would take slots for wait, if they need a key of which slots were refused lately. */
  refuse(session: Session): void {
    const likely = session.changes.takenSlots.flatMap(({ execution, needs }) => {
      const on = needs.find((need) => this.#keys.has(keyIdOf(need)));
      return on === undefined ? [] : [{ execution, on: { limit: on.limit, key: on.key } }];
    });
    if (likely.length > 0) refuseSlots(session, likely);
  }
}
