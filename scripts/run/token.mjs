/**
 * Creates what you need to try a server with access control, or to set one up: a key pair (or uses that of `--key`),
 * the environment variables for the server, and a token.
 *
 *   pnpm token --scope "conductor:admin"
 *   pnpm token --scope "conductor:worker" --key key.pem --expires 90d --subject worker-7
 *
 * Anyone who has the private key can do everything: keep it where you create tokens, never where the server runs.
 *
 * Called by: `pnpm token`.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { isMain, root } from '../tool.mjs';

const SCOPES = ['admin', 'author', 'controller', 'viewer', 'worker'].map(
  (name) => `conductor:${name}`,
);
const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };
const ALGORITHMS = ['RS256', 'RS384', 'RS512', ...Object.keys(CURVES)];

const OPTIONS = {
  scope: { type: 'string', default: 'conductor:admin' },
  key: { type: 'string' },
  alg: { type: 'string', default: 'ES256' },
  expires: { type: 'string', default: '1h' },
  subject: { type: 'string' },
  issuer: { type: 'string' },
  audience: { type: 'string' },
  url: { type: 'string', default: 'http://127.0.0.1:5001' },
};

const HELP = `pnpm token [--scope "conductor:viewer conductor:worker"] [--key FILE] [--alg ES256] [--expires 1h]
           [--subject NAME] [--issuer NAME] [--audience NAME] [--url URL]

--key names a PEM file with the private key; a missing file is created. Without --key, a new key is used and not kept.`;

/** @throws Error whose message explains the problem */
export async function makeToken(args) {
  const { values } = parseArgs({ args, options: OPTIONS, strict: true });
  const { alg, audience, expires, issuer, subject } = values;
  if (!ALGORITHMS.includes(alg)) throw new Error(`--alg must be one of ${ALGORITHMS.join(', ')}`);
  const scopes = values.scope.split(/[\s,]+/).filter((scope) => scope !== '');
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope));
  if (unknown.length > 0 || scopes.length === 0) {
    throw new Error(`--scope must name some of ${SCOPES.join(', ')}, not '${values.scope}'`);
  }
  const privateKey = keyOf(values.key, alg);
  const publickey = createPublicKey(privateKey)
    .export({ type: 'spki', format: 'der' })
    .toString('base64');
  const { SignJWT } = await import(joseUrl());
  const builder = new SignJWT({ scope: scopes.join(' ') })
    .setProtectedHeader({ alg })
    .setIssuedAt()
    .setExpirationTime(expires);
  if (subject !== undefined) builder.setSubject(subject);
  if (issuer !== undefined) builder.setIssuer(issuer);
  if (audience !== undefined) builder.setAudience(audience);
  const token = await builder.sign(privateKey);
  return { ...values, scopes, publickey, token };
}

/** jose is a dependency of the server, which verifies tokens with it. */
function joseUrl() {
  return pathToFileURL(createRequire(join(root, 'server/package.json')).resolve('jose')).href;
}

function keyOf(file, alg) {
  if (file !== undefined && existsSync(file)) return createPrivateKey(readFileSync(file));
  const { privateKey } = alg.startsWith('RS')
    ? generateKeyPairSync('rsa', { modulusLength: 3072 })
    : generateKeyPairSync('ec', { namedCurve: CURVES[alg] });
  if (file !== undefined) {
    // Only the owner may read it, and a file that was created in the meantime is not overwritten.
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(file, pem, { mode: 0o600, flag: 'wx' });
  }
  return privateKey;
}

function describeToken({ alg, audience, expires, issuer, key, publickey, scopes, token, url }) {
  const settings = [
    'auth=true',
    `alg=${alg}`,
    `publickey=${publickey}`,
    ...(issuer === undefined ? [] : [`auth_issuer='${issuer}'`]),
    ...(audience === undefined ? [] : [`auth_audience='${audience}'`]),
  ];
  return [
    key === undefined
      ? '# The private key was not kept: this is the only token for this public key (see --key).'
      : `# The private key is in ${key}. The server does not need it.`,
    '',
    '# The public key',
    `publickey=${publickey}`,
    '',
    '# Start the server with',
    `${settings.join(' ')} pnpm start`,
    '',
    `# A token for ${scopes.join(' ')}, valid for ${expires}`,
    `TOKEN=${token}`,
    '',
    '# Try it',
    `curl -H "Authorization: Bearer ${token}" ${url}/api/workflow`,
  ].join('\n');
}

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2).filter((arg) => arg !== '--');
  if (args.includes('--help')) console.log(HELP);
  else {
    try {
      console.log(describeToken(await makeToken(args)));
    } catch (error) {
      console.error(`${error.message}\n\n${HELP}`);
      process.exitCode = 1;
    }
  }
}
