/** Ordinary scripts run as they do elsewhere, and none of them triggers a denied call. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGE_SCRIPTS } from './ordinary-scripts/language-scripts.js';
import { LIBRARY_SCRIPTS } from './ordinary-scripts/library-scripts.js';
import { INPUTS } from './ordinary-scripts/ordinary-script.js';
import { startRuntime, type StartedRuntime } from './start-runtime.js';

let started: StartedRuntime;

beforeAll(async () => {
  started = await startRuntime({ scriptTimeoutMs: 20_000 });
});
afterAll(() => started.runtime.stop());

describe('ordinary scripts', () => {
  it.each([...LIBRARY_SCRIPTS, ...LANGUAGE_SCRIPTS])('work: $name', async ({ source, leaves }) => {
    const result = await started.runtime.runScript(source, structuredClone(INPUTS));
    const expected = { ok: true, variables: { ...INPUTS, ...leaves }, output: '' };
    expect(result).toEqual({ ...expected, memoryBytes: expect.any(Number) as number });
  });

  it('never request anything from outside the sandbox', () => {
    expect(started.lines.filter(({ level }) => level !== 'info')).toEqual([]);
    expect(started.runtime.statistics()).toMatchObject({ replaced: 0, timeouts: 0 });
  });
});
