/**
 * What holds for each booking, whenever a process was killed:
 *
 * UN1 a refused run ends with the outcome Compensated, and its saga's own compensation comes last;
 * UN2 whatever has begun outside is undone, by one compensation, whose call is repeated only if a node was killed;
 * UN3 an effect ends before it is undone, unless its outcome is Unknown, because a process was killed meanwhile, or was so
 *     slow that its lease may have ended;
 * UN4 what ended last is undone first;
 * UN5 each compensation names the step that it undoes, and each step that is undone is undone once;
 * UN6 while `explain` names what is waited for, nothing is undone yet, and each step that it names is undone later.
 */
import { readHistory } from '../checker.js';
import type { PersistentClient } from '../persistent-client.js';
import type { Page, StepRow } from '../wire.js';
import { ACTIONS, type BookingRow } from './booking.js';
import type { EndedBooking } from './bookings.js';
import type { Effect, OutsideServices, RunLedger, Undo } from './outside-services.js';

export interface Kill {
  readonly of: 'node' | 'worker';
  readonly from: number;
  /** From then on, nothing arrives that the process has sent. */
  readonly to: number;
}

export interface CheckOptions {
  readonly client: PersistentClient;
  readonly services: OutsideServices;
  readonly kills: readonly Kill[];
  /** The leases of work items and of nodes: after that, a process that is very slow counts as dead. */
  readonly leasesMs: { readonly worker: number; readonly node: number };
}

/** Returns what does not hold for a booking. */
export async function checkUndoing(
  booking: EndedBooking,
  options: CheckOptions,
): Promise<readonly string[]> {
  const rows = (await readHistory(
    booking.workflowId,
    async (path) => (await options.client.call('GET', path)).body as Page<StepRow>,
  )) as readonly BookingRow[];
  const check = new UndoingCheck(booking, rows, options);
  check.end();
  check.ledger();
  check.steps();
  check.samples();
  return check.violations;
}

class UndoingCheck {
  readonly violations: string[] = [];
  readonly #booking: EndedBooking;
  readonly #rows: readonly BookingRow[];
  readonly #options: CheckOptions;
  readonly #known: RunLedger;
  readonly #kills: readonly Kill[];

  constructor(booking: EndedBooking, rows: readonly BookingRow[], options: CheckOptions) {
    this.#booking = booking;
    this.#rows = rows;
    this.#options = options;
    this.#kills = options.kills;
    this.#known = options.services.of(booking.name);
  }

  /** UN1 */
  end(): void {
    const { instance, isRefused } = this.#booking;
    const expected = isRefused ? 'Compensated' : 'Terminated';
    if (instance.outcome !== expected) this.#violate('UN1', `ended as ${instance.outcome}`);
    // The saga of a run that is terminated may have ended before.
    if (!isRefused) return;
    const [settled, ...again] = this.#known.settled;
    if (settled === undefined) this.#violate('UN1', 'the saga itself was not compensated');
    else {
      this.#checkRepeats('settle', [settled, ...again]);
      for (const [what, undos] of this.#known.undos) {
        if (undos.some(({ at }) => at > settled.at)) this.#violate('UN1', `settled before ${what}`);
      }
    }
  }

  /** UN2, UN3 */
  ledger(): void {
    const { effects, undos } = this.#known;
    for (const [what, calls] of effects) {
      const undo = undos.get(what)?.[0];
      if (undo === undefined) this.#violate('UN2', `${what} was not undone`);
      else for (const call of calls) this.#checkWaited(what, call, undo);
    }
    for (const [what, calls] of undos) {
      this.#checkRepeats(what, calls);
      this.#checkOutcome(what, effects.get(what) ?? [], calls);
    }
  }

