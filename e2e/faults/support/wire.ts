/** The parts of the responses that the tests read. */

export interface Instance {
  readonly workflowId: string;
  readonly status: 'Runnable' | 'Suspended' | 'Complete' | 'Terminated';
  readonly version: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly endTime: string | null;
  readonly lastError: unknown;
}

export interface StepRow {
  readonly executionId: number;
  readonly stepId: string;
  readonly status: string;
  readonly attempt: number;
  readonly startTime: string;
  readonly endTime: string | null;
}

export interface WorkItem {
  readonly token: string;
  readonly attempt: number;
  readonly workflowId: string;
  readonly parameters: { readonly name: string; readonly n: number };
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}
