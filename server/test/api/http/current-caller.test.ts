/** Which caller the work of a request is charged to, all the way down to the host. */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { currentCaller, type Caller } from '../../../src/base/limits/current-caller.js';
import { deferred } from '../support/deferred.js';
import { authWith, startApi, type ApiServerOptions } from '../support/api-server.js';
import { SOME_INSTANCE } from '../support/scripted-host.js';

async function callerSeen(
  options: ApiServerOptions,
  init: RequestInit = {},
): Promise<Caller | null> {
  let caller: Caller | null = null;
  const get = async () => {
    await new Promise(setImmediate);
    caller = currentCaller();
    return SOME_INSTANCE;
  };
  const api = await startApi({ ...options, host: { 'instances.get': get } });
  expect((await api.fetch('/api/workflow/w1', init)).status).toBe(200);
  return caller;
}

describe('the caller of a request', () => {
  it('is its address if there is no access control', async () => {
    expect((await callerSeen({}))?.key).toBe('address:127.0.0.1');
  });

  it('is the subject of its token', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const token = await new SignJWT({ scope: 'conductor:viewer', sub: 'ada' })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('5 minutes')
      .sign(privateKey);
    const headers = { authorization: `Bearer ${token}` };
    const caller = await callerSeen({ auth: authWith(publicKey) }, { headers });
    expect(caller?.key).toBe('subject:ada');
  });

  it('is gone once it has disconnected before the answer', async () => {
    const gone = vi.fn();
    const called = deferred<null>();
    const get = () => {
      currentCaller()!.gone.addEventListener('abort', gone);
      called.resolve(null);
      return new Promise<never>(() => undefined);
    };
    const api = await startApi({ host: { 'instances.get': get } });
    const controller = new AbortController();
    const answer = api.fetch('/api/workflow/w1', { signal: controller.signal });
    await called.promise;
    controller.abort();
    await expect(answer).rejects.toThrow('abort');
    await vi.waitFor(() => expect(gone).toHaveBeenCalled());
  });

  it('is null outside a request', () => {
    expect(currentCaller()).toBeNull();
  });
});
