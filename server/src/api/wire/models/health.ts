/** Probes. */

/**
 * The process runs.
 *
 * @example { "status": "live" }
 */
export interface Liveness {
  status: 'live';
}

/**
 * Whether the server takes work.
 *
 * @example { "ready": true, "reasons": [] }
 */
export interface Readiness {
  ready: boolean;
  /**
   * Why it does not, in sentences.
   */
  reasons: string[];
}
