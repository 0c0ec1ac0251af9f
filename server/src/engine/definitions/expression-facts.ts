/** What can be said of an expression from its text alone, by whoever knows Python's grammar. */
import type { Json } from '../values/json.js';

/** `data.order["id"]` is `{ variable: 'data', keys: ['order', 'id'] }`. */
export interface ReadPath {
  readonly variable: string;
  readonly keys: readonly string[];
}

export interface ExpressionFacts {
  /** Names that neither the expression nor Python nor the server gives a meaning, each once, in order. */
  readonly unknownNames: readonly string[];
  /** Whether the whole is nothing but names, numbers and signs between them, such as `charge-card`. */
  readonly looksLikeText: boolean;
  /** What is read of the variables. */
  readonly reads: readonly ReadPath[];
  /** Calls that change a part of a variable in place, as they are written: `data.list.append`. */
  readonly changes: readonly string[];
  /** Whether the same variables may give another value the next time: the clock, random numbers. */
  readonly varies: boolean;
  /** Its value, where that depends on nothing. */
  readonly constant?: Json;
}

/** Null: it is not Python, or too long to be looked at. */
export type ExamineExpression = (source: string) => ExpressionFacts | null;
