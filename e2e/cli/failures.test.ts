/** Goal: the causes of failures can be found from a terminal, and since when they occur. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../sdk/test/support/eventually.js';
import { CommandLine } from './command-line.js';

let line: CommandLine;

beforeAll(async () => {
  line = await CommandLine.start();
});
afterAll(() => line.stop());

describe('stepwright failures', () => {
  it('lists causes with the time of the first failure, and the key that the list takes', async () => {
    await line.client.definitions.register({
      id: 'repeating',
      steps: [{ id: 'read', stepType: 'NoOp', outputs: { n: 'int("x")' }, retryInterval: 0.2 }],
    });
    const { id } = await line.client.workflows.start('repeating', {});
    const failing = await eventually('it has failed three times', async () => {
      const run = await line.client.workflows.get(id);
      return (run.lastError?.attempt ?? 0) > 2 ? run : null;
    });
    const only = ['--definition', 'repeating'];
    const groups = await line.json<{ items: Record<string, string>[] }>(['failures', ...only]);
    expect(groups).toMatchObject({ count: 1, groups: 1, items: [{ stepId: 'read', retrying: 1 }] });
    expect(groups.items[0]!['firstTime']).toBe(failing.failingSince);
    expect(failing.failingSince! < failing.failureTime!).toBe(true);
    const { stdout } = await line.pipe(['failures', ...only]);
    const key = /^([0-9a-f]{32}) +1 +.* 1 retrying +repeating\/read +ValueError: /m.exec(
      stdout,
    )?.[1];
    expect(key).toBe(groups.items[0]!['key']);
    expect((await line.pipe(['list', '--failure', key!])).stdout).toContain(id);
    expect((await line.pipe(['show', id])).stdout).toMatch(/^Failed +.*; first like this /m);
    expect((await line.pipe(['failures', '--definition', 'none'])).stderr).toBe(
      'No run has failed.\n',
    );
    await line.client.workflows.terminate(id);
  });
});
