import { describe, expect, it } from 'vitest';
import {
  FairQueue,
  QueueFullError,
  type EndTurn,
  type FairQueueLimits,
} from '../../../src/base/limits/fair-queue.js';
import { NotWantedError } from '../../../src/base/slices.js';

const NEVER = new AbortController().signal;
const LIMITS: FairQueueLimits = {
  turnsMax: 2,
  turnsPerCallerMax: 1,
  waitingMax: 5,
  waitingPerCallerMax: 3,
};

/** Requests that note when they start. */
class Requests {
  readonly started: string[] = [];
  readonly queue: FairQueue;
  readonly #ends = new Map<string, EndTurn>();

  constructor(limits: Partial<FairQueueLimits> = {}) {
    this.queue = new FairQueue({ ...LIMITS, ...limits });
  }

  /** @param name the caller, and a number */
  async ask(name: string, aborted: AbortSignal = NEVER): Promise<void> {
    const [caller = ''] = name.split(' ');
    const end = await this.queue.enter(caller, aborted);
    this.started.push(name);
    this.#ends.set(name, end);
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)!();
    await new Promise(setImmediate);
  }
}

describe('FairQueue', () => {
  it('gives a turn at once while there is room', () => {
    const queue = new FairQueue(LIMITS);
    expect(queue.enter('a', NEVER)).toBeTypeOf('function');
    expect(queue.enter('a', NEVER)).toBeInstanceOf(Promise);
    expect(queue.enter('b', NEVER)).toBeTypeOf('function');
    expect(queue.enter('c', NEVER)).toBeInstanceOf(Promise);
  });

  it('gives each caller a few turns only, and lets the callers alternate', async () => {
    const requests = new Requests({ turnsMax: 1 });
    for (const name of ['a 1', 'a 2', 'a 3', 'b 1', 'c 1', 'b 2']) void requests.ask(name);
    await new Promise(setImmediate);
    const order = ['a 1', 'a 2', 'b 1', 'c 1', 'a 3', 'b 2'];
    for (const name of order) await requests.end(name);
    expect(requests.started).toEqual(order);
  });

  it('passes over a caller who has all of its turns', async () => {
    const requests = new Requests();
    for (const name of ['a 1', 'a 2', 'b 1', 'c 1']) void requests.ask(name);
    await new Promise(setImmediate);
    expect(requests.started).toEqual(['a 1', 'b 1']);
    await requests.end('b 1');
    expect(requests.started).toEqual(['a 1', 'b 1', 'c 1']);
    await requests.end('c 1');
    expect(requests.queue.waiting).toBe(1);
    await requests.end('a 1');
    expect(requests.started.at(-1)).toBe('a 2');
  });

  it('ends a turn once, however often it is told', async () => {
    const queue = new FairQueue({ ...LIMITS, turnsMax: 1 });
    const end = await queue.enter('a', NEVER);
    end();
    end();
    expect(queue.enter('b', NEVER)).toBeTypeOf('function');
    expect(queue.enter('c', NEVER)).toBeInstanceOf(Promise);
  });

  it('refuses what is too much of one caller, and of all', async () => {
    const requests = new Requests({ turnsMax: 1 });
    for (const name of ['a 1', 'a 2', 'a 3', 'a 4']) void requests.ask(name);
    await expect(requests.ask('a 5')).rejects.toMatchObject({ of: 'caller' });
    for (const name of ['b 1', 'b 2']) void requests.ask(name);
    await expect(requests.ask('c 1')).rejects.toThrow(QueueFullError);
    await expect(requests.ask('c 1')).rejects.toMatchObject({ of: 'all' });
    expect(requests.queue.waiting).toBe(5);
  });

  it('forgets a request whose caller has gone, and keeps no turn for it', async () => {
    const requests = new Requests({ turnsMax: 1 });
    const gone = new AbortController();
    void requests.ask('a 1');
    const asked = requests.ask('a 2', gone.signal);
    void requests.ask('a 3');
    gone.abort();
    await expect(asked).rejects.toThrow(NotWantedError);
    expect(requests.queue.waiting).toBe(1);
    await requests.end('a 1');
    expect(requests.started).toEqual(['a 1', 'a 3']);
    await expect(requests.ask('b 1', gone.signal)).rejects.toThrow(NotWantedError);
    await requests.end('a 3');
    await requests.ask('c 1');
    expect(requests.started.at(-1)).toBe('c 1');
  });
});
