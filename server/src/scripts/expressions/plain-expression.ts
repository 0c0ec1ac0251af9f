/**
 * The part of Python that the server evaluates itself, in about a microsecond, where a message to an interpreter costs
 * a hundred: constants, paths, and what can be said with them whose meaning is beyond doubt.
 *
 *     expression  = disjunction [ "if" disjunction "else" expression ]
 *     disjunction = conjunction { "or" conjunction }
 *     conjunction = inversion { "and" inversion }
 *     inversion   = "not" inversion | comparison
 *     comparison  = sum { ("==" | "!=" | "<" | "<=" | ">" | ">=") sum
 *                       | "is" [ "not" ] ("None" | "True" | "False")
 *                       | [ "not" ] "in" sum }
 *     sum         = product { ("+" | "-") product }
 *     product     = factor { ("*" | "/" | "//" | "%") factor }
 *     factor      = "-" factor | primary
 *     primary     = number | text | "None" | "True" | "False" | path
 *                 | "len" "(" expression ")" | "(" expression ")" | list
 *     path        = ("data" | "context" | "environment" | "step") { "." name | "[" (text | index | path) "]" }
 *     list        = "[" expression { "," expression } "]" | "(" expression "," expression { "," expression } ")"
 *
 * A list has a meaning only behind `in`. Numbers are decimal without exponent, texts have one kind of quote and no backslash. The rules bind as in CPython's
 * own grammar; Lezer's, which classify-expression.ts uses, takes `not a and b` for `not (a and b)`.
 *
 *  X1 What is answered here is what Python would have answered, down to the text of its JSON.
 *  X2 Wherever that is in doubt, for a text or for the values that it meets (a field that is missing, kinds that do not
 *     go together, a sum beyond 2^53), Python evaluates the whole expression and words the error.
 *  X3 Nothing here calls what a user wrote, and the work is bounded by the length of text and values.
 */
import type { Json } from '../../engine/values/json.js';

export type PlainExpression =
  | { readonly kind: 'constant'; readonly value: Json }
  | PlainPath
  | { readonly kind: 'negative' | 'not' | 'length'; readonly operand: PlainExpression }
  | {
      readonly kind: 'arithmetic';
      readonly operator: ArithmeticOperator;
      readonly left: PlainExpression;
      readonly right: PlainExpression;
    }
  /** `a < b < c`: each link compares with what stands before it, until one is false. */
  | {
      readonly kind: 'comparison';
      readonly first: PlainExpression;
      readonly links: readonly ComparisonLink[];
    }
  | { readonly kind: 'list'; readonly items: readonly PlainExpression[] }
  | {
      readonly kind: 'and' | 'or';
      readonly left: PlainExpression;
      readonly right: PlainExpression;
    }
  | {
      readonly kind: 'conditional';
      readonly condition: PlainExpression;
      readonly then: PlainExpression;
      readonly otherwise: PlainExpression;
    };

export interface PlainPath {
  readonly kind: 'path';
  readonly variable: PathVariable;
  readonly keys: readonly PathKey[];
}

export type PathVariable = 'data' | 'context' | 'environment' | 'step';

export type PathKey =
  /** `.name` or `["name"]`: a field of an object. */
  | string
  /** `[0]`, `[-1]`: an element of a list. */
  | number
  /** `[data.i]`: either, by what is found there. */
  | PlainPath;

export interface ComparisonLink {
  readonly operator: ComparisonOperator;
  readonly operand: PlainExpression;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '//' | '%';

export type Ordering = '<' | '<=' | '>' | '>=';

export type ComparisonOperator = Ordering | '==' | '!=' | 'is' | 'is not' | 'in' | 'not in';
