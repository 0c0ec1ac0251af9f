/**
 * An instance's trace, if its server records traces. It is stored with the instance, so that every node continues the same
 * trace.
 */
export interface InstanceTrace {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** The span that started the instance: 16 hexadecimal digits. */
  readonly start: string;
  /** False: no spans are recorded, but the ids are passed on. */
  readonly sampled: boolean;
  /** The caller's flag that its trace id is random. */
  readonly random?: true;
  /** The caller's `tracestate`, which is passed on. */
  readonly state?: string;
}
