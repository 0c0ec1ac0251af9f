/** An instance as text: nothing is lost, and invalid text is rejected. */
import { describe, expect, it } from 'vitest';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { createSession } from '../../../src/engine/session/session.js';
import { readState, writeState } from '../../../src/engine/model/snapshot.js';
import { nextWork } from '../../../src/engine/flow/step-work.js';
import { define } from '../support/define.js';
import { fork, noOp } from '../support/steps.js';

const definition = define([fork('f', 'a', 'b'), noOp('a'), noOp('b')]);
const columns = {
  id: 'w',
  definitionId: 'tested',
  version: 1,
  reference: null,
  tags: {},
  index: {},
  status: 'Runnable',
  startTime: 5,
  endTime: null,
  outcome: null,
} as const;
const begin = (data = {}) =>
  startSession(definition, { id: 'w', data, reference: null, parent: null }, 5);

describe('writeState and readState', () => {
  it('stores the state that has no column, and restores the rest from the columns', () => {
    const { instance } = begin({ a: [1, { b: null }] });
    expect(readState(columns, writeState(instance))).toEqual(instance);
    const ended = { ...columns, status: 'Terminated', endTime: 9, outcome: 'Failed' } as const;
    expect(readState(ended, writeState(instance))).toMatchObject({ ...ended });
  });

  it('keeps fields with names that have a special meaning in JavaScript', () => {
    const data = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toString": 3}') as object;
    const copy = readState(columns, writeState(begin(data).instance));
    expect(JSON.stringify(copy.data)).toBe(JSON.stringify(data));
    expect(Object.getPrototypeOf(copy.data)).toBe(Object.prototype);
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"data": {}, "pointers": []}',
    '{"data": [], "pointers": [], "queue": [], "taken": [], "recent": [], "outbox": []}',
    '{"data": {}, "pointers": [], "queue": [], "taken": [], "recent": [], "outbox": []}',
    '{"data": {}, "pointers": [], "taken": [], "recent": [], "outbox": [], "nextPointerId": 1}',
  ])('rejects invalid state: %s', (text) => {
    expect(() => readState(columns, text)).toThrow(Error);
  });
});

describe('a run that is loaded', () => {
  it('continues with a step that was in progress when the instance was stored', () => {
    const run = begin();
    expect(nextWork(run)?.pointer.stepId).toBe('f');
    const again = createSession(definition, readState(columns, writeState(run.instance)), 6);
    expect(nextWork(again)?.pointer.stepId).toBe('f');
    expect(nextWork(again)).toBeNull();
  });
});
