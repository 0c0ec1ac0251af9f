/** Connects the rules for tokens with the keys that they are signed with. */
import type { Logger } from '../../base/logger.js';
import { IdentityProvider, type ProviderAddress } from './identity-provider.js';
import { createTokenVerifier, type TokenRules, type TokenVerifier } from './token-verifier.js';

export interface AuthConfig extends TokenRules {
  readonly keys: { readonly publicKey: string } | ProviderAddress;
  /** How the operator's page signs in with the issuer. If absent, the user enters a token. */
  readonly signIn?: PageSignIn;
}

/** The client id under which the page is registered with the issuer. */
export interface PageSignIn {
  readonly clientId: string;
  readonly scope: string;
  /** Additional parameters of the authorization request, as a query string. */
  readonly parameters: string;
}

export interface AccessControl {
  readonly verify: TokenVerifier;
  /** Null if a single key is configured. */
  readonly provider: IdentityProvider | null;
  readonly signIn: PageSignIn | null;
}

/** @throws Error with a message about the key if it cannot be used with the algorithm */
export function createAccessControl(config: AuthConfig, logger: Logger): AccessControl {
  const { keys, signIn = null } = config;
  if ('publicKey' in keys) {
    return { verify: createTokenVerifier(config, keys), provider: null, signIn: null };
  }
  const provider = new IdentityProvider({ address: keys, logger, now: () => performance.now() });
  // The same key set may also sign tokens from other issuers.
  const rules = 'issuer' in keys ? { issuer: keys.issuer, ...config } : config;
  return { verify: createTokenVerifier(rules, provider), provider, signIn };
}
