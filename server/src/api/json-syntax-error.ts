/** Finds where a text stops being JSON, for the message. Slow and thorough: it runs only for bodies that are refused. */

export interface SyntaxProblem {
  readonly offset: number;
  readonly message: string;
}

const SPACE = /[ \t\n\r]*/y;
// Strings come as runs between escapes: an alternative per character would need a backtracking step for each.
const LITERAL =
  /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;

type Expectation = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | 'separator' | 'end';

/** Null: the text is JSON. */
export function findSyntaxError(text: string): SyntaxProblem | null {
  const open: ('{' | '[')[] = [];
  let expected: Expectation = 'value';
  let offset = 0;
  for (;;) {
    offset = matchEnd(SPACE, text, offset);
    const next = text[offset];
    if (next === undefined) {
      return expected === 'end'
        ? null
        : { offset, message: `it ends too early, ${wanted(expected, open)}` };
    }
    const token = tokenAt(text, offset);
    const following: Expectation | null = token === null ? null : advance(expected, token, open);
    if (following === null || token === null) return problemAt(text, offset, { expected, open });
    expected = following;
    offset += token.length;
  }
}

function matchEnd(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : offset;
}

function tokenAt(text: string, offset: number): string | null {
  const first = text.charAt(offset);
  if ('{}[],:'.includes(first)) return first;
  const end = matchEnd(LITERAL, text, offset);
  return end === offset ? null : text.slice(offset, end);
}

/** What may come after the token; null when the token itself may not be here. Keeps the list of open containers. */
function advance(expected: Expectation, token: string, open: ('{' | '[')[]): Expectation | null {
  const inside = open.at(-1);
  switch (expected) {
    case 'value':
    case 'value or ]':
      if (token === '{' || token === '[') {
        open.push(token);
        return token === '{' ? 'name or }' : 'value or ]';
      }
      if (token === ']' && expected === 'value or ]') return close(open);
      return '}],:'.includes(token) ? null : afterValue(open);
    case 'name':
    case 'name or }':
      if (token === '}' && expected === 'name or }') return close(open);
      return token.startsWith('"') ? ':' : null;
    case ':':
      return token === ':' ? 'value' : null;
    case 'separator':
      if (token === ',') return inside === '{' ? 'name' : 'value';
      return token === (inside === '{' ? '}' : ']') ? close(open) : null;
    case 'end':
      return null;
  }
}

function close(open: ('{' | '[')[]): Expectation {
  open.pop();
  return afterValue(open);
}

function afterValue(open: readonly string[]): Expectation {
  return open.length === 0 ? 'end' : 'separator';
}

function wanted(expected: Expectation, open: readonly string[]): string {
  switch (expected) {
    case 'value':
      return 'a value is missing';
    case 'value or ]':
      return "a value or ']' is missing";
    case 'name':
      return 'a member name in double quotes is missing';
    case 'name or }':
      return "a member name in double quotes or '}' is missing";
    case ':':
      return "':' is missing";
    case 'separator':
      return `',' or '${open.at(-1) === '{' ? '}' : ']'}' is missing`;
    case 'end':
      return 'nothing more is expected';
  }
}

interface Place {
  readonly expected: Expectation;
  readonly open: readonly string[];
}

function problemAt(text: string, offset: number, { expected, open }: Place): SyntaxProblem {
  const isStringPlace = expected !== ':' && expected !== 'separator' && expected !== 'end';
  if (text[offset] === '"' && isStringPlace) return brokenString(text, offset);
  const found = JSON.stringify(text.charAt(offset));
  return { offset, message: `unexpected ${found}, ${wanted(expected, open)}` };
}

/** The part of a string that is well formed; what follows it is the problem. */
const STRING_START =
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*/y;

function brokenString(text: string, start: number): SyntaxProblem {
  const offset = matchEnd(STRING_START, text, start);
  switch (text[offset]) {
    case undefined:
      return { offset, message: 'a string has no closing quote' };
    case '\\':
      return { offset, message: 'a string has an unknown escape sequence' };
    default:
      return { offset, message: 'a string holds a line break or control character; escape it' };
  }
}
