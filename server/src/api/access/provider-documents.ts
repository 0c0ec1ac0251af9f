/**
 * The public documents of an identity provider: its OpenID Connect configuration, and its keys (JWKS). The operator has
 * configured the address, but the content is checked like any other input.
 */
import { withoutByteOrderMark } from '../../base/byte-order-mark.js';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { isJsonObject, type Json } from '../../engine/values/json.js';
import { isSecureUrl } from './secure-url.js';

const TIMEOUT_MS = 5000;
const BYTES_MAX = 512 * 1024;

export interface ProviderConfiguration {
  readonly issuer: string;
  readonly keysUrl: string;
  /** Each is null if the provider doesn't offer it. */
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string | null;
  readonly endSessionEndpoint: string | null;
  /** The signature algorithms of its ID tokens. */
  readonly idTokenAlgorithms: readonly string[];
}

/** Reads `/.well-known/openid-configuration` of the issuer. @throws Error that names the address and the problem */
export async function readConfiguration(issuer: string): Promise<ProviderConfiguration> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document = await readJson(url);
  // Otherwise, one provider could impersonate another (OpenID Connect Discovery 1.0, section 4.3).
  if (document['issuer'] !== issuer) {
    const other = JSON.stringify(document['issuer'] ?? null).slice(0, 200);
    throw new Error(`${url} belongs to the issuer ${other}; set issuer to exactly that value`);
  }
  const endpoint = (name: string): string | null => {
    const value = document[name];
    if (value === undefined || value === null) return null;
    if (typeof value === 'string' && isSecureUrl(value)) return value;
    throw new Error(`${url}: ${name} must be an https: address`);
  };
  const keysUrl = endpoint('jwks_uri');
  if (keysUrl === null) throw new Error(`${url} lacks jwks_uri`);
  return {
    issuer,
    keysUrl,
    authorizationEndpoint: endpoint('authorization_endpoint'),
    tokenEndpoint: endpoint('token_endpoint'),
    endSessionEndpoint: endpoint('end_session_endpoint'),
    idTokenAlgorithms: textsOf(document['id_token_signing_alg_values_supported']),
  };
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Reads a set of keys. @throws Error that names the address and the problem */
export async function readKeys(url: string): Promise<JWTVerifyGetKey> {
  const document = await readJson(url);
  try {
    // jose checks the shape.
    return createLocalJWKSet(document as unknown as JSONWebKeySet);
  } catch {
    throw new Error(`${url} is not a set of keys (JWKS)`);
  }
}

async function readJson(url: string): Promise<Readonly<Record<string, Json>>> {
  const response = await get(url);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url} responded with status ${response.status}`);
  }
  const value = parse(await readText(response, url));
  if (!isJsonObject(value)) throw new Error(`${url} did not respond with a JSON object`);
  return value;
}

async function get(url: string): Promise<Response> {
  try {
    // A redirect could lead to an address that the operator hasn't approved.
    return await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    throw new Error(`${url} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** `fetch` only reports "fetch failed" and puts the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

async function readText(response: Response, url: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Node's types don't include the chunk type.
  const body = (response.body ?? []) as AsyncIterable<Uint8Array>;
  try {
    for await (const part of body) {
      length += part.length;
      // Ends the loop, and with it the connection.
      if (length > BYTES_MAX) break;
      parts.push(part);
    }
  } catch (error) {
    throw new Error(`${url} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  if (length > BYTES_MAX) throw new Error(`${url} responded with more than ${BYTES_MAX} bytes`);
  return withoutByteOrderMark(Buffer.concat(parts).toString('utf8'));
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
