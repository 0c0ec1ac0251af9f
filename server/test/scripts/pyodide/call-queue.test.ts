/** First come, first served within a lane, and neither lane starves. */
import { describe, expect, it } from 'vitest';
import { CallQueue, type CallKind } from '../../../src/scripts/pyodide/call-queue.js';

const BOTH: readonly CallKind[] = ['expressions', 'scripts'];

function fill(queue: CallQueue<string>, lane: CallKind, count: number): void {
  for (let index = 0; index < count; index += 1) queue.push(lane, `${lane[0]!}${index}`);
}

function drain(queue: CallQueue<string>, lanes: readonly CallKind[] = BOTH): string[] {
  const calls = [];
  for (let call = queue.shift(lanes); call !== undefined; call = queue.shift(lanes))
    calls.push(call);
  return calls;
}

describe('CallQueue', () => {
  it('keeps the order within a lane', () => {
    const queue = new CallQueue<string>(100);
    fill(queue, 'scripts', 3);
    expect(drain(queue)).toEqual(['s0', 's1', 's2']);
  });

  it('lets at most sixteen expressions overtake a script', () => {
    const queue = new CallQueue<string>(100);
    fill(queue, 'scripts', 2);
    fill(queue, 'expressions', 40);
    const order = drain(queue);
    expect(order.indexOf('s0')).toBe(16);
    expect(order.indexOf('s1')).toBe(33);
    expect(order).toHaveLength(42);
  });

  it('lets at most one script in a row overtake an expression', () => {
    const queue = new CallQueue<string>(1000);
    fill(queue, 'expressions', 200);
    fill(queue, 'scripts', 50);
    const order = drain(queue)
      .slice(0, 200)
      .map((call) => call[0])
      .join('');
    expect(order).not.toContain('ss');
  });

  it('serves only one lane if the other may not run', () => {
    const queue = new CallQueue<string>(100);
    fill(queue, 'scripts', 2);
    fill(queue, 'expressions', 2);
    expect(drain(queue, ['expressions'])).toEqual(['e0', 'e1']);
    expect(drain(queue, [])).toEqual([]);
    expect(queue.size).toBe(2);
  });

  it('alternates between owners, however many calls each of them has', () => {
    const queue = new CallQueue<string>(100);
    for (const call of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push('scripts', call, call[0]);
    queue.putBack('scripts', 'c0', 'c');
    expect(drain(queue)).toEqual(['c0', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('moves the waiting calls of an owner to the scripts', () => {
    const queue = new CallQueue<string>(100);
    for (const call of ['a1', 'b1', 'a2']) queue.push('expressions', call, call[0]);
    expect(queue.demote('a')).toEqual(['a1', 'a2']);
    expect(queue.demote('x')).toEqual([]);
    expect(drain(queue, ['expressions'])).toEqual(['b1']);
    expect(queue.size).toBe(2);
    expect(drain(queue)).toEqual(['a1', 'a2']);
  });

  it('is limited, frees the slots of calls and forgets removed ones', () => {
    const queue = new CallQueue<string>(2);
    expect(queue.push('scripts', 'a')).toBe(true);
    expect(queue.push('expressions', 'b')).toBe(true);
    expect(queue.push('expressions', 'c')).toBe(false);
    queue.putBack('expressions', 'd');
    expect(queue.size).toBe(3);
    expect(queue.remove('b')).toBe(true);
    expect(queue.remove('b')).toBe(false);
    expect(queue.takeAll()).toEqual(['d', 'a']);
    expect(queue.size).toBe(0);
  });
});
