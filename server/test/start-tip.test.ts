import { describe, expect, it } from 'vitest';
import { startTip } from '../src/start-tip.js';

const PLACE = 'http://127.0.0.1:5001';
const OPEN = {
  auth: false,
  alg: 'ES256',
  issuer: null,
  jwks_url: null,
  auth_issuer: null,
  auth_audience: null,
} as const;
const tip = (settings: object): string => startTip(PLACE, { ...OPEN, ...settings }).join('\n');

describe('the first call that a server suggests', () => {
  it('has no token without auth', () => {
    expect(tip({})).toContain(`curl -X POST ${PLACE}/api/definition -H 'Content-Type`);
    expect(tip({})).not.toMatch(/token/i);
  });

  it.each([
    [{}, 'STEPWRIGHT_TOKEN=$(stepwright token --key stepwright-key.pem)'],
    [
      { alg: 'RS256', auth_issuer: 'https://me', auth_audience: 'flows' },
      "stepwright-key.pem --alg RS256 --issuer 'https://me' --audience 'flows')",
    ],
    [{ issuer: 'https://login.example' }, 'a token of https://login.example'],
    [{ jwks_url: 'https://login.example/keys' }, 'the keys at https://login.example/keys'],
  ])('has a token with auth, and says where it comes from: %j', (settings, from) => {
    const text = tip({ auth: true, ...settings });
    expect(text).toContain(from);
    const calls = text.split('\n').filter((line) => line.startsWith('  curl '));
    expect(calls).toHaveLength(2);
    for (const call of calls)
      expect(call).toContain('-H "Authorization: Bearer $STEPWRIGHT_TOKEN"');
  });
});