  /** UN4, UN5 */
  steps(): void {
    const byId = new Map(this.#rows.map((row) => [row.executionId, row]));
    const undone = this.#rows.filter(({ stepId }) => undoneBy(stepId) !== undefined);
    const order: BookingRow[] = [];
    for (const { compensates, executionId, item, stepId } of undone) {
      const target = byId.get(compensates ?? -1);
      if (target !== undefined && target.stepId === undoneBy(stepId) && target.item === item) {
        order.push(target);
      } else this.#violate('UN5', `${stepId} ${executionId} of ${String(item)}: ${compensates}`);
    }
    const named = order.map(({ item, stepId }) => `${String(item)}/${stepId}`).toSorted();
    const called = [...this.#known.undos.keys()].toSorted();
    if (String(named) !== String(called))
      this.#violate('UN5', `${named.join()} in steps, ${called.join()} called`);
    const ends = order.map(({ endTime }) => Date.parse(endTime ?? ''));
    const isReverse = ends.every((end, at) => at === 0 || end <= (ends[at - 1] ?? Infinity));
    if (!isReverse) this.#violate('UN4', JSON.stringify(order));
  }

  /** UN6 */
  samples(): void {
    const { undos } = this.#known;
    const all = [...undos.values()].flat();
    for (const { askedAt, inFlight } of this.#booking.samples) {
      if (all.some(({ at }) => at < askedAt)) this.#violate('UN6', `waits although it undoes`);
      for (const action of ACTIONS) {
        const count = inFlight.filter((stepId) => stepId === action).length;
        const later = [...undos.keys()].filter((what) => what.endsWith(`/${action}`)).length;
        if (count > later) this.#violate('UN6', `${count} ${action} in flight, ${later} undone`);
      }
    }
  }

  #checkWaited(what: string, { beganAt, endedAt }: Effect, { at, outcome }: Undo): void {
    if (endedAt !== null && endedAt <= at) return;
    if (outcome === 'Unknown' && this.#mayBeUnknown(what, beganAt, at)) return;
    this.#violate('UN3', `${what} (${outcome}) was undone at ${at}, before its end at ${endedAt}`);
  }

  /** An outcome is known unless something was killed since the step began. */
  #checkOutcome(what: string, effects: readonly Effect[], [undo]: readonly Undo[]): void {
    if (undo === undefined) return;
    const { at, outcome } = undo;
    if (outcome === 'Completed' && effects.length === 0) {
      this.#violate('UN3', `${what} is Completed, but nobody called`);
    }
    const isKnown = outcome === 'Completed' || outcome === 'Failed';
    if (!isKnown && !this.#mayBeUnknown(what, this.#booking.startedAt, at)) {
      this.#violate('UN3', `${what} is ${outcome}, but nothing was killed`);
    }
  }

  #checkRepeats(what: string, calls: readonly Undo[]): void {
    const keys = new Set(calls.map(({ key }) => key));
    if (keys.size > 1) this.#violate('UN2', `${what} was undone by ${[...keys].join()}`);
    for (const [index, { at }] of calls.slice(1).entries()) {
      if (!this.#wasKilled(calls[index]?.at ?? Infinity, at, 'node')) {
        this.#violate('UN2', `${what} was undone again at ${at}, but no node was killed`);
      }
    }
  }

  #mayBeUnknown(what: string, since: number, until: number): boolean {
    const { node, worker } = this.#options.leasesMs;
    const leaseMs = what.endsWith('/book') ? worker : node;
    return until - this.#booking.startedAt >= leaseMs || this.#wasKilled(since, until);
  }

  #wasKilled(since: number, until: number, of?: Kill['of']): boolean {
    return this.#kills.some(
      (kill) => kill.from <= until && kill.to >= since && (of ?? kill.of) === kill.of,
    );
  }

  #violate(rule: string, what: string): void {
    this.violations.push(`${rule} ${this.#booking.name} (${this.#booking.workflowId}): ${what}`);
  }
}

/** The step that a compensation undoes. */
function undoneBy(stepId: string): string | undefined {
  return ACTIONS.find((action) => stepId === `un${action}`);
}
