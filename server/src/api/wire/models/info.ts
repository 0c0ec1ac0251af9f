// The wire type of the server information. Not `/**`: tsoa would look for the example of the first type here.
import type { Time } from './time.js';

/**
 * Information about the server that responded.
 *
 * @example {
 *   "name": "Stepwright",
 *   "version": "0.1.0",
 *   "startTime": "2026-05-04T10:20:30.123Z",
 *   "machineName": "node-a",
 *   "osVersion": "Linux 6.1.0",
 *   "workingSet": 104857600,
 *   "nodeId": "5f0c2d",
 *   "store": "sqlite",
 *   "backplane": "local"
 * }
 */
export interface ServerInfo {
  name: string;
  version: string;
  /**
   * ISO 8601, UTC.
   */
  startTime: Time;
  machineName: string;
  osVersion: string;
  /**
   * Memory in use, in bytes.
   * @isLong
   */
  workingSet: number;
  nodeId: string;
  /**
   * The kind of store.
   */
  store: string;
  /**
   * The kind of backplane.
   */
  backplane: string;
  /**
   * The URL template for traces: replace `{trace_id}` with the `traceId` of a run. Absent if the operator hasn't set one.
   */
  traceUrl?: string;
  /**
   * How users of the operator's page sign in. If absent, they enter a token, or don't sign in at all.
   */
  signIn?: SignInInfo;
}

/**
 * The page signs in with an OpenID Connect issuer (authorization code flow with PKCE).
 */
export interface SignInInfo {
  issuer: string;
  clientId: string;
  /**
   * The scopes that the page asks for, separated by spaces.
   */
  scope: string;
  /**
   * Additional parameters of the authorization request, as a query string.
   */
  parameters: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /**
   * Null if the issuer can't end its own session.
   */
  endSessionEndpoint: string | null;
  /**
   * The algorithms that the issuer signs ID tokens with.
   */
  idTokenAlgorithms: string[];
}
