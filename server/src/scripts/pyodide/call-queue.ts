/**
 * Calls that wait for an interpreter, in two lanes, so that a heap of scripts does not hold up the expressions of
 * everybody else, nor the other way round. Within a lane: first come, first served. Bounded.
 */

/** `scripts` is also for expressions that took too long before. */
export type Lane = 'expressions' | 'scripts';

/** So many calls of the one lane may pass a waiting call of the other. */
const MAX_PASSED: Readonly<Record<Lane, number>> = { expressions: 1, scripts: 16 };

export class CallQueue<Call> {
  private readonly lanes: Readonly<Record<Lane, Call[]>> = { expressions: [], scripts: [] };
  /** How many of the other lane went first while this one waited. */
  private readonly passed: Record<Lane, number> = { expressions: 0, scripts: 0 };

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.lanes.expressions.length + this.lanes.scripts.length;
  }

  /** @returns false when the queue is full */
  push(lane: Lane, call: Call): boolean {
    if (this.size >= this.limit) return false;
    this.lanes[lane].push(call);
    return true;
  }

  /** Puts a call back to the head of its lane; never refused, because it had a place before. */
  putBack(lane: Lane, call: Call): void {
    this.lanes[lane].unshift(call);
  }

  /** @param lanes which calls may run now */
  shift(lanes: readonly Lane[]): Call | undefined {
    const lane = this.chooseLane(lanes);
    if (lane === null) return undefined;
    const other: Lane = lane === 'scripts' ? 'expressions' : 'scripts';
    this.passed[lane] = 0;
    this.passed[other] = this.lanes[other].length > 0 ? this.passed[other] + 1 : 0;
    return this.lanes[lane].shift();
  }

  /** @returns whether the call was waiting */
  remove(call: Call): boolean {
    for (const lane of [this.lanes.expressions, this.lanes.scripts]) {
      const index = lane.indexOf(call);
      if (index !== -1) {
        lane.splice(index, 1);
        return true;
      }
    }
    return false;
  }

  /** Empties the queue. */
  takeAll(): Call[] {
    return [...this.lanes.expressions.splice(0), ...this.lanes.scripts.splice(0)];
  }

  private chooseLane(lanes: readonly Lane[]): Lane | null {
    const waiting = lanes.filter((lane) => this.lanes[lane].length > 0);
    const overdue = waiting.find((lane) => this.passed[lane] >= MAX_PASSED[lane]);
    return overdue ?? waiting[0] ?? null;
  }
}
