/** Facts about an expression that its source alone reveals, provided by a reader of Python's grammar. */
import type { Json } from '../values/json.js';

/** `data.order["id"]` is `{ variable: 'data', keys: ['order', 'id'] }`. */
export interface ReadPath {
  readonly variable: string;
  readonly keys: readonly string[];
}

export interface ExpressionFacts {
  /** Names that are defined neither by the expression nor by Python nor by the server; without duplicates, in order. */
  readonly unknownNames: readonly string[];
  /** Whether the expression consists only of names, numbers and punctuation between them, such as `charge-card`. */
  readonly looksLikeText: boolean;
  /** The parts of the variables that are read. */
  readonly reads: readonly ReadPath[];
  /** Calls that change a part of a variable in place, as written: `data.list.append`. */
  readonly changes: readonly string[];
  /** True if the same variables can give another value next time, because of the clock or random numbers. */
  readonly varies: boolean;
  /** The value, if it is a constant. */
  readonly constant?: Json;
}

/** Null if the source is not Python, or too long to be examined. */
export type ExamineExpression = (source: string) => ExpressionFacts | null;
