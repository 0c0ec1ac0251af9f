// The wire types of the health checks. Not `/**`: tsoa would look for the example of the first type here.

/**
 * The process is running.
 *
 * @example { "status": "live" }
 */
export interface Liveness {
  status: 'live';
}

/**
 * Whether the server can serve requests.
 *
 * @example { "ready": true, "reasons": [] }
 */
export interface Readiness {
  ready: boolean;
  /**
   * Why the server is not ready, in sentences.
   */
  reasons: string[];
}
