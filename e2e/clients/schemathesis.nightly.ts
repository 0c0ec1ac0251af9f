/**
 * Goal: the server does what its OpenAPI document says, whatever is sent.
 * Method: schemathesis makes requests from the document of a running server, right and wrong ones. No answer is 500, every answer
 * has a status, a type and a form that the document states, and what the document forbids is refused; with `auth` and without.
 */
import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '@stepwright/sdk';
import { startNode } from '../environment/server-node.js';

const SCHEMATHESIS = 'schemathesis==4.32.5';
/** A run takes about five minutes. */
const EXAMPLES = process.env['SCHEMATHESIS_EXAMPLES'] ?? '15';
const SEED = process.env['SCHEMATHESIS_SEED'] ?? '1';
const root = mkdtempSync(path.join(tmpdir(), 'stepwright-schemathesis-'));
const program = path.join(root, 'venv/bin/schemathesis');
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** Why schemathesis cannot run here. */
let lacking: string | null = null;

const SETTINGS = {
  WAIT_SECONDS_MAX: '1',
  POLL_TIMEOUT_SECONDS_MAX: '1',
  WRONG_TOKENS_PER_MINUTE_MAX: '1000000',
  WRONG_SIGNATURES_PER_MINUTE_MAX: '1000000',
  WRONG_BEARERS_PER_MINUTE_MAX: '1000000',
};
const ANSWERS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
];
/** It stays open. */
const STREAM = 'streamChanges';
/** An invalid definition is an answer of 200 to one, and nearly every text is a script for the other. */
const LENIENT = ['validateDefinition', 'putStep'];

beforeAll(() => {
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', path.join(root, 'venv')],
    [path.join(root, 'venv/bin/pip'), 'install', '-q', SCHEMATHESIS],
  ] as const) {
    const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (error === undefined && status === 0) continue;
    lacking = `schemathesis could not be installed: ${error?.message ?? stderr.slice(-300)}`;
    return;
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Target {
  readonly url: string;
  readonly document: string;
  readonly token: string | null;
}

/** Which operations are called, by the name of the option of schemathesis that selects them. */
type Selection = Readonly<
  Record<'exclude-operation-id' | 'include-operation-id', readonly string[]>
>;

/** @returns what schemathesis has found; empty: nothing */
async function findings(target: Target, checks: readonly string[], selection: Partial<Selection>) {
  const settings = {
    url: target.url,
    checks: checks.join(','),
    phases: 'examples,coverage,fuzzing',
    'max-examples': EXAMPLES,
    seed: SEED,
    'suppress-health-check': 'all',
    'request-timeout': '60',
    warnings: 'off',
    ...(target.token !== null && { header: `Authorization: Bearer ${target.token}` }),
  };
  const options = ['run', target.document, '--continue-on-failure', '--no-shrink'];
  for (const [name, value] of Object.entries(settings)) options.push(`--${name}`, value);
  for (const [name, operations] of Object.entries(selection)) {
    for (const operation of operations) options.push(`--${name}`, operation);
  }
  const running = spawn(program, options, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [running.stdout, running.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await once(running, 'close');
  // It has sent something. Its own errors, such as examples that it could not make, are no findings.
  expect(output).toMatch(/\d{3,} generated/);
  return /ST\d{3} /.test(output) ? output.slice(-20_000) : '';
}

async function makeToken(): Promise<string> {
  const token = new SignJWT({ scope: 'conductor:admin', sub: 'tester' });
  const signed = token.setProtectedHeader({ alg: 'RS256' }).setExpirationTime('2h');
  return signed.sign(privateKey);
}

describe.each([false, true])('a server with auth=%s', (hasAuth) => {
  it('answers as its OpenAPI document says', { timeout: 3_600_000 }, async ({ skip }) => {
    if (lacking !== null) return skip(lacking);
    const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const server = await startNode({
      ...SETTINGS,
      DATA_DIR: path.join(root, `data-${hasAuth}`),
      ...(hasAuth && { auth: 'true', alg: 'RS256', publickey: key }),
    });
    try {
      const token = hasAuth ? await makeToken() : null;
      const target = await prepare(server.url, token);
      // One run for all checks of an operation: it takes minutes.
      const all = [...ANSWERS, 'negative_data_rejection', ...(hasAuth ? ['ignored_auth'] : [])];
      const most = { 'exclude-operation-id': [STREAM, ...LENIENT] };
      expect(await findings(target, all, most)).toBe('');
      expect(await findings(target, ANSWERS, { 'include-operation-id': LENIENT })).toBe('');
    } finally {
      await server.stop();
    }
  });
});

/** The definition of the document's examples, with runs, so that calls find something. */
async function prepare(url: string, token: string | null): Promise<Target> {
  const client = createClient({ baseUrl: url, ...(token !== null && { token }) });
  const wait = { Id: 'wait', StepType: 'WaitFor', Inputs: { EventName: '"e"', EventKey: '"k"' } };
  await client.definitions.register(JSON.stringify({ Id: 'greeting', Steps: [wait] }));
  for (let count = 0; count < 3; count += 1) await client.workflows.start('greeting', { count });
  const answer = await fetch(`${url}/openapi.json`);
  const described = (await answer.json()) as {
    paths: Record<string, Record<string, { security?: unknown }>>;
  };
  // Without access control, a missing token is no mistake.
  for (const operation of Object.values(described.paths).flatMap((path) => Object.values(path))) {
    if (token === null) delete operation.security;
  }
  const document = path.join(root, `document-${token !== null}.json`);
  writeFileSync(document, JSON.stringify(described));
  return { url, document, token };
}
