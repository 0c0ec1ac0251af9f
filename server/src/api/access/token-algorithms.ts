/** The signature algorithms of tokens: only those with a public key, which the server may know. */
export const TOKEN_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];
