/** The custom steps that a node caches: those in use, within a limit. */
import { expect, it } from 'vitest';
import {
  StepScripts,
  type StepScriptsOptions,
} from '../../../src/runtime/definitions/step-scripts.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';

const MIB = 1024 * 1024;

it('keeps the newest scripts in the cache, and at most 16 million characters', async () => {
  const store = createMemoryStore();
  const names = Array.from({ length: 20 }, (_, index) => `step ${index}`);
  for (const name of names) {
    await store.insertStepScript({ name, source: '#'.repeat(MIB - 1), createdAt: 1 });
  }
  const read: string[] = [];
  const getStepScript: typeof store.getStepScript = (name, version) => {
    read.push(name);
    return store.getStepScript(name, version);
  };
  const options: Pick<StepScriptsOptions, 'store' | 'clock' | 'mayBeStale' | 'isShared'> = {
    store: { ...store, getStepScript },
    clock: { now: () => 1, at: () => () => undefined },
    mayBeStale: () => false,
    isShared: () => false,
  };
  const scripts = new StepScripts(options as StepScriptsOptions);
  for (const name of names) await scripts.find(name);
  expect(read.splice(0)).toEqual(names);
  for (const name of names.slice(4)) await scripts.find(name);
  expect(read).toEqual([]);
  await scripts.find(names[0]!);
  expect(read).toEqual([names[0]]);
});
