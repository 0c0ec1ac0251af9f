/** Goal: a step that waits for a slot says for which one, in the step list, in explanations and in traces. */
import { expect, it } from 'vitest';
import type { Pointer } from '../../../src/engine/model/pointer.js';
import { explainPointer } from '../../../src/runtime/explain/explain-pointer.js';
import { viewPointer } from '../../../src/runtime/instance-state/instance-views.js';
import { waitReason } from '../../../src/runtime/tracing/wait-reason.js';
import { define } from '../../engine/support/define.js';
import { EngineDriver, START_MS } from '../../engine/support/engine-driver.js';
import { subWorkflow } from '../../engine/support/steps.js';

type Facts = Parameters<typeof explainPointer>[1];

function limited(key: string, timeout?: number): { driver: EngineDriver; pointer: Pointer } {
  const limits = [{ name: 'shop', ...(key !== '' && { key: `'${key}'` }) }];
  const members = { limits, ...(timeout !== undefined && { timeout }) };
  const definition = define([subWorkflow('a', members)]);
  const driver = new EngineDriver(definition, { slots: { shop: 0 } });
  return { driver, pointer: driver.pointer('a') };
}

it.each([
  { key: '', names: { limit: 'shop' }, text: "waits for a slot of limit 'shop'" },
  {
    key: 'c7',
    names: { limit: 'shop', limitKey: 'c7' },
    text: "waits for a slot of limit 'shop' with the key 'c7'",
  },
])('explains for which slot a step waits: $text', ({ key, names, text }) => {
  const { pointer } = limited(key);
  const facts = { status: 'Runnable', now: START_MS, of: new Map() };
  const reason = explainPointer(pointer, facts as unknown as Facts);
  const { limit, limitKey } = reason;
  expect({ limit, ...(limitKey !== undefined && { limitKey }) }).toEqual(names);
  expect(reason).toMatchObject({
    kind: 'limit',
    text,
    since: START_MS,
    until: null,
    actions: ['suspend', 'terminate'],
  });
});

it('explains when the wait times out', () => {
  const { pointer } = limited('', 10);
  const facts = { status: 'Runnable', now: START_MS, of: new Map() };
  const reason = explainPointer(pointer, facts as unknown as Facts);
  expect(reason.text).toBe("waits for a slot of limit 'shop'; times out in 10 s");
  expect(reason.until).toBe(START_MS + 10_000);
});

it('suggests nothing but a termination while the run is suspended', () => {
  const { pointer } = limited('');
  const facts = { status: 'Suspended', now: START_MS, of: new Map() };
  expect(explainPointer(pointer, facts as unknown as Facts).actions).toEqual(['terminate']);
});

it('shows the wait in the step list, and no child', () => {
  const { driver, pointer } = limited('c7');
  const { definition, instance } = driver;
  expect(viewPointer(pointer, { workflowId: 'w', definition }, instance)).toMatchObject({
    status: 'Waiting',
    waitsFor: { kind: 'limit', limit: 'shop', key: 'c7', since: START_MS },
    childWorkflowId: null,
  });
});

it('hides the key in traces', () => {
  const { driver, pointer } = limited('c7');
  const reason = waitReason(driver.instance, pointer, START_MS + 5000);
  expect(reason).toEqual({
    kind: 'limit',
    text: "waits for a slot of limit 'shop' with the key '…'",
    since: START_MS,
  });
  const withoutKey = limited('');
  expect(waitReason(withoutKey.driver.instance, withoutKey.pointer, START_MS).text).toBe(
    "waits for a slot of limit 'shop'",
  );
});
