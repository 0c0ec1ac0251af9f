/**
 * The syntax that a pure expression may consist of: the parser's names of nodes, tokens, and the spelling of literals.
 * Anything not listed makes an expression impure (C1, C4 in classify-expression.ts).
 */
export const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]*$/;
/** Printable ASCII, line ends, and other characters, which a later check allows in string literals only. */
export const KNOWN_CHARACTERS = /^[\n\x20-\x7e\u00a0-\uffff]*$/;
/** On one line, with one kind of quote, without a prefix. */
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
