/**
 * `stepwright token`: creates a token, with a new key pair or the one from `--key`, and the settings for the server.
 *
 * Anyone with the private key can do anything, so it belongs where tokens are created, never where the server runs.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { withoutByteOrderMark } from '../../base/byte-order-mark.js';
import { SignJWT } from 'jose';
import { isScope, NOT_A_SCOPE } from '../../api/access/scopes.js';
import { misused } from '../failure.js';
import { Output } from '../output/output.js';

export interface TokenOptions {
  readonly scope: string;
  readonly key?: string;
  readonly alg: string;
  /** Milliseconds. */
  readonly expires: number;
  readonly subject?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly json: boolean;
}

const CURVES: Readonly<Record<string, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
};
const RSA_BITS = 3072;

interface MadeToken {
  readonly token: string;
  readonly expiry: string;
  /** The settings of a server that accepts the token. */
  readonly settings: Readonly<Record<string, string>>;
}

export async function token(options: TokenOptions): Promise<void> {
  const made = await makeToken(options);
  const output = new Output(options);
  output.result(made, () => print(output, made, options));
}

/** @throws CommandFailure */
export async function makeToken(options: Omit<TokenOptions, 'json'>): Promise<MadeToken> {
  const { alg, audience, issuer, key, subject = userName() } = options;
  const scopes = readScopes(options.scope);
  const privateKey = await keyOf(key, alg);
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const expiry = new Date(Date.now() + options.expires);
  const claims = new SignJWT({ scope: scopes.join(' ') })
    .setProtectedHeader({ alg })
    .setIssuedAt()
    .setExpirationTime(expiry);
  if (subject !== null) claims.setSubject(subject);
  if (issuer !== undefined) claims.setIssuer(issuer);
  if (audience !== undefined) claims.setAudience(audience);
  const signed = await claims.sign(privateKey).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw misused(`the key does not fit --alg ${alg}: ${reason}`);
  });
  return {
    token: signed,
    expiry: expiry.toISOString(),
    settings: {
      auth: 'true',
      alg,
      publickey: der.toString('base64'),
      ...(issuer !== undefined && { auth_issuer: issuer }),
      ...(audience !== undefined && { auth_audience: audience }),
    },
  };
}

/** Gives the audit log a name. Null in a container where the user has no name. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

/** Only the token goes to standard output, so that `STEPWRIGHT_TOKEN=$(stepwright token …)` works. */
function print(
  output: Output,
  { settings, token: signed }: MadeToken,
  { key }: TokenOptions,
): void {
  const assigned = Object.entries(settings).map(([name, value]) => `${name}='${value}'`);
  output.note(
    key === undefined
      ? '# The private key was not stored, so this is the only token for this public key (see --key).'
      : `# The private key is in ${key}. The server does not need it.`,
  );
  output.note(`# Start the server with\n${assigned.join(' ')} stepwright start`);
  output.note('# The token');
  output.line(signed);
}

function readScopes(text: string): readonly string[] {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
  const wrong = scopes.length === 0 ? text : scopes.find((scope) => !isScope(scope));
  if (wrong === undefined) return scopes;
  throw misused(`--scope: '${wrong}' ${NOT_A_SCOPE}`);
}

/** A missing file is created, so that later tokens can use the same key. */
async function keyOf(file: string | undefined, alg: string): Promise<KeyObject> {
  if (file === undefined) return newKey(alg);
  const found = await readFile(file).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  });
  if (found !== null) return readKey(found, file);
  const privateKey = newKey(alg);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  // Only the owner may read it, and a file created in the meantime isn't overwritten.
  await writeFile(file, pem, { mode: 0o600, flag: 'wx' });
  return privateKey;
}

function readKey(pem: Buffer, file: string): KeyObject {
  try {
    return createPrivateKey(withoutByteOrderMark(pem.toString('utf8')));
  } catch {
    throw misused(`${file} is not a private key in PEM format`);
  }
}

function newKey(alg: string): KeyObject {
  const namedCurve = CURVES[alg];
  return namedCurve === undefined
    ? generateKeyPairSync('rsa', { modulusLength: RSA_BITS }).privateKey
    : generateKeyPairSync('ec', { namedCurve }).privateKey;
}
