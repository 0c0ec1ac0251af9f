/** S-39: an Idempotency-Key belongs to its sender. Method: two controllers use the same key. */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { mark } from '../behavior/support/steps.js';
import { serverForTests } from './support/secured-server.js';

describe('an Idempotency-Key', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publickey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const at = serverForTests({ auth: 'true', alg: 'ES256', publickey });

  const headersOf = async (subject: string): Promise<Record<string, string>> => {
    const token = await new SignJWT({ scope: 'conductor:admin', sub: subject })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('5m')
      .sign(privateKey);
    return { authorization: `Bearer ${token}`, 'idempotency-key': 'order-4711' };
  };
  const post = async (subject: string, path: string, body: unknown) =>
    at.client.call('POST', path, {
      headers: await headersOf(subject),
      body: JSON.stringify(body),
      type: 'application/json',
    });

  it('starts a separate run for another caller and does not return the first one', async () => {
    const stored = await post('ada', '/api/definition', { Id: 'keys', Steps: [mark('a')] });
    expect(stored.status).toBe(201);
    const first = await post('ada', '/api/workflow/keys', { secret: 1 });
    const again = await post('ada', '/api/workflow/keys', { secret: 1 });
    const other = await post('eve', '/api/workflow/keys', { secret: 1 });
    const id = (answer: typeof first): unknown =>
      (answer.body as { workflowId: string }).workflowId;
    expect(id(again)).toBe(id(first));
    expect(other.status).toBe(201);
    expect(id(other)).not.toBe(id(first));
    // Different data is not a conflict either: the key of another caller cannot be discovered.
    expect((await post('eve', '/api/event/e/k', { b: 2 })).status).toBe(202);
    expect((await post('ada', '/api/event/e/k', { a: 1 })).status).toBe(202);
    expect((await post('ada', '/api/workflow/keys', { secret: 2 })).status).toBe(409);
  });
});
