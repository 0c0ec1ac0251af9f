/** Events on the wire. */

/**
 * An event that was stored.
 *
 * @example { "id": "01hx5v7c2r8d4f6g9h1j", "deliveredTo": 1 }
 */
export interface PublishedEvent {
  id: string;
  /**
   * How many waiting workflows it was handed to at once; later waits can still take it.
   * @isInt
   */
  deliveredTo: number;
}
