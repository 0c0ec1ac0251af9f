/**
 * The syntax that a pure expression may consist of: names of nodes as the parser gives them, tokens, and the spelling of
 * literals. Whatever is not listed makes an expression impure (C1, C4 in classify-expression.ts).
 */
export const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Printable ASCII, line ends, and letters of other scripts, which are checked to be inside of texts. */
export const KNOWN_CHARACTERS = /^[\n\x20-\x7e\u00a0-\uffff]*$/;
/** One line, one kind of quote, no prefix. */
export const SIMPLE_STRING = /^(?:"(?!"")[^"\n]*"|'(?!'')[^'\n]*'|""|'')$/;
export const ESCAPED_STRING =
  /^(?:"(?!"")(?:[^"\\\n]|\\[^\n])*"|'(?!'')(?:[^'\\\n]|\\[^\n])*'|""|'')$/;
export const SIMPLE_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
export const FORMAT_STRING = /^[fF](?:"(?!")[^"\\\n]*"|'(?!')[^'\\\n]*')$/;
export const FORMAT_SPEC = /^:[\w .,:<>=^+%/-]*$/;
export const COMPARISONS = new Set(['==', '!=', '<', '<=', '>', '>=']);

export const GROUPS = new Set([
  'ParenthesizedExpression',
  'TupleExpression',
  'ArrayExpression',
  'SetExpression',
  'DictionaryExpression',
  'ConditionalExpression',
  'UnaryExpression',
  'BinaryExpression',
]);
export const COMPREHENSIONS = new Set([
  'ArrayComprehensionExpression',
  'SetComprehensionExpression',
  'DictionaryComprehensionExpression',
]);
export const OPERATORS = new Set(['ArithOp', 'BitOp', 'CompareOp']);
export const TOKENS = new Set([
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '*',
  '**',
  'and',
  'or',
  'not',
  'in',
  'is',
  'if',
  'else',
]);
