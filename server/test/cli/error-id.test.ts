/** Goal: who meets an unexpected error of the server sees the id with which its log names the reason. */
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { ServerClient } from '../../src/cli/connection/server-client.js';
import { createProgram } from '../../src/cli/program.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { observeStore } from '../../src/store/observed-store.js';
import { Client } from '../behavior/support/client.js';
import { startServer, type TestServer } from '../behavior/support/server.js';
import { mark } from '../behavior/support/steps.js';

afterEach(() => vi.restoreAllMocks());

/** With one call of its store that always fails. */
async function serverWithout(call: string): Promise<TestServer> {
  const server = await startServer({
    store: createMemoryStore(),
    wrapStore: (store) =>
      observeStore(store, {
        before: ({ name }) => {
          if (name === call) throw new Error('a secret of the server');
        },
      }),
  });
  onTestFinished(() => server.stop());
  return server;
}

function loggedIds(server: TestServer): unknown[] {
  return server.logLines.map((line) => line['errorId']).filter((id) => id !== undefined);
}

it('names the error id of a call', async () => {
  const server = await serverWithout('listInstances');
  const client = new ServerClient({ url: server.url, token: null });
  const { message } = await client.get('/api/workflow').then(
    () => new Error('it succeeded'),
    (error: unknown) => error as Error,
  );
  expect(loggedIds(server)).toEqual([/^ {2}errorId: (\S+)$/m.exec(message)?.[1]]);
});

it('names the error id of a run in a bulk job', async () => {
  const server = await serverWithout('removeInstances');
  const client = new Client(server.url);
  const { workflowId: id } = await client.run([mark('a')]);
  let printed = '';
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  const before = process.exitCode;
  onTestFinished(() => void (process.exitCode = before));
  const args = ['bulk', 'create', 'purge', '--run', id, '--reason', 'old', '--wait'];
  await createProgram().parseAsync([...args, '--url', server.url], { from: 'user' });
  expect(process.exitCode).toBe(1);
  const [, errorId] = new RegExp(`^${id} .*\\n {2}errorId: (\\S+)$`, 'm').exec(printed) ?? [];
  expect(loggedIds(server), printed).toEqual([errorId]);
});
