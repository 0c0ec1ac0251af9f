/**
 * Goal: no trace contains a part of a secret. Method: marked values in everything that a step can send, through calls that
 * succeed, fail and echo; then a search in all that the collector has received and all that the server has logged.
 */
import { createServer, type Server } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaksIn } from '../../server/test/behavior/support/leaks.js';
import { SpawnedServer } from '../../server/test/support/spawned-server.js';
import { Collector } from './support/collector.js';

const TOKEN = 'Zk93-mark.ed+s3cret?';
/** It can be the name of a host and the name of an event. */
const PLACE = 'qv71marked-place-secret';
const SECRETS = [TOKEN, PLACE];

const SCRIPT = 'print(token)\nif fails:\n    raise ValueError("bad " + token)\nsaid = token\n';

interface Case {
  readonly name: string;
  readonly stepType: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly fails?: true;
}

function casesFor(service: string): readonly Case[] {
  const call = { stepType: 'HttpRequest' };
  const base = { BaseUrl: `"${service}"`, Method: '"POST"', SucceedOn: '[200]' };
  const header = { '@Authorization': '"Bearer " + secrets.TOKEN' };
  return [
    { ...call, name: 'headers', inputs: { ...base, Headers: header } },
    { ...call, name: 'path', inputs: { ...base, Resource: '"/" + secrets.PLACE' } },
    { ...call, name: 'query', inputs: { ...base, Parameters: { '@key': 'secrets.TOKEN' } } },
    { ...call, name: 'body', inputs: { ...base, Body: { '@key': 'secrets.TOKEN' } } },
    {
      ...call,
      name: 'password',
      inputs: { ...base, Username: 'secrets.PLACE', Password: 'secrets.TOKEN' },
    },
    {
      ...call,
      name: 'refused',
      inputs: { ...base, Resource: '"/fail"', Headers: header },
      fails: true,
    },
    {
      ...call,
      name: 'host',
      inputs: { ...base, BaseUrl: '"http://" + secrets.PLACE + ".invalid"' },
      fails: true,
    },
    { ...call, name: 'no address', inputs: { ...base, BaseUrl: 'secrets.TOKEN' }, fails: true },
    { ...call, name: 'method', inputs: { ...base, Method: 'secrets.PLACE' }, fails: true },
    { name: 'script', stepType: 'Teller', inputs: { token: 'secrets.TOKEN', fails: 'False' } },
    {
      name: 'traceback',
      stepType: 'Teller',
      inputs: { token: 'secrets.TOKEN', fails: 'True' },
      fails: true,
    },
    { name: 'elsewhere', stepType: 'EmitLog', inputs: { Message: 'secrets.TOKEN' }, fails: true },
  ];
}

describe('a secret in traces', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-traced-secrets-'));
  const seen: string[] = [];
  let service: Server;
  let collector: Collector;
  let server: SpawnedServer;
  let client: StepwrightClient;

  beforeAll(async () => {
    service = createServer((request, response) => {
      void text(request).then((body) => {
        const echo = JSON.stringify([request.url, request.headers, body]);
        seen.push(echo);
        response.statusCode = request.url === '/fail' ? 500 : 200;
        response.setHeader('content-type', 'application/json').end(echo);
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    collector = await Collector.start();
    const secrets = path.join(folder, 'secrets');
    mkdirSync(secrets);
    writeFileSync(path.join(secrets, 'TOKEN'), `${TOKEN}\n`);
    writeFileSync(path.join(secrets, 'PLACE'), PLACE);
    writeFileSync(path.join(secrets, 'sealing-key'), 'a key that is long enough');
    server = await SpawnedServer.start({
      DATA_DIR: folder,
      SECRETS_DIR: secrets,
      PORT: '0',
      LOG_LEVEL: 'trace',
      HTTP_ALLOW_LOOPBACK: 'true',
      PYTHON_SPARES: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    client = createClient({ baseUrl: server.url });
    await client.steps.put('Teller', SCRIPT);
  });

  afterAll(async () => {
    await server.kill();
    await collector.stop();
    service.closeAllConnections();
    service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a run of the step, and returns it with what the collector got of it. */
  const run = async ({ fails, inputs, name, stepType }: Case): Promise<void> => {
    const id = `traced ${name}`;
    const steps = [{ id: 'step', stepType, inputs, outputs: {}, errorBehavior: 'Terminate' }];
    await client.definitions.register(JSON.stringify({ id, steps }));
    const handle = await client.workflows.start(id, {});
    const ended = await handle.wait({ timeoutMs: 60_000 });
    expect(ended.outcome, `${name}: ${JSON.stringify(ended.lastError)}`).toBe(
      fails === undefined ? 'Succeeded' : 'Failed',
    );
    await expect
      .poll(() => collector.spans.map((span) => span.name), { timeout: 20_000 })
      .toContain(`run ${id}`);
  };

  it('is absent: from calls, scripts, errors, work and the log', async () => {
    const { port } = service.address() as AddressInfo; // It listens on TCP.
    for (const each of casesFor(`http://127.0.0.1:${port}`)) await run(each);
    // Calls arrived with the values, and spans of all kinds were received.
    expect(leaksIn(seen.join('\n'), [TOKEN]).length).toBeGreaterThan(0);
    expect(leaksIn(seen.join('\n'), [PLACE]).length).toBeGreaterThan(0);
    const names = new Set(collector.spans.map(({ name }) => name));
    for (const name of ['POST', 'script Teller', 'step']) expect(names).toContain(name);
    expect(leaksIn(collector.received, SECRETS)).toEqual([]);
    expect(leaksIn(server.output, SECRETS)).toEqual([]);
  });

  it('is absent from the spans of workers and of their results', async () => {
    const id = 'traced work';
    await client.definitions.register(
      JSON.stringify({
        id,
        steps: [
          {
            id: 'work',
            stepType: 'Activity',
            errorBehavior: 'Terminate',
            inputs: { ActivityName: '"tell"', Parameters: { '@token': 'secrets.TOKEN' } },
          },
        ],
      }),
    );
    for (const end of ['success', 'fail'] as const) {
      const handle = await client.workflows.start(id, {});
      const taken = await fetch(`${server.url}/api/activity/tell?timeout=20`);
      const item = (await taken.json()) as { readonly token: string; readonly parameters: unknown };
      expect(item.parameters).toEqual({ token: TOKEN });
      const answer = await fetch(`${server.url}/api/activity/${end}/${item.token}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(`told ${TOKEN}`),
      });
      expect(answer.status).toBe(202);
      await handle.wait({ timeoutMs: 60_000 }).catch(() => null);
    }
    const runs = () => collector.spans.filter(({ name }) => name === `run ${id}`);
    await expect.poll(() => runs().length, { timeout: 20_000 }).toBe(2);
    expect(leaksIn(collector.received, SECRETS)).toEqual([]);
    expect(leaksIn(server.output, SECRETS)).toEqual([]);
  });
});
