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
   * The address of a trace: replace `{trace_id}` in it with the `traceId` of a run. Absent: the operator has set none.
   */
  traceUrl?: string;
  /**
   * How users of the operator's page sign in. Absent: with a token that they enter, or not at all.
   */
  signIn?: SignInInfo;
}

/**
 * The page signs in at an OpenID Connect issuer (authorization code with PKCE).
 */
export interface SignInInfo {
  issuer: string;
  clientId: string;
  /**
   * The scopes that the page asks for, separated by spaces.
   */
  scope: string;
  /**
   * Further parameters of the authorization request, as the text of a query.
   */
  parameters: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /**
   * Null if the issuer cannot end its own session.
   */
  endSessionEndpoint: string | null;
  /**
   * The algorithms with which the issuer signs id tokens.
   */
  idTokenAlgorithms: string[];
}
