/**
 * The outside services of `booking.ts`, with a ledger: when each effect began and ended, and when it was undone. A call has
 * its effect some time after it arrived, even if its caller is dead by then.
 */
import { setTimeout } from 'node:timers/promises';
import { answerOk, type Ledger, type LedgerCall } from '../../../../server/test/support/ledger.js';
import type { Random } from '../random.js';
import type { Outcome } from './booking.js';

const EFFECT_MS: Range = [50, 700];
const REFUSAL_MS: Range = [150, 500];
const UNDO_MS: Range = [20, 120];

type Range = readonly [from: number, to: number];

/** A call that has an effect. */
export interface Effect {
  readonly beganAt: number;
  /** When the effect happened; null: not yet. */
  endedAt: number | null;
}

export interface Undo {
  readonly at: number;
  readonly key: string;
  readonly outcome: Outcome;
}

/** What happens at the services, in the order of a run. */
export type Phase = 'effect' | 'refusal' | 'undo' | 'settled';

/** What the services know of a run. */
export interface RunLedger {
  /** By item and action, such as `a/book`. */
  readonly effects: Map<string, Effect[]>;
  readonly undos: Map<string, Undo[]>;
  /** The calls of the saga's own compensation. */
  readonly settled: Undo[];
}

export class OutsideServices {
  readonly #ledger: Ledger;
  readonly #random: Random;
  readonly #runs = new Map<string, RunLedger>();
  readonly #waiting: { readonly phase: Phase; readonly resolve: () => void }[] = [];

  constructor(ledger: Ledger, random: Random) {
    this.#ledger = ledger;
    this.#random = random;
    ledger.respond = (call, response) => {
      void this.#serve(call).then((status) => {
        response.statusCode = status;
        answerOk(call, response);
      });
    };
  }

  get url(): string {
    return this.#ledger.url;
  }

  of(run: string): RunLedger {
    let found = this.#runs.get(run);
    if (found === undefined) {
      found = { effects: new Map(), undos: new Map(), settled: [] };
      this.#runs.set(run, found);
    }
    return found;
  }

  /** Resolves at the next call of this phase. */
  next(phase: Phase): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ phase, resolve }));
  }

  async #serve(call: LedgerCall): Promise<number> {
    const { pathname, searchParams } = new URL(call.path, this.#ledger.url);
    const [, service = '', run = '', item, action] = pathname.split('/');
    const known = this.of(run);
    const what = `${item}/${action}`;
    const undo = (): Undo => {
      const outcome = searchParams.get('outcome') as Outcome;
      return { at: call.at, key: call.key, outcome };
    };
    switch (service) {
      case 'do': {
        const effect: Effect = { beganAt: call.at, endedAt: null };
        append(known.effects, what, effect);
        this.#announce('effect');
        await this.#takes(EFFECT_MS);
        effect.endedAt = Date.now();
        return 200;
      }
      case 'refuse':
        await this.#takes(REFUSAL_MS);
        this.#announce('refusal');
        return 422;
      case 'undo':
        append(known.undos, what, undo());
        this.#announce('undo');
        await this.#takes(UNDO_MS);
        return 200;
      case 'settle':
        known.settled.push(undo());
        await this.#takes(UNDO_MS);
        this.#announce('settled');
        return 200;
      default:
        return 404;
    }
  }

  #takes([from, to]: Range): Promise<void> {
    return setTimeout(from + this.#random() * (to - from));
  }

  #announce(phase: Phase): void {
    for (const waiting of this.#waiting.filter((each) => each.phase === phase)) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve();
    }
  }
}

function append<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const values = map.get(key) ?? [];
  map.set(key, values);
  values.push(value);
}
