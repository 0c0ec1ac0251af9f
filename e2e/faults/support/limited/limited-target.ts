/**
 * The target of limited steps: which of their calls are in progress at a time. Paths are `/<limit>/<key>/<name of the run>`.
 *
 * A slot belongs to an execution, so calls with the same idempotency key count once. What a killed process has sent may be read
 * late, when its execution has ended: a call that was cut off counts only if it's the first of its execution.
 */
import type { ServerResponse } from 'node:http';
import { answerOk, type Ledger, type LedgerCall } from '../../../../server/test/support/ledger.js';

const CALL_MS = 100;

interface TargetCall extends LedgerCall {
  /** Positions among all beginnings and ends. */
  readonly beginsAt: number;
  endsAt: number | null;
  isCut: boolean;
  readonly isRepeated: boolean;
}

export class LimitedTarget {
  readonly #calls: TargetCall[] = [];
  readonly #held: (() => void)[] = [];
  #moments = 0;
  #isHolding = false;

  constructor(ledger: Ledger) {
    ledger.respond = (call, response) => this.#serve(call, response);
  }

  /** From now on, calls wait for `release`. */
  hold(): void {
    this.#isHolding = true;
  }

  /** Answers so many calls that wait, the oldest first. */
  release(count = Infinity): void {
    for (const answer of this.#held.splice(0, count)) answer();
  }

  /** Executions whose calls haven't been answered. */
  inProgress(group: string): number {
    const open = this.#of(group).filter(({ endsAt }) => endsAt === null);
    return new Set(open.map(({ key }) => key)).size;
  }

  /** The most executions that were in progress at a time. @param since a position: earlier moments don't count */
  most(group: string, since = 0): number {
    const counted = this.#of(group).filter(({ isCut, isRepeated }) => !isCut || !isRepeated);
    const changes = counted.flatMap(({ beginsAt, endsAt, key }) => [
      { at: beginsAt, key, by: 1 },
      ...(endsAt === null ? [] : [{ at: endsAt, key, by: -1 }]),
    ]);
    const open = new Map<string, number>();
    let most = 0;
    for (const { at, by, key } of changes.sort((one, other) => one.at - other.at)) {
      const calls = (open.get(key) ?? 0) + by;
      if (calls === 0) open.delete(key);
      else open.set(key, calls);
      if (by > 0 && at >= since) most = Math.max(most, open.size);
    }
    return most;
  }

  /** The position of the next beginning or end. */
  get moment(): number {
    return this.#moments;
  }

  /** All that were called, as `/<limit>/<key>`. */
  get groups(): readonly string[] {
    return [...new Set(this.#calls.map(groupOf))].sort();
  }

  /** When the first call of each execution arrived, in order. */
  arrivals(group: string): readonly number[] {
    return this.#of(group)
      .filter(({ isRepeated }) => !isRepeated)
      .map(({ at }) => at);
  }

  #of(group: string): readonly TargetCall[] {
    return this.#calls.filter((call) => groupOf(call) === group);
  }

  #serve(call: LedgerCall, response: ServerResponse): void {
    const isRepeated = this.#calls.some(({ key }) => key === call.key);
    const beginsAt = this.#moments++;
    const noted: TargetCall = { ...call, beginsAt, endsAt: null, isCut: false, isRepeated };
    this.#calls.push(noted);
    response.on('close', () => {
      if (noted.endsAt !== null) return;
      noted.endsAt = this.#moments++;
      noted.isCut = true;
    });
    const answer = (): void => {
      // It ends before its caller can know.
      noted.endsAt ??= this.#moments++;
      answerOk(call, response);
    };
    if (this.#isHolding) this.#held.push(answer);
    else setTimeout(answer, CALL_MS);
  }
}

function groupOf({ path }: LedgerCall): string {
  return path.split('/').slice(0, 3).join('/');
}
