/** Messages between the main thread and a thread that validates. Schemas and data are JSON texts. */
import type { DocumentProblem } from '../../engine/model/definition.js';

/** Maximum times for the data of one start. */
export interface TimeLimits {
  /** Compiling the schema, which happens once. */
  readonly compilationMs: number;
  readonly validationMs: number;
}

export type ValidationRequest =
  | { readonly kind: 'check'; readonly schema: string; readonly limitMs: number }
  | {
      readonly kind: 'validate';
      readonly schema: string;
      readonly data: string;
      readonly limits: TimeLimits;
    };

export type ValidationAnswer =
  | {
      readonly kind: 'done';
      readonly problems: readonly DocumentProblem[];
      /** The data with defaults; null if none were filled in. */
      readonly data: string | null;
    }
  | { readonly kind: 'out-of-time'; readonly during: 'compilation' | 'validation' }
  /** The schema cannot be used for this data: it refers to itself without end, or its defaults do. */
  | { readonly kind: 'failed'; readonly reason: string };
