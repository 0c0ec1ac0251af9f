/** Checks the combination of the settings for access control. */
import { readPublicKey } from '../api/access/public-key.js';
import type { Config } from './settings.js';

type AccessSettings = Pick<
  Config,
  'auth' | 'alg' | 'publickey' | 'issuer' | 'jwks_url' | 'auth_client_id'
>;

/** Returns a sentence that says what is wrong, without secrets; null if everything is right. */
export function problemWithAccess(config: AccessSettings): string | null {
  if (!config.auth) return null;
  const sources = (['publickey', 'issuer', 'jwks_url'] as const).filter(
    (name) => config[name] !== null,
  );
  if (sources.length === 0) {
    return 'auth=true requires publickey, issuer or jwks_url: the keys that verify tokens';
  }
  if (sources.length > 1)
    return `${sources.join(' and ')} cannot be set together; keep one of them`;
  if (config.auth_client_id !== null && config.issuer === null) {
    return 'auth_client_id requires issuer, where the page signs in';
  }
  return problemWithPublicKey(config);
}

function problemWithPublicKey({ alg, publickey }: AccessSettings): string | null {
  if (publickey === null) return null;
  try {
    readPublicKey(publickey, alg);
    return null;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return `publickey cannot be used with alg ${alg}: ${problem}`;
  }
}
