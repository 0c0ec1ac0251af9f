/** The bounds of one request. The configuration may change each; these are what it starts from. */
export interface ApiLimits {
  /** A larger body is refused with 413 before it is read. */
  readonly bodyBytesMax: number;
  /** YAML costs far more time to read than JSON, so that its bodies are smaller. */
  readonly yamlBytesMax: number;
  readonly scriptBytesMax: number;
  /** How deep objects and lists may be nested. */
  readonly bodyDepthMax: number;
  /** How many values a body may hold, aliases expanded. */
  readonly bodyNodesMax: number;
  /** How many words, marks and line breaks a YAML body may consist of. */
  readonly yamlTokensMax: number;
  readonly yamlAliasesMax: number;
  /** Longer polls for activities are cut to this. */
  readonly pollTimeoutSecondsMax: number;
  /** Longer waits for the end of a workflow are cut to this. */
  readonly waitSecondsMax: number;
  readonly leaseSecondsMax: number;
  /** Calls of one address that may wait at a time, for work or for the end of a workflow. */
  readonly waitingPerAddressMax: number;
  /** Wrong work tokens that one address may send in a minute. */
  readonly wrongTokensPerMinuteMax: number;
  /** Bearer tokens of one address in a minute that are refused with 401; further ones with 429. */
  readonly wrongBearersPerMinuteMax: number;
}

export const DEFAULT_API_LIMITS: ApiLimits = {
  bodyBytesMax: 1024 * 1024,
  yamlBytesMax: 256 * 1024,
  scriptBytesMax: 256 * 1024,
  bodyDepthMax: 100,
  bodyNodesMax: 200_000,
  yamlTokensMax: 100_000,
  yamlAliasesMax: 100,
  pollTimeoutSecondsMax: 120,
  waitSecondsMax: 120,
  leaseSecondsMax: 86_400,
  waitingPerAddressMax: 5000,
  wrongTokensPerMinuteMax: 1000,
  wrongBearersPerMinuteMax: 1000,
};

/** Of lists; the largest size stands in the checks of each list's `limit`. */
export const PAGE_SIZE_DEFAULT = 50;
