// The wire types of secrets. Their values are never shown. Not `/**`: tsoa would look for the example of the first type here.

/**
 * A secret that the server has, or that definitions use but the server lacks.
 *
 * @example { "name": "SHOP_TOKEN", "missing": false, "definitions": ["order"] }
 */
export interface Secret {
  name: string;
  /**
   * True if definitions use the secret but the server doesn't have it. Their steps fail.
   */
  missing: boolean;
  /**
   * The definitions whose latest version uses it, in ascending order.
   */
  definitions: string[];
}

/**
 * All secrets, ordered by name.
 */
export interface SecretPage {
  items: Secret[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}
