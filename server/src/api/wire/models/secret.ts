// The wire types of secrets. Their values are never shown. Not `/**`: tsoa would look for the example of the first type here.

/**
 * A secret of the server, or one that definitions use and the server does not have.
 *
 * @example { "name": "SHOP_TOKEN", "missing": false, "definitions": ["order"] }
 */
export interface Secret {
  name: string;
  /**
   * Definitions use it, but the server does not have it: their steps fail.
   */
  missing: boolean;
  /**
   * The definitions whose newest version uses it, in ascending order.
   */
  definitions: string[];
}

/**
 * All secrets, in the order of their names.
 */
export interface SecretPage {
  items: Secret[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}
