/**
 * Checks turns (I22). While two keys both wait in one line, what they get differs in proportion to their weights by at most one
 * item of each:
 *
 *   |got(a) / weight(a) − got(b) / weight(b)| <= 1 / weight(a) + 1 / weight(b)   in any period
 *
 * With equal weights, any 20 items of both contain at least 9 of each, and nothing starves: each other key gets a limited number
 * of items until it's the turn of this one.
 */
import type { Fairness } from '../../../src/engine/model/start-options.js';
import { hold } from './violation.js';

const TOLERANCE = 1e-6;

/** Where the keys take turns: a queue, and a priority. */
type Line = string;

/** By how much the first of two keys is ahead since both have been waiting, and the extremes of that. */
interface Lead {
  readonly keys: readonly [string, string];
  now: number;
  least: number;
  most: number;
}

export class TurnsCheck {
  /** Each key always has the same weight. Empty: the group without a key. */
  readonly #weights = new Map<string, number>([['', 1]]);
  /** By line, then by the two keys in order. */
  readonly #leads = new Map<Line, Map<string, Lead>>();

  keyOf(fairness: Fairness | null | undefined): string {
    if (fairness == null) return '';
    this.#weights.set(fairness.key, fairness.weight);
    return fairness.key;
  }

  /** Only while both of two keys wait are they compared: called for each line whenever something may be handed out. */
  waiting(line: Line, keys: ReadonlySet<string>): void {
    const leads = this.#leads.get(line) ?? new Map<string, Lead>();
    this.#leads.set(line, leads);
    for (const [pair, { keys: both }] of leads) {
      if (!both.every((key) => keys.has(key))) leads.delete(pair);
    }
    const sorted = [...keys].sort();
    for (const [at, first] of sorted.entries()) {
      for (const second of sorted.slice(at + 1)) {
        const pair = JSON.stringify([first, second]);
        const isNew = !leads.has(pair);
        if (isNew) leads.set(pair, { keys: [first, second], now: 0, least: 0, most: 0 });
      }
    }
  }

  /** Called after `waiting`, with the keys of what is handed out at once, in any order. */
  handOut(line: Line, given: readonly string[]): void {
    for (const lead of this.#leads.get(line)?.values() ?? []) {
      const [first, second] = lead.keys;
      const [share, other] = [1 / this.#weightOf(first), 1 / this.#weightOf(second)];
      for (const key of given) {
        if (key === first) lead.now += share;
        if (key === second) lead.now -= other;
      }
      lead.least = Math.min(lead.least, lead.now);
      lead.most = Math.max(lead.most, lead.now);
      const text = (): string =>
        `${line}: '${first}' and '${second}', ${lead.least} to ${lead.most}`;
      const isFair = lead.most - lead.least <= share + other + TOLERANCE;
      hold(isFair, 'I22 keys take turns in proportion to their weights', text);
    }
  }

  #weightOf(key: string): number {
    return this.#weights.get(key) ?? 1;
  }
}
