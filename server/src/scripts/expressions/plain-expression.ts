/**
 * The subset of Python that the server evaluates itself, in about a microsecond, whereas a message to an interpreter
 * takes a hundred. It consists of constants, paths, and operations whose meaning is beyond doubt.
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
 *     path        = ("data" | "context" | "environment" | "step" | "hook" | "secrets") { "." name | "[" (text | index | path) "]" }
 *     list        = "[" expression { "," expression } "]" | "(" expression "," expression { "," expression } ")"
 *
 * A list is allowed only after `in`. Numbers are decimal and have no exponent; a text is a string literal with one kind
 * of quote and no backslash. Operators bind as in CPython's own grammar; Lezer's, which classify-expression.ts uses,
 * parses `not a and b` as `not (a and b)`.
 *
 *  X1 Every result equals that of Python, down to its JSON text.
 *  X2 If that is in doubt, for a source or for its values (a missing field, types that do not match, a sum beyond 2^53),
 *     Python evaluates the whole expression and words the error.
 *  X3 Nothing here calls code of users, and the work is bounded by the length of the source and the values.
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
  /** `a < b < c`: each link compares with the previous operand, until one is false. */
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

export type PathVariable = 'data' | 'context' | 'environment' | 'step' | 'hook' | 'secrets';

export type PathKey =
  /** `.name` or `["name"]`: a field of an object. */
  | string
  /** `[0]`, `[-1]`: an element of a list. */
  | number
  /** `[data.i]`: a field or an element, depending on the value. */
  | PlainPath;

export interface ComparisonLink {
  readonly operator: ComparisonOperator;
  readonly operand: PlainExpression;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '//' | '%';

export type Ordering = '<' | '<=' | '>' | '>=';

export type ComparisonOperator = Ordering | '==' | '!=' | 'is' | 'is not' | 'in' | 'not in';
