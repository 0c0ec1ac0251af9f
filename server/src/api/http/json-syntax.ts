/** Finds the first JSON syntax error for the error message, because the platform doesn't always report its position. */
import { printParseErrorCode, visit, type ParseErrorCode } from 'jsonc-parser';

export interface SyntaxProblem {
  readonly offset: number;
  /** Follows "Invalid JSON: ". */
  readonly message: string;
}

const MESSAGES: Readonly<Record<string, string>> = {
  InvalidSymbol: 'unexpected text; names and strings need double quotes',
  InvalidNumberFormat: 'a number is malformed',
  PropertyNameExpected: 'a member name in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: "':' is missing after a member name",
  CommaExpected: "',' or a closing bracket is missing",
  CloseBraceExpected: "',' or '}' is missing",
  CloseBracketExpected: "',' or ']' is missing",
  EndOfFileExpected: 'there is more text after the value',
  InvalidCommentToken: 'comments are not allowed',
  UnexpectedEndOfComment: 'comments are not allowed',
  UnexpectedEndOfString: 'a string has no closing quote on its line',
  UnexpectedEndOfNumber: 'a number is incomplete',
  InvalidUnicode: 'a string has a malformed \\u escape sequence',
  InvalidEscapeCharacter: 'a string has an unknown escape sequence',
  InvalidCharacter: 'a string contains a control character; escape it',
};

/**
 * The first problem, or null if the text is valid JSON. Recurses into nested values, so their depth must be checked before.
 */
export function findSyntaxProblem(text: string): SyntaxProblem | null {
  let problem: SyntaxProblem | null = null;
  const onError = (code: ParseErrorCode, offset: number) => {
    const message = MESSAGES[printParseErrorCode(code)] ?? 'it cannot be parsed';
    const isAtEnd = offset === text.length;
    problem = { offset, message: isAtEnd ? `it ends too early, ${message}` : message };
    throw new FoundProblem();
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch (error) {
    if (!(error instanceof FoundProblem)) throw error;
  }
  return problem;
}

/** Stops the visit: nothing after the first problem matters. */
class FoundProblem extends Error {}
