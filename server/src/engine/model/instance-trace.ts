/** The trace of an instance, if its server records traces: stored with it, so that every node continues the same trace. */
export interface InstanceTrace {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** The span that started the instance: 16 hexadecimal digits. */
  readonly start: string;
  /** False: no spans are recorded, but the ids are passed on. */
  readonly sampled: boolean;
  /** The flag of the caller that its trace id is random. */
  readonly random?: true;
  /** The `tracestate` of the caller, which is passed on. */
  readonly state?: string;
}
