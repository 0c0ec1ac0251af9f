/** Goal: the explanation of work that waits names the fairness key under which it takes turns, and that of other work doesn't. */
import { expect, it } from 'vitest';
import type { Fairness } from '../../../src/engine/model/start-options.js';
import { explainPointer } from '../../../src/runtime/explain/explain-pointer.js';

type Facts = Parameters<typeof explainPointer>[1];

const NOW = 1_000_000;
const TURNS = "takes turns under the fairness key 'acme'";
const ACTIVITY = { kind: 'activity', name: 'ship', until: null };
const POLLING = { pollers: 1, lastPollTime: null };
const PLACES = { key: '', held: 1, limit: 1, ahead: 2, ancestor: null };

function explained(state: object, known: object | null, fairness: Fairness | null): string {
  const pointer = { id: 1, stepId: 'a', deadline: null, attemptStartedAt: NOW, state };
  const facts = {
    instance: { reference: 'r', fairness },
    status: 'Runnable',
    now: NOW,
    of: new Map(known === null ? [] : [[1, known]]),
  };
  return explainPointer(pointer as never, facts as unknown as Facts).text;
}

const item = (changes: object) => ({
  kind: 'activity',
  polling: POLLING,
  record: { done: false, tokenHash: null, availableAt: NOW, workerId: null, ...changes },
});
const held = { tokenHash: 't', availableAt: NOW + 1000, workerId: 'w' };

it.each([
  ['a work item', ACTIVITY, item({})],
  ['a step without a slot', { kind: 'limited', on: { limit: 'l', key: '' }, since: NOW }, null],
  [
    'a run without a place',
    { kind: 'queued', at: NOW },
    { kind: 'queue', holders: [], count: 1, isExact: true, places: PLACES },
  ],
])('names the key of %s', (_, state, known) => {
  const weighted = explained(state, known, { key: 'acme', weight: 2.5 });
  expect(weighted).toMatch(new RegExp(`; ${TURNS}, weight 2.5$`));
  expect(explained(state, known, { key: 'acme', weight: 1 })).toMatch(new RegExp(`; ${TURNS}$`));
  expect(explained(state, known, null)).not.toContain('turns');
});

it.each([
  ['an item that a worker holds', ACTIVITY, item(held)],
  ['an item with its result', ACTIVITY, item({ done: true })],
  [
    'a run that waits for those with its reference',
    { kind: 'queued', at: NOW, reference: true },
    { kind: 'queue', holders: [], count: 1, isExact: true },
  ],
])('names no key of %s', (_, state, known) => {
  expect(explained(state, known, { key: 'acme', weight: 1 })).not.toContain('turns');
});
