/** The public key from the `publickey` setting. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { TokenAlgorithm } from './token-algorithms.js';

/**
 * @param text PEM, or the base64 text of its DER form
 * @throws Error with a message about the key if it cannot be used with the algorithm
 */
export function readPublicKey(text: string, algorithm: TokenAlgorithm): KeyObject {
  const key = parsePublicKey(text.trim());
  assertKeyFits(key, algorithm);
  return key;
}

function parsePublicKey(text: string): KeyObject {
  if (text.includes('-----BEGIN')) return createPublicKey(text);
  const der = Buffer.from(text, 'base64');
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    // RSA keys also exist in an older format that contains only the key.
    return createPublicKey({ key: der, format: 'der', type: 'pkcs1' });
  }
}

const CURVES: Readonly<Record<string, string>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
};

function assertKeyFits(key: KeyObject, algorithm: TokenAlgorithm): void {
  const curve = CURVES[algorithm];
  const details = key.asymmetricKeyDetails;
  if (curve === undefined) {
    if (key.asymmetricKeyType !== 'rsa' || (details?.modulusLength ?? 0) < 2048) {
      throw new Error(`The public key must be an RSA key of at least 2048 bits for ${algorithm}`);
    }
  } else if (key.asymmetricKeyType !== 'ec' || details?.namedCurve !== curve) {
    throw new Error(`The public key must be an EC key on the curve ${curve} for ${algorithm}`);
  }
}
