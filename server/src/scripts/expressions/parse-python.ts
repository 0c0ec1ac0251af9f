/** The server's parser of Python. */
import { parser } from '@lezer/python';

/**
 * Stops at the first error. Otherwise, the parser would continue and guess the intended meaning, which takes a second
 * for a few kilobytes of carefully crafted nonsense.
 */
const strictParser = parser.configure({ strict: true });

export type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** @returns null if this grammar rejects the source; CPython may still accept it */
export function parsePython(text: string): SyntaxNode | null {
  try {
    return strictParser.parse(text).topNode;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** A few microseconds each. */
const STEPS_AT_ONCE = 256;

/**
 * Parses a long source in parts: yields null after each part, then the whole tree. Ends early if the source is not
 * Python.
 */
export function* readPython(text: string): Generator<SyntaxNode | null> {
  const parse = strictParser.startParse(text);
  try {
    for (let steps = 1; ; steps += 1) {
      const tree = parse.advance();
      if (tree !== null) {
        yield tree.topNode;
        return;
      }
      if (steps % STEPS_AT_ONCE === 0) yield null;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
}
