/** Connects the rules for tokens with the keys that they are signed with. */
import type { Logger } from '../../base/logger.js';
import { IdentityProvider, type ProviderAddress } from './identity-provider.js';
import { createTokenVerifier, type TokenRules, type TokenVerifier } from './token-verifier.js';

export interface AuthConfig extends TokenRules {
  readonly keys: { readonly publicKey: string } | ProviderAddress;
  /** How the operator's page signs in at the issuer; absent: with a token that the user enters. */
  readonly signIn?: PageSignIn;
}

/** The page as a client of the issuer, as it was registered there. */
export interface PageSignIn {
  readonly clientId: string;
  readonly scope: string;
  /** Further parameters of the authorization request, as the text of a query. */
  readonly parameters: string;
}

export interface AccessControl {
  readonly verify: TokenVerifier;
  /** Null: there is one configured key. */
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
  // Tokens of other issuers may be signed with a key of the same set.
  const rules = 'issuer' in keys ? { issuer: keys.issuer, ...config } : config;
  return { verify: createTokenVerifier(rules, provider), provider, signIn };
}
