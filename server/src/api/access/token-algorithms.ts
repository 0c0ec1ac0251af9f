/** The allowed signature algorithms: asymmetric ones only, so that the server needs just the public key. */
export const TOKEN_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];
