/** Signatures of webhook calls, with the test vectors that the senders publish. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deliveryIdOf, isSignatureValid } from '../../../src/runtime/webhooks/webhook-signature.js';
import type { WebhookScheme } from '../../../src/runtime/webhooks/webhook-types.js';

interface Vector {
  readonly signing: WebhookScheme;
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds since 1970. */
  readonly at: number;
  readonly deliveryId: string | null;
}

const SLACK_BODY =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&' +
  'channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&' +
  'response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&' +
  'trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
const SLACK_SIGNATURE = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503';
const STRIPE_SIGNED = '1492774577.{"id":"evt_1"}';
const hmacOf = (algorithm: string, secret: string, text: string) =>
  createHmac(algorithm, secret).update(text);

const VECTORS: Readonly<Record<string, Vector>> = {
  // From the tests of the Standard Webhooks libraries.
  standard: {
    signing: { scheme: 'standard' },
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    at: 1_614_265_330,
    deliveryId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  },
  // From "Validating webhook deliveries" of GitHub.
  github: {
    signing: { scheme: 'github' },
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: {
      'x-hub-signature-256':
        'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    },
    at: 1,
    deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  },
  // Stripe publishes the steps, but no vector.
  stripe: {
    signing: { scheme: 'stripe' },
    secret: 'whsec_test_secret',
    body: '{"id":"evt_1"}',
    headers: {
      'stripe-signature': `t=1492774577,v1=${'0'.repeat(64)},v1=${hmacOf('sha256', 'whsec_test_secret', STRIPE_SIGNED).digest('hex')},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`,
    },
    at: 1_492_774_577,
    deliveryId: 'evt_1',
  },
  // From "Verifying requests from Slack".
  slack: {
    signing: { scheme: 'slack' },
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: SLACK_BODY,
    headers: { 'x-slack-request-timestamp': '1531420618', 'x-slack-signature': SLACK_SIGNATURE },
    at: 1_531_420_618,
    deliveryId: SLACK_SIGNATURE,
  },
  // RFC 4231, test case 2.
  hmac: {
    signing: {
      scheme: 'hmac',
      header: 'X-Signature',
      algorithm: 'sha512',
      encoding: 'hex',
      prefix: 'sig=',
      idHeader: 'X-Id',
    },
    secret: 'Jefe',
    body: 'what do ya want for nothing?',
    headers: {
      'x-signature':
        'sig=164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
      'x-id': '17',
    },
    at: 1,
    deliveryId: '17',
  },
};

const isValid = (
  { at, body, headers, secret, signing }: Vector,
  { bytes = Buffer.from(body), now = at * 1000 }: { bytes?: Uint8Array; now?: number } = {},
): boolean => isSignatureValid(signing, secret, { bytes, headers }, now);

it('accepts hexadecimal digits in capitals, but no other prefix', () => {
  const { github } = VECTORS;
  if (github === undefined) throw new Error('there is no vector');
  const name = 'x-hub-signature-256';
  const [prefix = '', digits = ''] = (github.headers[name] ?? '').split('=');
  const capitals = { [name]: `${prefix}=${digits.toUpperCase()}` };
  expect(isValid({ ...github, headers: capitals })).toBe(true);
  const other = { [name]: `${prefix.toUpperCase()}=${digits}` };
  expect(isValid({ ...github, headers: other })).toBe(false);
});

describe.each(Object.entries(VECTORS))('the scheme %s', (name, vector) => {
  it('accepts the example that the sender publishes', () => {
    expect(isValid(vector)).toBe(true);
  });

  it('knows the id of the delivery', () => {
    const body = name === 'stripe' ? { id: 'evt_1' } : vector.body;
    expect(deliveryIdOf(vector.signing, vector.headers, body)).toBe(vector.deliveryId);
  });

  it('rejects other bytes, another secret and every changed header', () => {
    expect(isValid(vector, { bytes: Buffer.from(`${vector.body} `) })).toBe(false);
    expect(isValid({ ...vector, secret: `${vector.secret.slice(0, -1)}x` })).toBe(false);
    for (const header of Object.keys(vector.headers)) {
      if (['x-github-delivery', 'x-id'].includes(header)) continue;
      const { [header]: value = '', ...rest } = vector.headers;
      expect(isValid({ ...vector, headers: rest }), `without ${header}`).toBe(false);
      for (const other of ['', value.slice(1), value.toUpperCase(), value.replaceAll(/\d/g, '1')]) {
        const headers = { ...vector.headers, [header]: other };
        if (other !== value) expect(isValid({ ...vector, headers }), other).toBe(false);
      }
    }
  });

  it('rejects a time that is more than five minutes away, if the sender signs one', () => {
    const hasTime = ['standard', 'stripe', 'slack'].includes(name);
    for (const sign of [-1, 1]) {
      expect(isValid(vector, { now: (vector.at + sign * 300) * 1000 })).toBe(true);
      expect(isValid(vector, { now: (vector.at + sign * 301) * 1000 })).toBe(!hasTime);
    }
  });
});

describe('a signature', () => {
  it.each(Object.values(VECTORS))(
    'is computed over the whole body of a call that is wrong in another way ($signing.scheme)',
    ({ body, headers, secret, signing }) => {
      let reads = 0;
      for (const sent of [headers, {}]) {
        const delivery = {
          headers: sent,
          get bytes() {
            reads += 1;
            return Buffer.from(body);
          },
        };
        expect(isSignatureValid(signing, `not ${secret}`, delivery, 9e12)).toBe(false);
      }
      expect(reads).toBe(2);
    },
  );

  it('is verified over the bytes, whether or not they are text', () => {
    const bytes = new Uint8Array([0xff, 0xfe, 0, 0x80]);
    const signature = createHmac('sha256', 's').update(bytes).digest('hex');
    const headers = { 'x-hub-signature-256': `sha256=${signature}` };
    expect(isSignatureValid({ scheme: 'github' }, 's', { bytes, headers }, 0)).toBe(true);
  });

  it('is one of several while the sender rotates its secret', () => {
    const { standard } = VECTORS;
    if (standard === undefined) throw new Error('the vector is missing');
    const signature = standard.headers['webhook-signature'] ?? '';
    const headers = { ...standard.headers, 'webhook-signature': `v1,AAAA v2,x ${signature}` };
    expect(isValid({ ...standard, headers })).toBe(true);
    const many = { ...headers, 'webhook-signature': `${'v1,AAAA '.repeat(20)}${signature}` };
    expect(isValid({ ...standard, headers: many })).toBe(false);
  });
});

describe('the signed text', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const now = 1_614_265_330;
  const sign = (signed: string): string =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
      .update(signed)
      .digest('base64')}`;
  const isValid = (id: string, time: string, body: string, signature: string): boolean =>
    isSignatureValid(
      { scheme: 'standard' },
      secret,
      {
        bytes: Buffer.from(body),
        headers: { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature },
      },
      now * 1000,
    );

  it.each([
    // Each has the same signed text as a call that was right.
    ['the time in the id, the start of the body as the time', 'a', `${now}.${now + 1}.rest`],
    ['several times', 'a', `${now}.${now}.${now}.rest`],
    ['an id that has a full stop', 'a.b', `${now}.rest`],
    ['an id that is a time', 'a.1', `${now}.rest`],
  ])('has at most one valid reading: %s', (_title, id, rest) => {
    const text = `${id}.${rest}`;
    const signature = sign(text);
    const parts = text.split('.');
    const readings: string[] = [];
    for (let end = 1; end < parts.length - 1; end += 1) {
      for (let timeEnd = end + 1; timeEnd < parts.length; timeEnd += 1) {
        const reading = [
          parts.slice(0, end).join('.'),
          parts.slice(end, timeEnd).join('.'),
          parts.slice(timeEnd).join('.'),
        ] as const;
        if (isValid(...reading, signature)) readings.push(reading.join(' | '));
      }
    }
    expect(readings.length).toBeLessThanOrEqual(1);
    expect(readings).toEqual(id === 'a' ? [`a | ${now} | ${rest.slice(`${now}.`.length)}`] : []);
  });
});
