/** A server that requires tokens: every scope does its part of one workflow, and none can do another's. */
import { createClient, type StepwrightClient } from '@stepwright/sdk';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activity } from '../environment/steps.js';
import { TestEnvironment } from '../environment/test-environment.js';

const ALGORITHM = 'ES256';

describe('access', () => {
  let environment: TestEnvironment;
  let clientWith: (scope: string) => StepwrightClient;

  beforeAll(async () => {
    const { privateKey, publicKey } = await generateKeyPair(ALGORITHM);
    environment = await TestEnvironment.start('one node', 'mongo', {
      auth: 'true',
      alg: ALGORITHM,
      publickey: await exportSPKI(publicKey),
    });
    clientWith = (scope) =>
      createClient({
        baseUrl: 'http://any-node.invalid',
        fetch: (request) => environment.fetch(request),
        token: () =>
          new SignJWT({ scope })
            .setProtectedHeader({ alg: ALGORITHM })
            .setExpirationTime('1 minute')
            .sign(privateKey),
      });
  });
  afterAll(() => environment.stop());

  it('allows every scope to do its part', async () => {
    const name = environment.unique('scoped');
    const document = JSON.stringify({ Id: name, Steps: [activity('work', name)] });
    await clientWith('conductor:author').definitions.register(document);
    const { id } = await clientWith('conductor:controller').workflows.start(name, {});
    const worker = clientWith('conductor:worker');
    const work = await worker.activities.pull(name, { waitSeconds: 10 });
    if (work === null) throw new Error('expected a work item');
    await worker.activities.succeed(work, 'done');
    const { status } = await clientWith('conductor:viewer').workflows.wait(id, {
      timeoutMs: 30_000,
    });
    expect(status).toBe('Complete');
  });

  it('rejects operations that belong to another scope', async () => {
    const forbidden = { status: 403, code: 'forbidden' };
    await expect(clientWith('conductor:viewer').workflows.start('x', {})).rejects.toMatchObject(
      forbidden,
    );
    await expect(clientWith('conductor:worker').workflows.get('x')).rejects.toMatchObject(
      forbidden,
    );
    await expect(clientWith('conductor:admin2').workflows.get('x')).rejects.toMatchObject(
      forbidden,
    );
  });

  it('rejects callers without a token, except for health checks', async () => {
    await expect(environment.client.workflows.get('x')).rejects.toMatchObject({
      status: 401,
      code: 'unauthenticated',
    });
    expect((await environment.call('/health/ready')).status).toBe(200);
  });
});
