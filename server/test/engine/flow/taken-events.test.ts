/** The events that an instance has taken, and from which time on stored ones may still be needed. */
import { describe, expect, it } from 'vitest';
import type { EventPosition } from '../../../src/engine/model/instance.js';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import {
  comparePositions,
  eventKey,
  isTaken,
  markTaken,
  searchStart,
} from '../../../src/engine/flow/taken-events.js';
import { define } from '../support/define.js';
import { noOp } from '../support/steps.js';

const key = eventKey('name', 'key');
const instance = () =>
  startSession(define([noOp('a')]), { id: 'w', data: {}, reference: null, parent: null }, 0)
    .instance;
const at = (publishedAt: number, id = 'e'): EventPosition => ({ publishedAt, id });

describe('the set of taken events', () => {
  it('separates the events by name and key', () => {
    expect(eventKey('a', 'b')).not.toBe(eventKey('ab', ''));
    expect(eventKey('a,', 'b')).not.toBe(eventKey('a', ',b'));
    expect(eventKey('a"', 'b')).not.toBe(eventKey('a', '"b'));
  });

  it('finds an event by id in any order', () => {
    const taker = instance();
    markTaken(taker, key, at(20, 'b'));
    markTaken(taker, key, at(10, 'a'));
    expect(isTaken(taker, key, at(10, 'a'))).toBe(true);
    expect(isTaken(taker, key, at(20, 'b'))).toBe(true);
    expect(isTaken(taker, key, at(10, 'b0'))).toBe(false);
    expect(isTaken(taker, eventKey('name', 'other'), at(10, 'a'))).toBe(false);
  });

  it('searches from the effective date on, and skips the part that is known to be taken', () => {
    const taker = instance();
    expect(searchStart(taker, key, 5)).toEqual(at(5, ''));
    for (let time = 1; time <= 150; time += 1) markTaken(taker, key, at(time));
    expect(searchStart(taker, key, 5)).toEqual(at(50));
    expect(searchStart(taker, key, 500)).toEqual(at(500, ''));
    expect(isTaken(taker, key, at(3, 'never seen'))).toBe(true);
    expect(isTaken(taker, key, at(51))).toBe(true);
    expect(isTaken(taker, key, at(51, 'new'))).toBe(false);
  });

  it.each([
    { a: at(1), b: at(2), order: -1 },
    { a: at(2), b: at(1), order: 1 },
    { a: at(1, 'a'), b: at(1, 'b'), order: -1 },
    { a: at(1, 'b'), b: at(1, 'a'), order: 1 },
    { a: at(1, 'a'), b: at(1, 'a'), order: 0 },
  ])('sorts by time, then id', ({ a, b, order }) => {
    expect(Math.sign(comparePositions(a, b))).toBe(order);
  });
});
