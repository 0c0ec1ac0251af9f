/**
 * Goal: `apply` that was killed at any moment and is repeated ends right, and stores nothing twice.
 * Method: what it does after its checks, in this process, on a real server behind a gate. The gate closes at one request,
 * before or after the server has handled it, and stays closed: the server gets what it gets from a command that is killed
 * then, because the command keeps nothing but its memory. A real kill: e2e/cli/apply.test.ts.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { ServerClient } from '../../src/cli/connection/server-client.js';
import { deploy } from '../../src/cli/files/deployment.js';
import { withOfflineServer } from '../../src/cli/files/offline-server.js';
import { definitionsOn, staleAmong } from '../../src/cli/files/pruning.js';
import type { WorkflowFile } from '../../src/cli/files/workflow-files.js';

type Moment = 'before' | 'after';

const NEVER = Infinity;
const ORIGIN = 'shop@1';
const STORED = [
  ['/api/step/step', ''],
  ['/api/definition/a', '?source=true'],
  ['/api/definition/b', '?source=true'],
] as const;

/** Between the command and the server. */
class Gate {
  /** The request at which it closes, from 1. */
  closesAt = NEVER;
  moment: Moment = 'before';
  requests = 0;
  readonly #server: Server;

  private constructor(target: string) {
    this.#server = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        this.requests += 1;
        const isLast = this.requests === this.closesAt;
        if (this.requests > this.closesAt || (isLast && this.moment === 'before')) {
          request.socket.destroy();
          return;
        }
        const type = request.headers['content-type'];
        const answer = await fetch(target + (request.url ?? ''), {
          method: request.method ?? 'GET',
          ...(type !== undefined && { headers: { 'content-type': type } }),
          ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
        });
        const text = await answer.text();
        if (isLast) request.socket.destroy();
        else response.writeHead(answer.status).end(text);
      })();
    });
  }

  static async inFrontOf(target: string): Promise<Gate> {
    const gate = new Gate(target);
    gate.#server.listen(0, '127.0.0.1');
    await once(gate.#server, 'listening');
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  open(): void {
    this.closesAt = NEVER;
  }

  close(nth: number, moment: Moment): void {
    Object.assign(this, { closesAt: nth, moment, requests: 0 });
  }

  get wasHit(): boolean {
    return this.requests >= this.closesAt;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Two definitions with a trigger each, and the script that they use. */
function folderOf(text: string, minute: number): WorkflowFile[] {
  const definitions = ['a', 'b'].map((id) => ({
    path: `${id}.yaml`,
    kind: 'definition' as const,
    text: `Id: ${id}
Description: ${text}
Triggers: [{ Name: yearly, Cron: '${minute} 0 1 1 *' }]
Steps: [{ Id: a, StepType: step }]
`,
  }));
  const script = { path: 'step.py', kind: 'script' as const, text: `loud = '${text}'\n` };
  return [script, ...definitions].map((file) => ({
    ...file,
    unreadable: null,
    realPath: file.path,
  }));
}

async function applyTo(url: string, files: readonly WorkflowFile[]): Promise<void> {
  const server = { url, token: null };
  const stale = staleAmong(await definitionsOn(new ServerClient(server)), files, ORIGIN);
  expect((await deploy(server, files, { origin: ORIGIN, stale })).rejected).toBeNull();
}

/** What the folder had before. */
async function registerStale(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/api/definition?origin=shop%400`, {
    method: 'POST',
    headers: { 'content-type': 'application/yaml' },
    body: `Id: ${id}\nSteps: [{ Id: a, StepType: NoOp }]\n`,
  });
  expect(response.ok).toBe(true);
}

it.each(['before', 'after'] as const)(
  'ends right when it is stopped %s any of its requests and repeated',
  async (moment) => {
    await withOfflineServer(async ({ url }) => {
      const gate = await Gate.inFrontOf(url);
      const text = async (place: string): Promise<string> => (await fetch(url + place)).text();
      const json = async (place: string): Promise<unknown> => JSON.parse(await text(place));
      let nth = 0;
      for (let wasStopped = true; wasStopped;) {
        nth += 1;
        // Each trial begins from another state, so that there is always work to interrupt.
        const files = folderOf(`trial ${nth}.`, nth);
        await registerStale(url, `gone-${nth}`);

        gate.close(nth, moment);
        const problem = await applyTo(gate.url, files).then(() => null, String);
        wasStopped = gate.wasHit;
        expect(problem === null, `${nth}: ${problem}`).toBe(!wasStopped);
        gate.open();
        await applyTo(gate.url, files);

        for (const [place, source] of STORED) {
          expect(await text(place + source)).toContain(`trial ${nth}.`);
          // One for each trial: nothing was stored twice.
          expect(await json(`${place}/versions`)).toMatchObject({ items: { length: nth } });
        }
        for (const id of ['a', 'b']) {
          expect(await json(`/api/definition/${id}/triggers`)).toMatchObject([
            { name: 'yearly', cron: `${nth} 0 1 1 *`, paused: false },
          ]);
        }
        expect(await json(`/api/definition/gone-${nth}`)).toMatchObject({ disabled: true });
      }
      // The list of definitions, three reads, for each file a read and a write, three reads again, a read and a write to
      // prune.
      expect(nth).toBeGreaterThan(15);
      gate.stop();
    });
  },
);
