/** Request limits, read from the settings by `config/limits.ts`. */
export interface ApiLimits {
  /** A larger body is rejected with 413 before it is read. */
  readonly bodyBytesMax: number;
  /** Lower, because parsing YAML is much slower than parsing JSON. */
  readonly yamlBytesMax: number;
  readonly scriptBytesMax: number;
  /** For webhook calls, which are read before their sender is known. */
  readonly webhookBytesMax: number;
  /** The maximum nesting depth of objects and lists. */
  readonly bodyDepthMax: number;
  /** Maximum number of values in a body, with aliases expanded. */
  readonly bodyNodesMax: number;
  /** The maximum number of tokens and line breaks in a YAML body. */
  readonly yamlTokensMax: number;
  readonly yamlAliasesMax: number;
  /** Longer polls for activities are reduced to this. */
  readonly pollTimeoutSecondsMax: number;
  /** Longer waits for the end of a workflow are reduced to this. */
  readonly waitSecondsMax: number;
  readonly leaseSecondsMax: number;
  /** The maximum number of calls per address that wait at the same time, for work or for the end of a workflow. */
  readonly waitingPerAddressMax: number;
  /** Maximum number of invalid work tokens per minute from one address. */
  readonly wrongTokensPerMinuteMax: number;
  /** The number of invalid bearer tokens per minute from one address that are rejected with 401; more are rejected with 429. */
  readonly wrongBearersPerMinuteMax: number;
  /** The number of webhook calls with invalid signatures per minute from one address that get 401; more get 429. */
  readonly wrongSignaturesPerMinuteMax: number;
}

/** The default page size of lists. The maximum is defined by the validation of each list's `limit`. */
export const PAGE_SIZE_DEFAULT = 50;
