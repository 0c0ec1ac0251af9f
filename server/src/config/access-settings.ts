/** The settings of access control: who signs tokens, what they must contain, and how the operator's page gets one. */
import { TOKEN_ALGORITHMS } from '../api/access/token-algorithms.js';
import { flag, integer, oneOf, queryText, secureUrl, setting, text } from './setting.js';

const unset = { shown: 'unset' } as const;
const DAY_SECONDS = 86_400;

export const ACCESS_SETTINGS = {
  auth: setting(flag, false, 'Require a bearer token (JWT) for every call.'),
  alg: setting(
    oneOf(TOKEN_ALGORITHMS),
    'RS256',
    'The only accepted signature algorithm of tokens.',
  ),
  publickey: setting<string | null>(
    text,
    null,
    'Public key that verifies tokens: PEM, or DER in base64.',
    { ...unset, secret: true },
  ),
  issuer: setting<string | null>(
    secureUrl,
    null,
    'Address of the OpenID Connect issuer whose keys verify tokens, instead of `publickey`. Its configuration and keys are read from it, and read again when they change.',
    unset,
  ),
  jwks_url: setting<string | null>(
    secureUrl,
    null,
    'Address of the keys (JWKS) that verify tokens, instead of `publickey` or `issuer`.',
    unset,
  ),
  auth_issuer: setting<string | null>(
    text,
    null,
    'If set, the required issuer (`iss`) of tokens. By default, it is `issuer`.',
    unset,
  ),
  auth_audience: setting<string | null>(
    text,
    null,
    'If set, the required audience (`aud`) of tokens.',
    unset,
  ),
  auth_scope_claim: setting(
    text,
    'scope',
    'The claim of tokens that has the scopes, as a list or as text; dots lead into objects, as in `realm_access.roles`.',
  ),
  auth_clock_tolerance_seconds: setting(
    integer(0, 300),
    0,
    'How much the clocks of the issuer and the server may differ, in seconds.',
  ),
  auth_client_id: setting<string | null>(
    text,
    null,
    'With `issuer`: the client id with which the operator’s page signs its users in there. Unset: users enter a token.',
    unset,
  ),
  auth_client_scope: setting(
    text,
    'openid offline_access',
    'The scopes that the operator’s page asks the issuer for, separated by spaces.',
  ),
  auth_client_parameters: setting(
    queryText,
    '',
    'Further parameters that the operator’s page sends to the issuer, such as `audience=https://stepwright.example.com`.',
    { shown: 'none' },
  ),
  token_lifetime_seconds_max: setting(
    integer(1, 100 * 366 * DAY_SECONDS),
    366 * DAY_SECONDS,
    'Maximum remaining lifetime of a bearer token, in seconds; tokens that expire later are rejected.',
  ),
};
