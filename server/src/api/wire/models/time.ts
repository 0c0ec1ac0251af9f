/** Times on the wire. */

/**
 * A time: ISO 8601. The server writes it in UTC. `openapi-document.mjs` gives it its format.
 */
export type Time = string;
