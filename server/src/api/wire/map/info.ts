/** Converts the server information to its wire type. */
import type * as host from '../../../runtime/fleet/node-types.js';
import type { AccessControl } from '../../access/access-control.js';
import type * as wire from '../models/info.js';
import { toWireTime } from './time.js';

/** @param services `access` is null if everything is allowed; `traceUrl` is null if it isn't configured */
export function toServerInfo(
  info: host.ServerInfo,
  { access, traceUrl }: { readonly access: AccessControl | null; readonly traceUrl: string | null },
): wire.ServerInfo {
  const signIn = toSignInInfo(access);
  return {
    ...info,
    startTime: toWireTime(info.startTime),
    ...(traceUrl !== null && { traceUrl }),
    ...(signIn !== null && { signIn }),
  };
}

/** Also null until the issuer has responded. */
function toSignInInfo(access: AccessControl | null): wire.SignInInfo | null {
  const { provider = null, signIn = null } = access ?? {};
  const configuration = provider?.configuration ?? null;
  if (signIn === null || configuration === null) return null;
  const { authorizationEndpoint, idTokenAlgorithms, tokenEndpoint } = configuration;
  if (authorizationEndpoint === null || tokenEndpoint === null) return null;
  return {
    ...signIn,
    issuer: configuration.issuer,
    authorizationEndpoint,
    tokenEndpoint,
    endSessionEndpoint: configuration.endSessionEndpoint,
    idTokenAlgorithms: [...idTokenAlgorithms],
  };
}
