/** The limits of requests; `config/limits.ts` reads them from the settings. */
export interface ApiLimits {
  /** A larger body is rejected with 413 before it is read. */
  readonly bodyBytesMax: number;
  /** Lower, because reading YAML takes far more time than reading JSON. */
  readonly yamlBytesMax: number;
  readonly scriptBytesMax: number;
  /** Of calls of webhooks, which are read before their sender is known. */
  readonly webhookBytesMax: number;
  /** Maximum nesting depth of objects and lists. */
  readonly bodyDepthMax: number;
  /** Maximum number of values in a body, with aliases expanded. */
  readonly bodyNodesMax: number;
  /** Maximum number of words, marks and line breaks in a YAML body. */
  readonly yamlTokensMax: number;
  readonly yamlAliasesMax: number;
  /** Longer polls for activities are reduced to this. */
  readonly pollTimeoutSecondsMax: number;
  /** Longer waits for the end of a workflow are reduced to this. */
  readonly waitSecondsMax: number;
  readonly leaseSecondsMax: number;
  /** Maximum number of calls of one address that wait at the same time, for work or for the end of a workflow. */
  readonly waitingPerAddressMax: number;
  /** Maximum number of invalid work tokens per minute from one address. */
  readonly wrongTokensPerMinuteMax: number;
  /** Number of invalid bearer tokens per minute from one address that are rejected with 401; further ones with 429. */
  readonly wrongBearersPerMinuteMax: number;
  /** Number of webhook calls with invalid signatures per minute from one address that get 401; further ones get 429. */
  readonly wrongSignaturesPerMinuteMax: number;
}

/** The default page size of lists; the checks of each list's `limit` define the maximum. */
export const PAGE_SIZE_DEFAULT = 50;
